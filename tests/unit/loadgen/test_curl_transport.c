/* The libcurl transport against a server made of bare sockets, in one thread
 * and with a clock that stands: the same bytes and the same facts as natively.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/xalloc.h"
#include "tests/support/httprig.h"
#include "tests/support/test.h"

static struct httprig *rig_new(size_t body_len)
{
    return httprig_new(&(struct httprig_setup){.body_len = body_len,
                                               .transport = &transport_curl});
}

static void close_with_reset(int fd)
{
    struct linger reset = {.l_onoff = 1};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(fd);
}

/* ---- what goes out ---- */

static const struct httprig_setup setups[] = {
    {.body_len = 10},
    {.body_len = 10, .has_id = true},
    {.body_len = 10, .header = {"x-tailgate-id", "a"}},
    {.body_len = 10, .header = {"x-tailgate-id", "a"}, .has_id = true},
    {.body_len = 10, .header = {"x-tailgate-id-too", "a"}, .has_id = true},
    {.body_len = 10, .header = {"X-Empty", ""}},
    {.body_len = 10, .header = {"Accept", "text/plain"}},
    {.body_len = 10, .header = {"Content-Type", "text/plain"}},
    {.has_no_body = true},
    {.has_no_body = true, .method = "GET"},
    {.has_no_body = true, .method = "GET", .path = "/a/./../b?c"},
};

TEST(the_same_bytes_as_natively)
{
    for (size_t i = 0; i < COUNT(setups); i++) {
        struct httprig_setup setup = setups[i];
        struct httprig *rig;

        setup.transport = &transport_curl;
        rig = httprig_new(&setup);
        close(httprig_serve_one(rig, 0)); /* which compares them */
        httprig_free(rig);
    }
}

TEST(every_byte_counts_once)
{
    static const size_t lengths[] = {0, 10, 500};

    for (size_t i = 0; i < COUNT(lengths); i++) {
        struct httprig *rig = rig_new(lengths[i]);
        struct request r = httprig_request(rig);
        int fd;

        httprig_start(rig, &r);
        fd = httprig_accept(rig, 0, &r);
        httprig_read_request(rig, 0, fd);
        httprig_answer(fd, HTTPRIG_ANSWER);
        httprig_step_until_ended(rig, 1);
        assert_int_equal(r.facts.bytes_out, rig->targets.items[0].request.len);
        assert_int_equal(r.facts.bytes_in, strlen(HTTPRIG_ANSWER));
        close(fd);
        httprig_free(rig);
    }
}

/* A body that libcurl sends apart from the head. */
TEST(a_large_body_counts_once)
{
    struct httprig *rig = rig_new((size_t)200 << 10);
    size_t len = rig->targets.items[0].request.len;
    struct request r = httprig_request(rig);
    char *bytes = xcalloc(1, len);
    size_t got = 0;
    int fd;

    httprig_start(rig, &r);
    fd = httprig_accept(rig, 0, &r);
    for (int i = 0; i < HTTPRIG_MAX_SPIN && got < len; i++) {
        ssize_t n = recv(fd, bytes + got, len - got, MSG_DONTWAIT);

        got += n > 0 ? (size_t)n : 0;
        httprig_step(rig);
    }
    assert_int_equal(got, len);
    httprig_answer(fd, HTTPRIG_ANSWER);
    httprig_step_until_ended(rig, 1);
    assert_int_equal(r.facts.bytes_out, len);
    close(fd);
    free(bytes);
    httprig_free(rig);
}

/* ---- what comes back ---- */

/* The end of a body may come long after the rest of it. */
TEST(the_last_byte_is_that_of_the_framing)
{
    static const char chunked[] = "HTTP/1.1 200 OK\r\n"
                                  "Transfer-Encoding: chunked\r\n\r\n"
                                  "2\r\nhi\r\n";
    struct httprig *rig = rig_new(10);
    struct request r = httprig_request(rig);
    int fd;

    httprig_start(rig, &r);
    fd = httprig_accept(rig, 0, &r);
    httprig_answer(fd, chunked);
    for (int i = 0; i < HTTPRIG_MAX_SPIN && r.facts.head == TIME_ABSENT; i++)
        httprig_step(rig);
    rig->clk.at_ns = 5000;
    httprig_answer(fd, "0\r\n\r\n");
    httprig_step_until_ended(rig, 1);
    assert_int_equal(r.facts.outcome, OUTCOME_OK);
    assert_int_equal(r.facts.head, 1000);
    assert_int_equal(r.facts.first, 5000);
    assert_int_equal(r.facts.last, 5000);
    assert_int_equal(r.facts.end, 5000);
    close(fd);
    httprig_free(rig);
}

/* ---- connections that break ---- */

/* Closed by the server, or with bytes that no request asked for, such as the
 * goodbye of TLS: libcurl alone would take the latter for alive. */
