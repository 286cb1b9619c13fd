/* Messages and frames on a standard error that takes nothing more. */
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "common/base/log.h"
#include "tests/support/test.h"

#define FRAME       "[a frame of some length, as they are drawn]"
#define MAX_FRAMES  20000
#define PATIENCE_MS 20000

enum kind { A_PIPE, A_TERMINAL, A_SOCKET };

/* Somebody's end of what is our standard error meanwhile. */
struct reader {
    int fd;
    int saved; /* standard error as it was */
};

static struct reader reader_start(enum kind kind)
{
    struct reader r = {.saved = dup(STDERR_FILENO)};
    int fds[2];

    if (kind == A_PIPE) {
        assert_int_equal(pipe(fds), 0);
    } else if (kind == A_SOCKET) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    } else {
        struct termios raw;

        assert_int_equal(openpty(&fds[0], &fds[1], NULL, NULL, NULL), 0);
        assert_int_equal(tcgetattr(fds[1], &raw), 0);
        raw.c_oflag &= ~(tcflag_t)OPOST;
        raw.c_lflag &= ~(tcflag_t)ECHO;
        assert_int_equal(tcsetattr(fds[1], TCSANOW, &raw), 0);
    }
    r.fd = fds[0];
    assert_int_equal(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
    close(fds[1]);
    return r;
}

/* Read on until there are as many bytes.  A terminal hands them on in its own
 * time. */
static void reader_take(const struct reader *r, char *text, size_t want)
{
    struct pollfd ready = {.fd = r->fd, .events = POLLIN};
    size_t len = 0;

    while (len < want && poll(&ready, 1, PATIENCE_MS) > 0) {
        ssize_t n = read(r->fd, text + len, want - len);

        if (n <= 0)
            break;
        len += (size_t)n;
        log_flush(); /* what waits has room now */
    }
    text[len] = '\0';
}

/* Nothing waits any more, and nothing else was written. */
static void reader_expect_end(const struct reader *r)
{
    char text[16];

    log_bytes("END", 3);
    reader_take(r, text, 3);
    assert_string_equal(text, "END");
}

static void reader_end(const struct reader *r)
{
    assert_int_equal(dup2(r->saved, STDERR_FILENO), STDERR_FILENO);
    close(r->saved);
    close(r->fd);
}

/* Frames until one is dropped. */
static size_t fill(void)
{
    size_t n = 0;

    while (n < MAX_FRAMES && log_frame(FRAME, strlen(FRAME)))
        n++;
    return n;
}

/* Nothing reads.  It comes back from here at all, frames are dropped as a
 * whole, and a message comes behind those that were not. */
TEST(a_reader_that_does_not_read)
{
    static const enum kind kinds[] = {A_PIPE, A_TERMINAL, A_SOCKET};
    static char text[1 << 20];
    const char end[] = "tailgate: an error\n";

    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct reader r = reader_start(kinds[i]);
        size_t n = fill();
        int flags = fcntl(STDERR_FILENO, F_GETFL);
        size_t len = n * strlen(FRAME) + strlen(end);

        log_error("an error");
        if (n < MAX_FRAMES)
            reader_take(&r, text, len);
        reader_expect_end(&r);
        reader_end(&r);
        assert_false(flags & O_NONBLOCK); /* others have it, too */
        assert_in_range(n, 1, MAX_FRAMES - 1);
        assert_int_equal(strlen(text), len);
        assert_string_equal(text + len - strlen(end), end);
        for (size_t k = 0; k < n; k++)
            assert_memory_equal(text + k * strlen(FRAME), FRAME, strlen(FRAME));
    }
}

/* Ctrl-S: there is room, and yet nothing may be written. */
TEST(a_terminal_that_is_stopped)
{
    struct reader r = reader_start(A_TERMINAL);
    char text[256];
    bool stopped;
    bool resumed;

    assert_int_equal(tcflow(STDERR_FILENO, TCOOFF), 0);
    stopped = log_frame(FRAME, strlen(FRAME));
    log_note("a note");
    assert_int_equal(tcflow(STDERR_FILENO, TCOON), 0);
    resumed = log_frame(FRAME, strlen(FRAME));
    reader_take(&r, text, strlen("a note\n" FRAME));
    reader_expect_end(&r);
    reader_end(&r);
    assert_false(stopped);
    assert_true(resumed);
    assert_string_equal(text, "a note\n" FRAME);
}

/* What waits is bounded, and messages beyond that are dropped.  A pipe takes a
 * frame or a message as a whole. */
TEST(what_waits_is_bounded)
{
    static char text[1 << 20];
    const size_t one = strlen("tailgate: an error\n");
    struct reader r = reader_start(A_PIPE);
    size_t len = fill() * strlen(FRAME) + (size_t)2 * LOG_MAX_BYTES / one * one;
    char want[128];

    for (size_t i = 0; i < 10000; i++)
        log_error("an error");
    reader_take(&r, text, len);
    assert_int_equal(strlen(text), len);
    snprintf(want, sizeof(want),
             "tailgate: %zu messages were dropped: stderr was not read\n",
             10000 - (size_t)2 * LOG_MAX_BYTES / one);
    log_bytes("END", 3);
    reader_take(&r, text, strlen(want) + 3);
    reader_end(&r);
    assert_memory_equal(text, want, strlen(want));
    assert_string_equal(text + strlen(want), "END");
}

/* The reader has gone: there is nothing to wait for. */
TEST(a_reader_that_has_gone)
{
    static const enum kind kinds[] = {A_PIPE, A_TERMINAL};

    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct reader r = reader_start(kinds[i]);
        char text[64];

        fill();
        log_error("an error");
        close(r.fd);
        log_flush();
        r.fd = dup(STDIN_FILENO);
        reader_end(&r);

        r = reader_start(A_PIPE); /* nothing is left for the next */
        log_error("another");
        reader_take(&r, text, strlen("tailgate: another\n"));
        reader_expect_end(&r);
        reader_end(&r);
        assert_string_equal(text, "tailgate: another\n");
    }
}

static int prepare(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN); /* as tailgate has it */
    return 0;
}

GROUP_FIXTURE(prepare, NULL)
