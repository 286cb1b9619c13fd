/* The small server: what it answers, and what it does not let clients do. */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "listen/listen_http.h"
#include "tests/support/httpget.h"
#include "tests/support/keep.h"
#include "tests/support/test.h"

static struct listen_http *http;
static atomic_int n_ticks;
static atomic_bool is_final; /* the next tick sends the last event */

static void on_get(void *arg, struct listen_conn *conn,
                   const struct listen_request *r)
{
    (void)arg;
    if (strcmp(r->path, "/events") == 0)
        listen_stream(conn, NULL);
    else
        listen_reply(conn, &(struct listen_answer){.status = 200,
                                                   .body = r->path,
                                                   .len = strlen(r->path)});
}

static void on_tick(void *arg)
{
    size_t len = (size_t)1 << 20;
    struct buf event;

    (void)arg;
    atomic_fetch_add(&n_ticks, 1);
    if (listen_n_streams(http) == 0)
        return;
    buf_init(&event, 2 * len);
    memset(buf_reserve(&event, len), 'x', len);
    buf_commit(&event, len);
    listen_broadcast(http, &event, atomic_load(&is_final));
    buf_fini(&event);
}

static const char *start(void)
{
    const struct listen_hooks hooks = {on_get, on_tick, NULL};
    struct listen_address at;
    struct err err = {0};

    atomic_store(&is_final, false);
    assert_int_equal(listen_address_parse("127.0.0.1:0", &at, &err), 0);
    assert_int_equal(listen_http_new(&http, &at, &hooks, &err), 0);
    assert_int_equal(listen_http_start(http, &err), 0);
    return listen_http_url(http);
}

static void stop(void)
{
    listen_http_free(http, 200 * NS_PER_MS);
}

TEST(addresses)
{
    static const struct {
        const char *text;
        const char *host; /* NULL: refused */
        const char *port;
        bool is_loopback;
    } cases[] = {
        {"127.0.0.1:9100", "127.0.0.1", "9100", true},
        {"0", "127.0.0.1", "0", true},
        {"9100", "127.0.0.1", "9100", true},
        {"localhost:80", "localhost", "80", true},
        {"[::1]:80", "::1", "80", true},
        {"127.1.2.3:80", "127.1.2.3", "80", true},
        {"127.example.org:80", "127.example.org", "80", false},
        {"0.0.0.0:80", "0.0.0.0", "80", false},
        {":80", "", "80", false},
        {"[::]:80", "::", "80", false},
        {"10.0.0.1:80", "10.0.0.1", "80", false},
        {"127.0.0.1", NULL, NULL, false},
        {"127.0.0.1:", NULL, NULL, false},
        {"127.0.0.1:65536", NULL, NULL, false},
        {"127.0.0.1:-1", NULL, NULL, false},
        {"127.0.0.1:8o", NULL, NULL, false},
        {"::1:80", NULL, NULL, false},
        {"", NULL, NULL, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct listen_address at;
        struct err err = {0};
        int rc = listen_address_parse(cases[i].text, &at, &err);

        if (rc != (cases[i].host ? 0 : -1))
            fail_msg("%s: %d %s", cases[i].text, rc, err.msg);
        if (rc)
            continue;
        assert_string_equal(at.host, cases[i].host);
        assert_string_equal(at.port, cases[i].port);
        assert_int_equal(at.is_loopback, cases[i].is_loopback);
    }
}

TEST(what_is_answered)
{
    static const struct {
        const char *method;
        const char *path;
        int status;
        const char *body;
    } cases[] = {
        {"GET", "/a", 200, "/a"},    {"GET", "/a?b=c", 200, "/a"},
        {"HEAD", "/a", 200, ""},     {"POST", "/a", 405, NULL},
        {"DELETE", "/a", 405, NULL},
    };
    const char *url = start();

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct http_reply r =
            HTTP_ASK(url, .method = cases[i].method, .path = cases[i].path);

        assert_int_equal(r.status, cases[i].status);
        assert_false(r.keeps_alive);
        if (cases[i].body)
            assert_string_equal(buf_text(&r.body), cases[i].body);
        http_reply_fini(&r);
    }
    stop();
}

/* Not HTTP, or a head that does not end: an error and the end. */
TEST(bad_requests)
{
    const char *url = start();
    size_t len = 3 * LISTEN_MAX_HEAD;
    char *long_head = keep(xcalloc(len + 1, 1));
    char bytes[64] = "";
    int fd = http_connect(url);
    ssize_t n;

    assert_int_equal(send(fd, "\x16\x03\x01\r\n\r\n", 7, MSG_NOSIGNAL), 7);
    n = recv(fd, bytes, sizeof(bytes) - 1, 0);
    assert_true(n > 0);
    assert_int_equal(strncmp(bytes, "HTTP/1.1 400 ", 13), 0);
    close(fd);
    memset(long_head, 'x', len);
    fd = http_connect(url);
    send(fd, "GET / HTTP/1.1\r\nA: ", 19, MSG_NOSIGNAL);
    send(fd, long_head, len, MSG_NOSIGNAL);
    n = recv(fd, bytes, 13, 0);
    if (n > 0) /* else it was reset before the answer was read */
        assert_memory_equal(bytes, "HTTP/1.1 431 ", 13);
    close(fd);
    stop();
}

