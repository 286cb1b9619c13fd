/* The connections of the HTTP transport: several endpoints, the cap, opening
 * ahead, what is too slow or too long, and what the kernel tells of them. */
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/wire/http_message.h"
#include "loadgen/schedule/source.h"
#include "tests/support/httprig.h"
#include "tests/support/test.h"

static int64_t connections(const struct httprig *rig)
{
    return transport_http1.connections(rig->self);
}

/* ---- several endpoints ---- */

/* Over a connection that is there, to the i-th server. */
static void serve_on(struct httprig *rig, size_t i, int fd)
{
    struct request r = httprig_request(rig);

    httprig_start(rig, &r);
    httprig_read_request(rig, i, fd);
    httprig_answer(fd, HTTPRIG_ANSWER);
    httprig_step_until_ended(rig, rig->ended + 1);
    assert_int_equal(r.facts.outcome, OUTCOME_OK);
    assert_int_equal(r.facts.is_fresh, 0);
    assert_int_equal(r.facts.target, i);
}

TEST(endpoints_take_turns)
{
    struct httprig *rig = httprig_new(&(struct httprig_setup){.n_servers = 2});
    int fds[2];

    for (size_t i = 0; i < 2; i++)
        fds[i] = httprig_serve_one(rig, i);
    for (size_t i = 0; i < 6; i++)
        serve_on(rig, i % 2, fds[i % 2]);
    assert_int_equal(connections(rig), 2);
    close(fds[0]);
    close(fds[1]);
    httprig_free(rig);
}

static void assert_closed_by_peer(int fd)
{
    char byte;

    assert_int_equal(recv(fd, &byte, 1, 0), 0);
    close(fd);
}

/* Two connections are allowed and there, idle, one to each endpoint.  Two
 * requests for the first endpoint need both. */
TEST(at_the_cap_an_idle_connection_gives_way)
{
    struct httprig *rig = httprig_new(
        &(struct httprig_setup){.n_servers = 2, .max_connections = 2});
    struct request r[2];
    int fds[3];

    for (size_t i = 0; i < 2; i++)
        fds[i] = httprig_serve_one(rig, i);
    for (int i = 0; i < 2; i++) {
        assert_true(transport_http1.has_room(rig->self));
        r[i] = httprig_request(rig);
        r[i].facts.seq = 2L * i;
        httprig_start(rig, &r[i]);
    }
    assert_false(transport_http1.has_room(rig->self));
    assert_int_equal(connections(rig), 2);
    fds[2] = httprig_accept(rig, 0, &r[1]);
    assert_closed_by_peer(fds[1]);
    httprig_answer(fds[0], HTTPRIG_ANSWER);
    httprig_answer(fds[2], HTTPRIG_ANSWER);
    httprig_step_until_ended(rig, 4);
    assert_int_equal(r[0].facts.is_fresh, 0);
    assert_int_equal(r[1].facts.is_fresh, 1);
    assert_int_equal(connections(rig), 2);
    close(fds[0]);
    close(fds[2]);
    httprig_free(rig);
}

/* ---- a server that does not accept ---- */

static void step_often(const struct httprig *rig)
{
    for (int i = 0; i < 100; i++)
        httprig_step(rig);
}

/* Each has its own time, from when its connection was begun. */
TEST(who_is_not_connected_in_time_fails)
{
    struct httprig *rig = httprig_new(&(struct httprig_setup){.body_len = 1});
    struct request r[2];
    int filler;

    httprig_fill_server(rig, 0, &filler);
    rig->settings.connect_timeout_ns = 2000;
    for (int64_t i = 0; i < 2; i++) {
        rig->clk.at_ns = 1000 * (i + 1);
        r[i] = httprig_request(rig);
        httprig_start(rig, &r[i]);
    }
    for (int i = 0; i < 2; i++) {
        int64_t end_ns = 3000 + 1000L * i;

        rig->clk.at_ns = end_ns - 1;
        step_often(rig);
        assert_int_equal(rig->ended, i);
        rig->clk.at_ns++;
        httprig_step_until_ended(rig, i + 1);
        assert_int_equal(connections(rig), 1 - i);
        assert_int_equal(r[i].facts.outcome, OUTCOME_CONNECT);
        assert_int_equal(r[i].facts.detail, CONNECT_TIMED_OUT);
        assert_int_equal(r[i].facts.end, end_ns);
        assert_int_equal(r[i].facts.sent, TIME_ABSENT);
        assert_string_equal(rig->why,
                            "not connected within the connect timeout");
    }
    close(filler);
    httprig_free(rig);
}