TEST(an_idle_connection_that_has_something_to_say_is_not_used)
{
    static const char *const bytes[] = {"", "bye"};

    for (size_t i = 0; i < COUNT(bytes); i++) {
        struct httprig *rig = rig_new(10);
        int fd = httprig_serve_one(rig, 0);
        struct request r = httprig_request(rig);

        httprig_answer(fd, bytes[i]);
        close(fd);
        httprig_step(rig);
        httprig_start(rig, &r);
        fd = httprig_accept(rig, 0, &r);
        httprig_read_request(rig, 0, fd);
        httprig_answer(fd, HTTPRIG_ANSWER);
        httprig_step_until_ended(rig, 2);
        assert_int_equal(r.facts.outcome, OUTCOME_OK);
        assert_int_equal(r.facts.retries, 0);
        assert_int_equal(r.facts.is_fresh, 1);
        close(fd);
        httprig_free(rig);
    }
}

static void close_in_order(int fd)
{
    close(fd);
}

/* It had the request, and hung up at once, in order or not: as fast as this is
 * what a server that crashes on a request does. */
TEST(who_breaks_off_at_once_has_failed)
{
    static void (*const ends[])(int fd) = {close_in_order, close_with_reset};
    static const char *const why[] = {"closed before any response",
                                      "Connection reset by peer"};

    for (size_t i = 0; i < COUNT(ends); i++) {
        struct httprig *rig = rig_new(10);
        int fd = httprig_serve_one(rig, 0);
        struct request r = httprig_request(rig);

        httprig_start(rig, &r);
        httprig_read_request(rig, 0, fd);
        ends[i](fd);
        httprig_step_until_ended(rig, 2);
        assert_int_equal(r.facts.outcome, OUTCOME_RESET);
        assert_int_equal(r.facts.retries, 0);
        assert_string_equal(rig->why, why[i]);
        httprig_free(rig);
    }
}

/* The server had it for a second. */
static struct request break_late(struct httprig *rig, void (*end)(int fd))
{
    int fd = httprig_serve_one(rig, 0);
    struct request r = httprig_request(rig);
    int ended = rig->ended;

    httprig_start(rig, &r);
    httprig_read_request(rig, 0, fd);
    rig->clk.at_ns += NS_PER_S;
    end(fd);
    httprig_step_until_ended(rig, ended + 1);
    assert_int_equal(r.facts.outcome, OUTCOME_RESET);
    assert_int_equal(r.facts.retries, 0);
    assert_int_equal(r.facts.is_fresh, 0);
    assert_int_equal(r.facts.connected, TIME_ABSENT);
    return r;
}

TEST(who_breaks_off_later_has_failed)
{
    struct httprig *rig = rig_new(10);
    struct request r = break_late(rig, close_with_reset);

    assert_int_equal(r.facts.detail, ECONNRESET);
    assert_string_equal(rig->why, "Connection reset by peer");
    httprig_free(rig);
}

/* A failure leaves nothing behind for the next request. */
TEST(every_failure_is_its_own)
{
    struct httprig *rig = rig_new(10);
    struct request r = httprig_request(rig);

    httprig_start(rig, &r);
    close_with_reset(httprig_accept(rig, 0, &r));
    httprig_step_until_ended(rig, 1);
    assert_int_equal(r.facts.outcome, OUTCOME_RESET);
    assert_int_equal(r.facts.detail, ECONNRESET);
    r = break_late(rig, close_in_order);
    assert_int_equal(r.facts.detail, 0);
    assert_string_equal(rig->why, "closed before any response");
    httprig_free(rig);
}

/* Not the request's, but another connection for it could not be had. */
TEST(no_connection_to_send_it_again)
{
    struct httprig *rig = rig_new(10);
    int fd = httprig_serve_one(rig, 0);
    struct request r = httprig_request(rig);

    httprig_stop_server(rig, 0);
    httprig_start(rig, &r);
    close(fd);
    httprig_step_until_ended(rig, 2);
    assert_int_equal(r.facts.outcome, OUTCOME_CONNECT);
    assert_int_equal(r.facts.detail, CONNECT_REFUSED);
    assert_string_equal(rig->why, "Connection refused");
    httprig_free(rig);
}

/* ---- the client has nothing left ---- */

static void set_files(rlim_t n)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = n;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* The same detail and text on both transports; the next request is not
 * affected. */
TEST(no_descriptor_is_left)
{
    static const struct transport_ops *const transports[] = {&transport_http1,
                                                             &transport_curl};
    struct rlimit before;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (size_t i = 0; i < COUNT(transports); i++) {
        struct httprig *rig =
            httprig_new(&(struct httprig_setup){.transport = transports[i]});
        struct request r = httprig_request(rig);
        int unused = dup(0);

        close(unused);
        set_files((rlim_t)unused);
        httprig_start(rig, &r);
        httprig_step_until_ended(rig, 1);
        set_files(before.rlim_cur);
        assert_int_equal(r.facts.outcome, OUTCOME_CONNECT);
        assert_int_equal(r.facts.detail, CONNECT_FILES);
        assert_string_equal(rig->why, "no open file left: raise the limit "
                                      "(ulimit -n) or cap the connections "
                                      "(-c)");
        close(httprig_serve_one(rig, 0));
        httprig_free(rig);
    }
}
