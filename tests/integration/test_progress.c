/* Progress as a terminal gets it: redrawn in place, never too wide, gone at the
 * end; as lines where there is no terminal; not at all with -q. */
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/xalloc.h"
#include "tests/support/proc.h"
#include "tests/support/screen.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MAX_OUTPUT ((size_t)1 << 20)
#define ROWS       24

static int slave = -1; /* what the next process has as standard error */

static void use_terminal(void)
{
    dup2(slave, STDERR_FILENO);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
}

static void use_dumb_terminal(void)
{
    use_terminal();
    setenv("TERM", "dumb", 1);
}

static void use_terminal_without_colour(void)
{
    use_terminal();
    setenv("NO_COLOR", "1", 1);
}

/* A run on a terminal of its own. */
struct session {
    struct proc proc;
    int master;
    struct screen *screen;
    struct buf seen; /* everything that came */
};

static struct session session_start(const char *const *argv, int columns,
                                    void (*prepare)(void))
{
    struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = ROWS};
    struct session s;

    assert_int_equal(openpty(&s.master, &slave, NULL, NULL, &size), 0);
    s.proc = proc_start_with(argv, prepare);
    close(slave);
    s.screen = xcalloc(1, sizeof(*s.screen));
    s.screen->columns = columns;
    s.screen->rows = ROWS;
    buf_init(&s.seen, MAX_OUTPUT);
    return s;
}

/* Whole frames at a time: where one ends there is one block, or none. */
static void show(struct session *s, const char *bytes, size_t len)
{
    screen_put(s->screen, bytes, len);
    assert_false(s->screen->has_wrapped);
    assert_true(screen_count(s->screen, "rate ") <= 1);
    assert_true(screen_count(s->screen, "time ") <= 1);
}

/* False at the end, which a terminal says with an error. */
static bool session_read(struct session *s)
{
    char bytes[4096];
    ssize_t n = read(s->master, bytes, sizeof(bytes));
    const char *end;
    size_t shown = 0;

    if (n <= 0)
        return false;
    assert_int_equal(buf_add(&s->seen, bytes, (size_t)n), 0);
    while ((end = strstr(s->seen.data + shown, "\x1b[?25h"))) {
        size_t len = (size_t)(end - s->seen.data) + strlen("\x1b[?25h") - shown;

        show(s, s->seen.data + shown, len);
        shown += len;
    }
    buf_consume(&s->seen, shown);
    return true;
}

/* Until its end; the screen then shows what is left of it. */
static struct proc_result session_end(struct session *s)
{
    while (session_read(s))
        continue;
    screen_put(s->screen, buf_text(&s->seen), s->seen.len);
    close(s->master);
    return proc_wait(&s->proc);
}

static void session_free(struct session *s)
{
    buf_fini(&s->seen);
    free(s->screen);
}

TEST(a_block_is_redrawn_and_erased)
{
    static const struct {
        int columns;
        void (*prepare)(void);
        bool has_colour;
        const char *flag;
    } cases[] = {
        {80, use_terminal, true, "--force"},
        {40, use_terminal, false, "--no-color"},
        {200, use_terminal_without_colour, false, "--force"},
    };
    const char *dir = tmpdir_path("block");

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct session s = session_start(
            ARGS("run", "null://", "--rate", "200", "--duration", "800ms",
                 "--slo", "e2e p50 < 1s", "--force", cases[i].flag, "-o", dir),
            cases[i].columns, cases[i].prepare);
        struct proc_result r = session_end(&s);
        struct proc_result again;

        run_expect(&r, dir, 0);
        again = proc_run(ARGS("report", dir));
        assert_string_equal(r.out, again.out);
        /* One a quarter of a second, if the machine lets it, and one to erase
         * them. */
        assert_int_not_equal(s.screen->frames, 1);
        assert_false(s.screen->is_cursor_hidden);
        assert_int_equal(s.screen->has_colour,
                         cases[i].has_colour && s.screen->frames > 0);
        assert_int_equal(screen_used(s.screen), 0);
        assert_non_null(strstr(r.out, "\nrecording  "));
        session_free(&s);
    }
}

/* By hand, or from elsewhere; the block is there when it comes. */
TEST(an_interruption_leaves_no_trace)
{
    static const int signals[] = {SIGINT, SIGTERM};

    for (size_t i = 0; i < 2; i++) {
        struct session s = session_start(
            ARGS("run", "-v", "null://", "--rate", "200", "--duration", "60s",
                 "--force", "-o", tmpdir_path("cut")),
            80, use_terminal);
        struct proc_result r;

        while (s.screen->frames < 3 && session_read(&s))
            continue;
        assert_int_equal(screen_count(s.screen, "time "), 1);
        assert_int_equal(screen_count(s.screen, "errors   none"), 1);
        assert_int_equal(screen_used(s.screen), 8);
        assert_int_equal(kill(s.proc.pid, signals[i]), 0);
        r = session_end(&s);
        assert_int_equal(r.status, 128 + signals[i]);
        assert_non_null(strstr(r.out, "interrupted by signal"));
        assert_false(s.screen->is_cursor_hidden);
        assert_int_equal(screen_used(s.screen), 1);
        session_free(&s);
    }
}

/* Each fact that the block has, in a line; no sequence a file would not like.
 */
static void assert_is_line(const char *text)
{
    static const char *const parts[] = {
        "s of 3600s: asked ", "/s, sent ",       " in flight; ", "; e2e p50 ",
        "; good 100% of ",    "; errors none; ", "lag p50 "};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!strstr(text, parts[i]))
            fail_msg("no '%s' in: %s", parts[i], text);
    }
    assert_null(strchr(text, '\x1b'));
}

/* It comes every two seconds, however late; then the run has done enough. */
static void end_after_a_line(struct session *s)
{
    struct proc_result r;

    while (!strstr(buf_text(&s->seen), "lag p50 ") && session_read(s))
        continue;
    assert_int_equal(kill(s->proc.pid, SIGINT), 0);
    while (session_read(s))
        continue;
    assert_is_line(buf_text(&s->seen));
    close(s->master);
    r = proc_wait(&s->proc);
    proc_expect(&r, 128 + SIGINT);
    session_free(s);
}

TEST(lines_where_nothing_can_be_redrawn)
{
    const char *dir = tmpdir_path("lines");
    const char *const *argv =
        ARGS("run", "null://", "--rate", "200", "--duration", "1h", "--slo",
             "e2e p50 < 1s", "--force", "-o", dir);
    struct session s = {.master = -1, .proc = proc_start(argv)};

    s.screen = xcalloc(1, sizeof(*s.screen));
    buf_init(&s.seen, MAX_OUTPUT);
    s.master = s.proc.err_fd;
    s.proc.err_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    end_after_a_line(&s);
    s = session_start(argv, 80, use_dumb_terminal);
    end_after_a_line(&s);
}

TEST(quiet_is_silent)
{
    struct session s = session_start(ARGS("run", "-v", "null://", "--rate",
                                          "200", "--duration", "300ms", "-q",
                                          "-o", tmpdir_path("quiet")),
                                     80, use_terminal);
    struct proc_result r = session_end(&s);

    assert_int_equal(s.seen.len, 0);
    assert_int_equal(s.screen->frames, 0);
    assert_non_null(strstr(r.out, "verdict"));
    session_free(&s);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