/* Who is connected is no longer on that clock. */
TEST(a_connection_made_in_time_is_not_late)
{
    struct httprig *rig = httprig_new(&(struct httprig_setup){.body_len = 1});
    struct request r = httprig_request(rig);
    int fd;

    rig->settings.connect_timeout_ns = 2000;
    httprig_start(rig, &r);
    fd = httprig_accept(rig, 0, &r);
    rig->clk.at_ns = NS_PER_S;
    step_often(rig);
    httprig_answer(fd, HTTPRIG_ANSWER);
    httprig_step_until_ended(rig, 1);
    assert_int_equal(r.facts.outcome, OUTCOME_OK);
    close(fd);
    httprig_free(rig);
}

/* Its deadline passed meanwhile: it is forgotten, and its connection. */
TEST(a_request_may_be_cancelled_before_it_is_connected)
{
    struct httprig *rig = httprig_new(&(struct httprig_setup){.body_len = 1});
    struct request r = httprig_request(rig);
    int filler;

    httprig_fill_server(rig, 0, &filler);
    rig->settings.connect_timeout_ns = 2000;
    httprig_start(rig, &r);
    transport_http1.cancel(rig->self, &r);
    assert_int_equal(connections(rig), 0);
    rig->clk.at_ns = NS_PER_S;
    step_often(rig);
    assert_int_equal(rig->ended, 0);
    close(filler);
    httprig_free(rig);
}

TEST(without_keepalive_each_has_its_own)
{
    struct httprig *rig = httprig_new(&(struct httprig_setup){.body_len = 1});

    rig->settings.no_keepalive = true; /* whatever the server says */
    for (int i = 0; i < 3; i++) {
        int fd = httprig_serve_one(rig, 0);

        assert_int_equal(connections(rig), 0);
        close(fd);
    }
    httprig_free(rig);
}

/* ---- opened ahead ---- */

/* Five over two endpoints, for the requests that this lane will send: with two
 * lanes all of them go to the same endpoint. */
TEST(connections_opened_ahead_are_used)
{
    static const struct lane lanes[] = {{.worker = 0, .workers = 1},
                                        {.worker = 0, .workers = 2},
                                        {.worker = 1, .workers = 2},
                                        {.worker = 2, .workers = 3}};

    for (size_t k = 0; k < COUNT(lanes); k++) {
        struct httprig *rig =
            httprig_new(&(struct httprig_setup){.n_servers = 2});
        struct request r[5];
        struct err err = {0};

        rig->env.lane = lanes[k];
        assert_int_equal(transport_http1.preconnect(rig->self, 5, &err), 0);
        assert_int_equal(connections(rig), 5);
        for (int i = 0; i < 5; i++) {
            r[i] = httprig_request(rig);
            r[i].facts.seq = lanes[k].worker + i * lanes[k].workers;
            httprig_start(rig, &r[i]);
            assert_int_equal(r[i].facts.sent, 1000); /* at once */
            assert_int_equal(r[i].facts.is_fresh, 0);
        }
        assert_int_equal(connections(rig), 5);
        for (int i = 0; i < 5; i++)
            transport_http1.cancel(rig->self, &r[i]);
        assert_int_equal(connections(rig), 0);
        httprig_free(rig);
    }
}

/* It was idle from the start, so it may be stale like any other. */
TEST(one_opened_ahead_may_be_stale)
{
    struct httprig *rig = httprig_new(&(struct httprig_setup){.body_len = 1});
    struct request r = httprig_request(rig);
    struct err err = {0};
    int fd;

    assert_int_equal(transport_http1.preconnect(rig->self, 1, &err), 0);
    close(accept(rig->listeners[0], NULL, NULL));
    httprig_start(rig, &r);
    for (int i = 0; i < HTTPRIG_MAX_SPIN && !r.facts.is_fresh; i++)
        httprig_step(rig);
    fd = accept(rig->listeners[0], NULL, NULL);
    httprig_answer(fd, HTTPRIG_ANSWER);
    httprig_step_until_ended(rig, 1);
    assert_int_equal(r.facts.outcome, OUTCOME_OK);
    assert_int_equal(r.facts.retries, 1);
    assert_int_equal(r.facts.is_fresh, 1);
    close(fd);
    httprig_free(rig);
}

