/* The HTTP transport against a server made of bare sockets, in one thread and
 * with a clock that stands: which facts it writes down, and when. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/xalloc.h"
#include "tests/support/httprig.h"
#include "tests/support/test.h"

#define REFUSAL "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"
#define LARGE   ((size_t)8 << 20)

static struct httprig *rig_new(size_t body_len)
{
    return httprig_new(&(struct httprig_setup){.body_len = body_len});
}

/* ---- facts ---- */

TEST(fresh_is_who_got_its_connection)
{
    struct httprig *rig = rig_new(10);
    struct request r = httprig_request(rig);
    int fd;

    httprig_start(rig, &r);
    assert_int_equal(r.facts.is_fresh, 0); /* it only tries yet */
    fd = httprig_accept(rig, 0, &r);
    assert_int_equal(r.facts.is_fresh, 1);
    assert_int_equal(r.facts.sent, 1000);
    httprig_answer(fd, HTTPRIG_ANSWER);
    httprig_step_until_ended(rig, 1);
    r = httprig_request(rig);
    httprig_start(rig, &r); /* over the same connection */
    httprig_answer(fd, HTTPRIG_ANSWER);
    httprig_step_until_ended(rig, 2);
    assert_int_equal(r.facts.is_fresh, 0);
    close(fd);
    httprig_free(rig);
}

TEST(a_refused_connection_was_not_opened)
{
    struct httprig *rig = rig_new(10);
    struct request r = httprig_request(rig);

    httprig_stop_server(rig, 0);
    httprig_start(rig, &r);
    httprig_step_until_ended(rig, 1);
    assert_int_equal(r.facts.outcome, OUTCOME_CONNECT);
    assert_int_equal(r.facts.is_fresh, 0);
    assert_int_equal(r.facts.sent, TIME_ABSENT);
    assert_int_equal(r.facts.bytes_out, 0);
    httprig_free(rig);
}

/* The server closed the idle connection: the bytes of both attempts count. */
TEST(a_stale_connection_is_replaced_once)
{
    struct httprig *rig = rig_new(10);
    int64_t len = (int64_t)rig->targets.items[0].request.len;
    int fd = httprig_serve_one(rig, 0);
    struct request r = httprig_request(rig);

    close(fd); /* not noticed yet */
    httprig_start(rig, &r);
    assert_int_equal(r.facts.sent, 1000);
    assert_int_equal(r.facts.bytes_out, len);
    rig->clk.at_ns = 2000;
    for (int i = 0; i < HTTPRIG_MAX_SPIN && r.facts.bytes_out < 2 * len; i++)
        httprig_step(rig);
    fd = accept(rig->listeners[0], NULL, NULL);
    httprig_answer(fd, HTTPRIG_ANSWER);
    httprig_step_until_ended(rig, 2);
    assert_int_equal(r.facts.outcome, OUTCOME_OK);
    assert_int_equal(r.facts.retries, 1);
    assert_int_equal(r.facts.is_fresh, 1);
    assert_int_equal(r.facts.sent, 1000); /* the first attempt's */
    assert_int_equal(r.facts.bytes_out, 2 * len);
    close(fd);
    httprig_free(rig);
}

/* It had the request for longer than a round trip, and then hung up: that is no
 * stale connection, and the request is not sent again. */
TEST(who_breaks_off_later_has_failed)
{
    struct httprig *rig = rig_new(10);
    int fd = httprig_serve_one(rig, 0);
    struct request r = httprig_request(rig);

    httprig_start(rig, &r);
    httprig_read_request(rig, 0, fd);
    rig->clk.at_ns += NS_PER_S;
    close(fd);
    httprig_step_until_ended(rig, 2);
    assert_int_equal(r.facts.outcome, OUTCOME_RESET);
    assert_int_equal(r.facts.retries, 0);
    assert_string_equal(rig->why, "closed before any response");
    httprig_free(rig);
}

