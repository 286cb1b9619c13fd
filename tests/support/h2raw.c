#include "tests/support/h2raw.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/loopback.h"

#define PREFACE_LEN 24
#define HEAD_LEN    9
#define MAX_PAYLOAD 16384
#define HELD_MS     50

static bool receive(int fd, void *data, size_t len)
{
    return len == 0 || recv(fd, data, len, MSG_WAITALL) == (ssize_t)len;
}

static bool put_frame(int fd, const struct h2raw_frame *f, const uint8_t *id)
{
    uint8_t head[HEAD_LEN] = {(uint8_t)(f->len >> 16), (uint8_t)(f->len >> 8),
                              (uint8_t)f->len, f->type, f->flags};

    if (f->is_of_stream)
        memcpy(head + 5, id, 4);
    return send(fd, head, sizeof(head), MSG_NOSIGNAL) ==
               (ssize_t)sizeof(head) &&
           (f->len == 0 ||
            send(fd, f->payload, f->len, MSG_NOSIGNAL) == (ssize_t)f->len);
}

/* Reads one frame.  Returns false if the connection is closed. */
static bool take_frame(int fd, uint8_t head[static HEAD_LEN],
                       uint8_t payload[static MAX_PAYLOAD])
{
    size_t len;

    if (!receive(fd, head, HEAD_LEN))
        return false;
    len = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
    return len <= MAX_PAYLOAD && receive(fd, payload, len);
}

/* Until a request has ended; its number in `id`. */
static bool take_request(int fd, uint8_t id[static 4])
{
    uint8_t payload[MAX_PAYLOAD];
    uint8_t head[HEAD_LEN];

    do {
        if (!take_frame(fd, head, payload))
            return false;
    } while ((head[3] != H2RAW_DATA && head[3] != H2RAW_HEADERS) ||
             !(head[4] & H2RAW_END_STREAM));
    memcpy(id, head + 5, 4);
    return true;
}

static bool put_frames(int fd, const struct h2raw_frame *frames,
                       const uint8_t *id)
{
    for (const struct h2raw_frame *f = frames; f->payload; f++) {
        if (!put_frame(fd, f, id))
            return false;
    }
    return true;
}

static bool greet(int fd, const struct h2raw_frame *hello)
{
    uint8_t preface[PREFACE_LEN];

    return put_frames(fd, hello, NULL) && receive(fd, preface, sizeof(preface));
}

static const struct h2raw_frame no_settings[] = {
    {.type = H2RAW_SETTINGS, .payload = ""}, {0}};

/* ---- the same frames for each request ---- */

struct answer {
    const struct h2raw_frame *hello;
    const struct h2raw_frame *frames;
    enum raw_ending ending;
};

/* The client's frames are read to their end: else it would see a reset. */
static void end(int fd, enum raw_ending ending)
{
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    char bytes[4096];

    if (ending == RAW_RESET) {
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        return;
    }
    shutdown(fd, SHUT_WR);
    while (recv(fd, bytes, sizeof(bytes), 0) > 0)
        continue;
}

static void serve_answers(int fd, const void *arg)
{
    const struct answer *a = arg;
    uint8_t id[4];

    if (!greet(fd, a->hello))
        return;
    while (take_request(fd, id)) {
        if (!put_frames(fd, a->frames, id))
            return;
        if (a->ending != RAW_HOLD) {
            end(fd, a->ending);
            return;
        }
    }
}

/* ---- one that does not read ---- */

struct flood {
    const struct h2raw_frame *hello;
    const struct h2raw_frame *frames;
};

static void serve_deaf(int fd, const void *arg)
{
    const struct flood *f = arg;
    uint8_t payload[MAX_PAYLOAD];
    uint8_t head[HEAD_LEN] = {0};

    if (!greet(fd, f->hello))
        return;
    while (head[3] != H2RAW_HEADERS) {
        if (!take_frame(fd, head, payload))
            return;
    }
    while (f->frames->payload && put_frames(fd, f->frames, NULL))
        continue;
    for (;;)
        pause();
}

/* ---- messages without an end ---- */

struct endless {
    size_t len;
    atomic_bool *is_held;
};

/* What flow control allows now. */
struct windows {
    int64_t all;
    int64_t stream;
};