TEST(who_cannot_be_opened_ahead_is_an_error)
{
    static const struct {
        size_t n_servers;
        int64_t asked;
        const char *want;
    } cases[] = {
        {1, 3,
         "client.preconnect: only 0 of 3 connections could be opened: "
         "Connection refused"},
        {2, 4,
         "client.preconnect: only 2 of 4 connections could be opened: "
         "Connection refused"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct httprig *rig = httprig_new(
            &(struct httprig_setup){.n_servers = cases[i].n_servers});
        struct err err = {0};

        httprig_stop_server(rig, cases[i].n_servers - 1);
        assert_int_equal(
            transport_http1.preconnect(rig->self, cases[i].asked, &err), -1);
        assert_int_equal(err.code, ERR_IO);
        assert_string_equal(err.msg, cases[i].want);
        httprig_free(rig);
    }
}

/* ---- long responses ---- */

#define OK_WITH(header) "HTTP/1.1 200 OK\r\n" header "\r\n\r\n"
#define X50             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define OPEN_HEAD       OK_WITH("Connection: close") /* 38 bytes */

/* 100 bytes are allowed. */
TEST(a_response_that_is_too_long_is_malformed)
{
    static const struct {
        const char *method;
        const char *bytes;
        enum outcome want;
    } cases[] = {
        {"GET", OK_WITH("Content-Length: 101"), OUTCOME_MALFORMED},
        {"GET", OK_WITH("Content-Length: 50") X50, OUTCOME_OK},
        {"GET", OK_WITH("Content-Length: 61") X50 "xxxxxxxxxxx", OUTCOME_OK},
        /* Its length was not announced. */
        {"GET", OPEN_HEAD X50 "xxxxxxxxxxxxx", OUTCOME_MALFORMED},
        {"GET", OK_WITH("Transfer-Encoding: chunked") "40\r\n" X50,
         OUTCOME_MALFORMED},
        /* What is said of a body that does not come is no harm. */
        {"HEAD", OK_WITH("Content-Length: 101"), OUTCOME_OK},
        {"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 101\r\n\r\n",
         OUTCOME_OK},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct httprig *rig = httprig_new(&(struct httprig_setup){
            .max_response = 100, .method = cases[i].method});
        struct request r = httprig_request(rig);
        int fd;

        httprig_start(rig, &r);
        fd = httprig_accept(rig, 0, &r);
        httprig_answer(fd, cases[i].bytes);
        httprig_step_until_ended(rig, 1);
        assert_int_equal(r.facts.outcome, cases[i].want);
        if (cases[i].want == OUTCOME_MALFORMED) {
            assert_int_equal(r.facts.detail, HTTP1_LONG_BODY);
            assert_string_equal(rig->why, http1_error_text(HTTP1_LONG_BODY));
            assert_int_equal(connections(rig), 0);
        }
        close(fd);
        httprig_free(rig);
    }
}

/* ---- what the kernel tells ---- */

/* Whether it stamps what it receives, it decides; after a while, if at all. */
TEST(how_long_an_answer_lay_in_the_kernel)
{
    struct httprig *rig = httprig_new(&(struct httprig_setup){.body_len = 1});
    int64_t buffered = TIME_ABSENT;
    int fd = httprig_serve_one(rig, 0);

    for (int i = 0; i < 1000 && buffered == TIME_ABSENT; i++) {
        struct request r = httprig_request(rig);

        httprig_start(rig, &r);
        httprig_read_request(rig, 0, fd);
        httprig_answer(fd, HTTPRIG_ANSWER);
        httprig_step_until_ended(rig, rig->ended + 1);
        buffered = r.facts.buffered;
    }
    close(fd);
    httprig_free(rig);
    if (buffered == TIME_ABSENT) {
        print_message("this kernel does not stamp what it receives\n");
        skip();
    }
    assert_in_range(buffered, 0, 60 * NS_PER_S);
}

/* Of connections that are open, and of those that were. */
TEST(the_path_is_of_all_connections)
{
    struct httprig *rig = httprig_new(&(struct httprig_setup){.n_servers = 2});
    struct socket_path open;
    struct socket_path closed;
    int fds[2];

    assert_int_equal(transport_http1.path(rig->self).segments, 0);
    fds[0] = httprig_serve_one(rig, 0);
    open = transport_http1.path(rig->self);
    assert_true(open.segments >= 3); /* SYN, ACK, request */
    assert_in_range(open.rtt_floor_ns, 1, 60 * NS_PER_S);
    assert_int_equal(open.retransmits, 0);
    close(fds[0]);
    for (int i = 0; i < HTTPRIG_MAX_SPIN && connections(rig) > 0; i++)
        httprig_step(rig);
    assert_int_equal(connections(rig), 0);
    closed = transport_http1.path(rig->self);
    assert_true(closed.segments >= open.segments);
    fds[1] = httprig_serve_one(rig, 1);
    assert_true(transport_http1.path(rig->self).segments >=
                closed.segments + 3);
    close(fds[1]);
    httprig_free(rig);
}