/* Clients that say nothing are put off for those who ask; streams stay. */
TEST(connections_are_bounded)
{
    const char *url = start();
    int fds[2 * LISTEN_MAX_CONNS];
    size_t closed = 0;
    int stream = http_connect(url);
    struct http_reply r;
    char byte;

    http_send(stream, &(const struct http_request){.path = "/events"});
    assert_int_equal(recv(stream, &byte, 1, 0), 1); /* its head comes */
    for (size_t i = 0; i < COUNT(fds); i++)
        fds[i] = http_connect(url);
    r = HTTP_ASK(url, .path = "/still");
    assert_string_equal(buf_text(&r.body), "/still");
    http_reply_fini(&r);
    for (size_t i = 0; i < COUNT(fds); i++) {
        closed += recv(fds[i], &byte, 1, MSG_DONTWAIT) == 0;
        close(fds[i]);
    }
    assert_in_range(closed, COUNT(fds) - LISTEN_MAX_CONNS, COUNT(fds));
    assert_true(recv(stream, &byte, 1, MSG_DONTWAIT) == 1);
    close(stream);
    stop();
}

TEST(streams_are_bounded)
{
    const char *url = start();
    int fds[LISTEN_MAX_STREAMS + 1];

    for (size_t i = 0; i < COUNT(fds); i++) {
        char head[13];

        fds[i] = http_connect(url);
        http_send(fds[i], &(const struct http_request){.path = "/events"});
        assert_int_equal(recv(fds[i], head, 13, MSG_WAITALL), 13);
        assert_memory_equal(
            head, i < LISTEN_MAX_STREAMS ? "HTTP/1.1 200 " : "HTTP/1.1 503 ",
            13);
    }
    for (size_t i = 0; i < COUNT(fds); i++)
        close(fds[i]);
    stop();
}

/* A stream that is not read holds one event, and the end does not wait longer
 * than it may. */
TEST(a_stuck_stream_delays_nothing)
{
    const char *url = start();
    int64_t begun_ns;
    int small = 4096;
    int fd = http_connect(url);

    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    http_send(fd, &(const struct http_request){.path = "/events"});
    for (int i = 0; i < 20; i++) {
        int before = atomic_load(&n_ticks);
        struct http_reply r;

        listen_http_wake(http);
        while (atomic_load(&n_ticks) == before) { /* others are served */
            r = HTTP_ASK(url, .path = "/ok");
            assert_int_equal(r.status, 200);
            http_reply_fini(&r);
        }
    }
    atomic_store(&is_final, true);
    begun_ns = clk_now(&clk_monotonic);
    stop();
    assert_in_range(clk_now(&clk_monotonic) - begun_ns, 0, 2 * NS_PER_S);
    close(fd);
}

/* One that reads gets all of the last event, although the server ends. */
TEST(the_last_event_arrives)
{
    const char *url = start();
    int fd = http_connect(url);
    char *bytes = keep(xcalloc(65536, 1));
    size_t got = 0;
    ssize_t n;

    http_send(fd, &(const struct http_request){.path = "/events"});
    assert_int_equal(recv(fd, bytes, 1, MSG_PEEK), 1);
    atomic_store(&is_final, true);
    listen_http_wake(http);
    while (got < (size_t)1 << 20 && (n = recv(fd, bytes, 65536, 0)) > 0)
        got += (size_t)n;
    assert_true(got >= (size_t)1 << 20);
    stop();
    close(fd);
}

/* Without a descriptor for it a connection waits, and the thread sleeps. */
TEST(no_descriptor_is_no_busy_loop)
{
    const char *url = start();
    int last = dup(STDERR_FILENO);
    struct pollfd answered = {.events = POLLIN};
    struct rlimit before;
    struct rlimit limit;
    struct http_reply r;
    int64_t begun_ns;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before;
    limit.rlim_cur = (rlim_t)last + 1;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    close(last); /* for the client, and none for the server */
    answered.fd = http_connect(url);
    http_send(answered.fd, &(const struct http_request){.path = "/ok"});
    begun_ns = clk_process_cpu_ns(getpid());
    assert_int_equal(poll(&answered, 1, 300), 0);
    assert_in_range(clk_process_cpu_ns(getpid()) - begun_ns, 0,
                    150 * NS_PER_MS);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    r = http_read(answered.fd);
    assert_int_equal(r.status, 200);
    http_reply_fini(&r);
    close(answered.fd);
    stop();
}