static uint32_t number_of(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

static bool open_windows(int fd, struct windows *w, atomic_bool *is_held)
{
    struct pollfd client = {.fd = fd, .events = POLLIN};
    uint8_t payload[MAX_PAYLOAD];
    uint8_t head[HEAD_LEN];

    if (poll(&client, 1, HELD_MS) == 0)
        atomic_store(is_held, true);
    if (!take_frame(fd, head, payload))
        return false;
    atomic_store(is_held, false);
    if (head[3] == H2RAW_WINDOW && number_of(head + 5) == 0)
        w->all += number_of(payload);
    else if (head[3] == H2RAW_WINDOW)
        w->stream += number_of(payload);
    return true;
}

/* The initial window of the client's SETTINGS is ignored: it is never below the
 * default. */
static void serve_endless(int fd, const void *arg)
{
    static const struct h2raw_frame begins[] = {{H2RAW_HEADERS,
                                                 H2RAW_END_HEADERS, true,
                                                 "\x88\x5f\x10"
                                                 "application/grpc",
                                                 19},
                                                {0}};
    const struct endless *e = arg;
    char message[MAX_PAYLOAD] = {0, 0, 0, (char)(e->len >> 8), (char)e->len};
    struct h2raw_frame f = {H2RAW_DATA, 0, true, message, e->len + 5};
    struct windows w = {.all = 65535, .stream = 65535};
    uint8_t id[4];

    if (!greet(fd, no_settings) || !take_request(fd, id) ||
        !put_frames(fd, begins, id))
        return;
    for (;;) {
        while (w.all < (int64_t)f.len || w.stream < (int64_t)f.len) {
            if (!open_windows(fd, &w, e->is_held))
                return;
        }
        if (!put_frame(fd, &f, id))
            return;
        w.all -= (int64_t)f.len;
        w.stream -= (int64_t)f.len;
    }
}

/* ---- starting and stopping ---- */

typedef void serve_fn(int fd, const void *arg);

/* A process per connection. */
static _Noreturn void serve(int listener, serve_fn *serve_one, const void *arg)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    int one = 1;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigaction(SIGCHLD, &ignore, NULL);
    for (;;) {
        int fd = accept(listener, NULL, NULL);

        if (fd < 0)
            _exit(1);
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
            serve_one(fd, arg);
            _exit(0);
        }
        close(fd);
    }
}

static struct h2raw start(const char *scheme, serve_fn *serve_one,
                          const void *arg)
{
    struct sockaddr_in address = {0};
    int listener = loopback_listen(&address, 128);
    struct h2raw s = {0};

    snprintf(s.url, sizeof(s.url), "%s://127.0.0.1:%d", scheme,
             ntohs(address.sin_port));
    s.pid = fork();
    assert_true(s.pid >= 0);
    if (s.pid == 0)
        serve(listener, serve_one, arg);
    close(listener);
    return s;
}

struct h2raw h2raw_start(const struct h2raw_frame *frames, bool closes)
{
    const struct answer a = {no_settings, frames,
                             closes ? RAW_CLOSE : RAW_HOLD};

    return start("grpc", serve_answers, &a);
}

struct h2raw h2raw_start_http(const struct h2raw_frame *hello,
                              const struct h2raw_frame *frames,
                              enum raw_ending ending)
{
    const struct answer a = {hello ? hello : no_settings, frames, ending};

    return start("http", serve_answers, &a);
}

struct h2raw h2raw_start_deaf(const struct h2raw_frame *hello,
                              const struct h2raw_frame *flood)
{
    const struct flood f = {hello, flood};

    return start("grpc", serve_deaf, &f);
}

struct h2raw h2raw_start_endless(size_t len)
{
    struct endless e = {.len = len};
    struct h2raw s;

    assert_true(len + 5 <= MAX_PAYLOAD);
    e.is_held = mmap(NULL, sizeof(*e.is_held), PROT_READ | PROT_WRITE,
                     /* cppcheck-suppress invalidFunctionArg */
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(e.is_held != MAP_FAILED);
    s = start("grpc", serve_endless, &e);
    s.is_held = e.is_held;
    return s;
}

void h2raw_stop(struct h2raw *s)
{
    assert_int_equal(kill(s->pid, SIGKILL), 0);
    assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
    if (s->is_held)
        munmap(s->is_held, sizeof(*s->is_held));
}