/* It had the request, and hung up at once, in order or not: as fast as this is
 * what a server that crashes on a request does. */
TEST(who_breaks_off_at_once_has_failed)
{
    struct linger reset = {.l_onoff = 1};

    for (int with_reset = 0; with_reset < 2; with_reset++) {
        struct httprig *rig = rig_new(10);
        int fd = httprig_serve_one(rig, 0);
        struct request r = httprig_request(rig);

        httprig_start(rig, &r);
        httprig_read_request(rig, 0, fd);
        if (with_reset)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        close(fd);
        httprig_step_until_ended(rig, 2);
        assert_int_equal(r.facts.outcome, OUTCOME_RESET);
        assert_int_equal(r.facts.retries, 0);
        httprig_free(rig);
    }
}

/* The loop did not run for longer than any grace; the server did not have it.
 */
TEST(a_stale_connection_may_show_late)
{
    struct httprig *rig = rig_new(10);
    int fd = httprig_serve_one(rig, 0);
    struct request r = httprig_request(rig);

    close(fd);
    httprig_start(rig, &r);
    rig->clk.at_ns += NS_PER_S;
    for (int i = 0; i < HTTPRIG_MAX_SPIN && r.facts.retries == 0; i++)
        httprig_step(rig);
    assert_int_equal(r.facts.retries, 1);
    httprig_free(rig);
}

/* Reset: the kernel takes no byte of the first attempt, so it was not sent. */
TEST(what_the_kernel_did_not_take_was_not_sent)
{
    struct httprig *rig = rig_new(10);
    int64_t len = (int64_t)rig->targets.items[0].request.len;
    struct linger reset = {.l_onoff = 1};
    int fd = httprig_serve_one(rig, 0);
    struct request r = httprig_request(rig);

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(fd);
    httprig_start(rig, &r);
    assert_int_equal(r.facts.retries, 1);
    assert_int_equal(r.facts.sent, TIME_ABSENT);
    assert_int_equal(r.facts.bytes_out, 0);
    rig->clk.at_ns = 2000;
    fd = httprig_accept(rig, 0, &r);
    httprig_answer(fd, HTTPRIG_ANSWER);
    httprig_step_until_ended(rig, 2);
    assert_int_equal(r.facts.sent, 2000);
    assert_int_equal(r.facts.bytes_out, len);
    close(fd);
    httprig_free(rig);
}

TEST(a_large_request_counts_as_it_goes)
{
    struct httprig *rig = rig_new(LARGE);
    size_t len = rig->targets.items[0].request.len;
    char *sink = xcalloc(1, LARGE);
    struct request r = httprig_request(rig);
    size_t got = 0;
    int fd;

    httprig_start(rig, &r);
    fd = httprig_accept(rig, 0, &r);
    assert_in_range(r.facts.bytes_out, 1, len - 1);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    for (int i = 0; i < HTTPRIG_MAX_SPIN && got < len; i++) {
        ssize_t n = read(fd, sink, LARGE);

        if (n > 0)
            got += (size_t)n;
        rig->clk.at_ns++;
        httprig_step(rig);
    }
    assert_int_equal(got, len);
    assert_int_equal(r.facts.bytes_out, len);
    assert_int_equal(r.facts.sent, 1000);
    httprig_answer(fd, HTTPRIG_ANSWER);
    httprig_step_until_ended(rig, 1);
    assert_int_equal(r.facts.bytes_out, len);
    close(fd);
    free(sink);
    httprig_free(rig);
}

/* An answer before the request is out: nothing more of it may follow. */
TEST(an_early_answer_ends_the_connection)
{
    struct httprig *rig = rig_new(LARGE);
    struct request r = httprig_request(rig);
    int fd;

    httprig_start(rig, &r);
    fd = httprig_accept(rig, 0, &r);
    httprig_answer(fd, REFUSAL);
    httprig_step_until_ended(rig, 1);
    assert_int_equal(r.facts.outcome, OUTCOME_STATUS);
    assert_int_equal(r.facts.detail, 413);
    assert_int_equal(transport_http1.connections(rig->self), 0);
    for (int i = 0; i < 10; i++)
        httprig_step(rig);
    close(fd);
    httprig_free(rig);
}

/* The same, and a reset that the rest of the request meets before the answer is
 * read. */
TEST(an_early_answer_before_a_reset)
{
    struct linger reset = {.l_onoff = 1};
    struct httprig *rig = rig_new(LARGE);
    struct request r = httprig_request(rig);
    int fd;

    httprig_start(rig, &r);
    fd = httprig_accept(rig, 0, &r);
    httprig_answer(fd, REFUSAL);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(fd);
    httprig_step_until_ended(rig, 1);
    assert_int_equal(r.facts.outcome, OUTCOME_STATUS);
    assert_int_equal(r.facts.detail, 413);
    assert_int_equal(transport_http1.connections(rig->self), 0);
    httprig_free(rig);
}

/* What an idle connection received before its reset is not the answer. */
TEST(an_answer_to_nothing_before_a_reset)
{
    struct linger reset = {.l_onoff = 1};
    struct httprig *rig = rig_new(10);
    int fd = httprig_serve_one(rig, 0);
    struct request r = httprig_request(rig);

    httprig_answer(fd, REFUSAL);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(fd);
    httprig_start(rig, &r);
    assert_int_equal(r.facts.retries, 1);
    fd = httprig_accept(rig, 0, &r);
    httprig_answer(fd, HTTPRIG_ANSWER);
    httprig_step_until_ended(rig, 2);
    assert_int_equal(r.facts.outcome, OUTCOME_OK);
    close(fd);
    httprig_free(rig);
}

/* ---- idle connections ---- */

#define N_IDLE 3

static void make_idle(struct httprig *rig, int *fds)
{
    struct request r[N_IDLE];

    for (int i = 0; i < N_IDLE; i++) {
        r[i] = httprig_request(rig);
        httprig_start(rig, &r[i]);
        fds[i] = httprig_accept(rig, 0, &r[i]);
    }
    for (int i = 0; i < N_IDLE; i++)
        httprig_answer(fds[i], HTTPRIG_ANSWER);
    httprig_step_until_ended(rig, N_IDLE);
}

static void close_and_wait(const struct httprig *rig, int fd)
{
    close(fd);
    for (int i = 0; i < HTTPRIG_MAX_SPIN &&
                    transport_http1.connections(rig->self) == N_IDLE;
         i++)
        httprig_step(rig);
    assert_int_equal(transport_http1.connections(rig->self), N_IDLE - 1);
}

/* Two requests over two connections, none of them new. */
static void serve_two(struct httprig *rig, int a, int b)
{
    struct request r[2] = {httprig_request(rig), httprig_request(rig)};
    int ended = rig->ended;

    for (int i = 0; i < 2; i++)
        httprig_start(rig, &r[i]);
    httprig_answer(a, HTTPRIG_ANSWER);
    httprig_answer(b, HTTPRIG_ANSWER);
    httprig_step_until_ended(rig, ended + 2);
    assert_int_equal(r[0].facts.is_fresh + r[1].facts.is_fresh, 0);
    assert_int_equal(transport_http1.connections(rig->self), 2);
}

/* Three are idle, any one of them is closed: the other two serve on. */
TEST(any_idle_connection_may_go)
{
    for (int gone = 0; gone < N_IDLE; gone++) {
        struct httprig *rig = rig_new(10);
        int fds[N_IDLE];
        int a = (gone + 1) % N_IDLE;
        int b = (gone + 2) % N_IDLE;

        make_idle(rig, fds);
        close_and_wait(rig, fds[gone]);
        serve_two(rig, fds[a], fds[b]);
        close(fds[a]);
        close(fds[b]);
        httprig_free(rig);
    }
}
