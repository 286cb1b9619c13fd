/* The HTTP/2 transport against servers made of bare sockets, in one thread and
 * with a clock that stands: streams that end while others begin. */
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/httprig.h"
#include "tests/support/test.h"

#define PREFACE_LEN 24
#define HEAD_LEN    9
#define MAX_PAYLOAD 16384

enum { DATA = 0, HEADERS = 1, RST_STREAM = 3 };

/* Frames of a server, as they go out. */
#define NO_STREAMS  "\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\0"
#define NO_WINDOW   "\0\0\x06\x04\0\0\0\0\0\0\x04\0\0\0\0"
#define OPEN_5      "\0\0\x04\x08\0\0\0\0\x05\0\0\0\x0a"
#define OPEN_3      "\0\0\x04\x08\0\0\0\0\x03\0\0\0\x01"
#define OK_3        "\0\0\x01\x01\x05\0\0\0\x03\x88"
#define OK_5        "\0\0\x01\x01\x05\0\0\0\x05\x88"
#define NO_SETTINGS "\0\0\0\x04\0\0\0\0\0"
#define ONE_STREAM  "\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x01"
#define OK_1        "\0\0\x01\x01\x05\0\0\0\x01\x88"
#define NO_STATUS_1 "\0\0\x04\x01\x05\0\0\0\x01\x00\x01x\0"
#define REFUSED_1   "\0\0\x04\x03\0\0\0\0\x01\0\0\0\x07"
#define GOAWAY_ALL  "\0\0\x08\x07\0\0\0\0\0\x7f\xff\xff\xff\0\0\0\0"
#define SEND(fd, frames)                                                       \
    assert_int_equal(write(fd, frames, sizeof(frames) - 1), sizeof(frames) - 1)

static struct httprig *rig_new(size_t n_servers, int64_t max_connections,
                               size_t body_len)
{
    return httprig_new(
        &(struct httprig_setup){.body_len = body_len,
                                .n_servers = n_servers,
                                .max_connections = max_connections,
                                .transport = &transport_http2});
}

static struct request request_of(const struct httprig *rig, int64_t seq)
{
    return (struct request){.facts = facts_unknown(seq, 0),
                            .class = &rig->workload.one};
}

static void take(const struct httprig *rig, int fd, void *to, size_t len)
{
    size_t have = 0;

    for (int i = 0; i < HTTPRIG_MAX_SPIN && have < len; i++) {
        ssize_t n = recv(fd, (char *)to + have, len - have, MSG_DONTWAIT);

        have += n > 0 ? (size_t)n : 0;
        httprig_step(rig);
    }
    assert_int_equal(have, len);
}

/* The next frame that is not about the connection; its type. */
static int take_frame(const struct httprig *rig, int fd, uint32_t *stream)
{
    unsigned char head[HEAD_LEN];
    unsigned char payload[MAX_PAYLOAD];

    do {
        size_t len;

        take(rig, fd, head, sizeof(head));
        len = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        assert_true(len <= sizeof(payload));
        take(rig, fd, payload, len);
        *stream = (uint32_t)head[7] << 8 | head[8];
    } while (*stream == 0);
    return head[3];
}

/* The server's end of a new connection, whose first HEADERS have been read. */
static int serve(const struct httprig *rig, size_t i)
{
    struct pollfd listener = {.fd = rig->listeners[i], .events = POLLIN};
    char preface[PREFACE_LEN];
    uint32_t stream;
    int fd;

    for (int n = 0; n < HTTPRIG_MAX_SPIN && poll(&listener, 1, 0) == 0; n++)
        httprig_step(rig);
    fd = accept(rig->listeners[i], NULL, NULL);
    take(rig, fd, preface, sizeof(preface));
    assert_int_equal(take_frame(rig, fd, &stream), HEADERS);
    assert_int_equal(stream, 1);
    return fd;
}

static void close_with_reset(int fd)
{
    struct linger reset = {.l_onoff = 1};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(fd);
}

/* ---- what the end of one starts ---- */

static struct request follower;

static void start_follower(void *arg, struct request *r)
{
    struct httprig *rig = arg;

    (void)r;
    if (rig->ended++ > 0)
        return;
    assert_true(rig->transport->has_room(rig->self));
    httprig_start(rig, &follower);
}

/* nghttp2 reports the end of a malformed answer's stream when it makes the
 * RST_STREAM, after the acknowledgement of the SETTINGS.  The next request
 * begins at once, over another connection: each carries its own bytes. */
TEST(the_end_of_one_starts_another_elsewhere)
{
    struct httprig *rig = rig_new(2, 8, 0);
    struct request r[2] = {request_of(rig, 0), request_of(rig, 1)};
    uint32_t stream;
    int fd[2];

    rig->env.ended = start_follower;
    follower = request_of(rig, 3);
    for (size_t i = 0; i < 2; i++) {
        httprig_start(rig, &r[i]);
        fd[i] = serve(rig, i);
        SEND(fd[i], NO_SETTINGS);
        httprig_step(rig);
    }
    SEND(fd[0], NO_SETTINGS NO_STATUS_1);
    httprig_step_until_ended(rig, 1);
    assert_int_equal(r[0].facts.outcome, OUTCOME_MALFORMED);
    assert_int_equal(take_frame(rig, fd[0], &stream), RST_STREAM);
    assert_int_equal(stream, 1);
    assert_int_equal(take_frame(rig, fd[1], &stream), HEADERS);
    assert_int_equal(stream, 3);
    for (size_t i = 0; i < 2; i++)
        close(fd[i]);
    httprig_free(rig);
}

/* A connection to one target is no room for a request to another, unless it can
 * be closed: here in the middle of its own answer. */
TEST(connections_to_several_targets_have_a_maximum)
{
    struct httprig *rig = rig_new(2, 1, 0);
    struct request r = request_of(rig, 0);
    int fd[2];

    rig->env.ended = start_follower;
    follower = request_of(rig, 1);
    httprig_start(rig, &r);
    fd[0] = serve(rig, 0);
    SEND(fd[0], NO_SETTINGS OK_1);
    fd[1] = serve(rig, 1);
    assert_int_equal(r.facts.outcome, OUTCOME_OK);
    assert_int_equal(rig->transport->connections(rig->self), 1);
    assert_false(rig->transport->has_room(rig->self));
    SEND(fd[1], NO_SETTINGS OK_1);
    httprig_step_until_ended(rig, 2);
    assert_true(rig->transport->has_room(rig->self));
    for (size_t i = 0; i < 2; i++)
        close(fd[i]);
    httprig_free(rig);
}

/* ---- servers that refuse ---- */

/* A GOAWAY that excludes nothing does not excuse the refusal of a stream: the
 * request is sent once more, and then fails. */
TEST(a_server_that_drains_and_refuses)
{
    struct httprig *rig = rig_new(1, 8, 0);
    struct request r = request_of(rig, 0);
    int fd[2];

    httprig_start(rig, &r);
    for (size_t i = 0; i < 2; i++) {
        fd[i] = serve(rig, 0);
        SEND(fd[i], ONE_STREAM GOAWAY_ALL REFUSED_1);
    }
    httprig_step_until_ended(rig, 1);
    assert_int_equal(r.facts.outcome, OUTCOME_RESET);
    assert_int_equal(r.facts.retries, 1);
    for (size_t i = 0; i < 2; i++)
        close(fd[i]);
    httprig_free(rig);
}

/* Each by its own outcome, over one connection. */
TEST(a_server_that_resets_every_tenth_stream)
{
    struct httprig *rig = rig_new(1, 8, 0);
    int fd = -1;

    for (int i = 0; i < 20; i++) {
        char ok[] = OK_1;
        char reset[] = "\0\0\x04\x03\0\0\0\0\x01\0\0\0\x02";
        bool is_reset = i % 10 == 9;
        struct request r = request_of(rig, i);
        uint32_t stream;

        httprig_start(rig, &r);
        if (i == 0) {
            fd = serve(rig, 0);
            SEND(fd, NO_SETTINGS);
        } else {
            assert_int_equal(take_frame(rig, fd, &stream), HEADERS);
            assert_int_equal(stream, 2 * i + 1);
        }
        ok[8] = reset[8] = (char)(2 * i + 1);
        if (is_reset)
            SEND(fd, reset);
        else
            SEND(fd, ok);
        httprig_step_until_ended(rig, i + 1);
        assert_int_equal(r.facts.outcome,
                         is_reset ? OUTCOME_RESET : OUTCOME_OK);
        assert_int_equal(r.facts.retries, 0);
    }
    assert_int_equal(rig->transport->connections(rig->self), 1);
    close(fd);
    httprig_free(rig);
}

/* ---- servers that hold back ---- */

/* The second request waits until the limit is raised, and that is its lag. */
TEST(a_limit_of_no_streams_that_is_raised)
{
    struct httprig *rig = rig_new(1, 1, 0);
    struct request r[2] = {request_of(rig, 0), request_of(rig, 1)};
    uint32_t stream;
    char ok[] = OK_1;
    int fd;

    httprig_start(rig, &r[0]);
    fd = serve(rig, 0);
    httprig_start(rig, &r[1]); /* nothing is known of a limit yet */
    SEND(fd, NO_STREAMS OK_1);
    httprig_step_until_ended(rig, 1);
    assert_int_equal(r[1].facts.sent, TIME_ABSENT);
    assert_false(rig->transport->has_room(rig->self));
    rig->clk.at_ns = 5000;
    SEND(fd, ONE_STREAM);
    assert_int_equal(take_frame(rig, fd, &stream), HEADERS);
    assert_int_equal(stream, 3);
    assert_int_equal(r[1].facts.issued, 5000);
    assert_int_equal(r[1].facts.sent, 5000);
    ok[8] = 3;
    SEND(fd, ok);
    httprig_step_until_ended(rig, 2);
    assert_int_equal(r[1].facts.outcome, OUTCOME_OK);
    assert_int_equal(r[1].facts.retries, 0);
    close(fd);
    httprig_free(rig);
}

/* The second body never gets a window and is given up, as a timeout does; the
 * third, over the same connection, gets one. */
TEST(a_window_that_never_opens)
{
    struct httprig *rig = rig_new(1, 1, 10);
    struct request r[3] = {request_of(rig, 0), request_of(rig, 1),
                           request_of(rig, 2)};
    uint32_t stream;
    int fd;

    httprig_start(rig, &r[0]);
    fd = serve(rig, 0);
    assert_int_equal(take_frame(rig, fd, &stream), DATA);
    SEND(fd, NO_WINDOW OK_1);
    httprig_step_until_ended(rig, 1);
    httprig_start(rig, &r[1]);
    httprig_start(rig, &r[2]);
    for (uint32_t id = 3; id <= 5; id += 2) {
        assert_int_equal(take_frame(rig, fd, &stream), HEADERS);
        assert_int_equal(stream, id);
    }
    rig->transport->cancel(rig->self, &r[1]);
    assert_int_equal(take_frame(rig, fd, &stream), RST_STREAM);
    assert_int_equal(stream, 3);
    SEND(fd, OPEN_5);
    assert_int_equal(take_frame(rig, fd, &stream), DATA);
    assert_int_equal(stream, 5);
    SEND(fd, OK_5);
    httprig_step_until_ended(rig, 2);
    assert_int_equal(r[2].facts.outcome, OUTCOME_OK);
    assert_int_equal(rig->transport->connections(rig->self), 1);
    close(fd);
    httprig_free(rig);
}

/* One byte of the second body's window at a time: what the server sends is as
 * much as a flood, but it answers our frames. */
TEST(a_window_that_opens_slowly)
{
    enum { BODY = 30000, AT_ONCE = 100, LEN = sizeof(OPEN_3) - 1 };
    struct httprig *rig = rig_new(1, 1, BODY);
    struct request r[2] = {request_of(rig, 0), request_of(rig, 1)};
    char grants[AT_ONCE * LEN];
    uint32_t stream;
    int fd;

    for (size_t i = 0; i < sizeof(grants); i++)
        grants[i] = OPEN_3[i % LEN];
    httprig_start(rig, &r[0]);
    fd = serve(rig, 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(take_frame(rig, fd, &stream), DATA);
    SEND(fd, NO_WINDOW OK_1);
    httprig_step_until_ended(rig, 1);
    httprig_start(rig, &r[1]);
    assert_int_equal(take_frame(rig, fd, &stream), HEADERS);
    for (int i = 0; i < BODY / AT_ONCE; i++) {
        assert_int_equal(write(fd, grants, sizeof(grants)), sizeof(grants));
        assert_int_equal(take_frame(rig, fd, &stream), DATA);
    }
    SEND(fd, OK_3);
    httprig_step_until_ended(rig, 2);
    assert_int_equal(r[1].facts.outcome, OUTCOME_OK);
    close(fd);
    httprig_free(rig);
}

/* ---- connections that break ---- */

/* The write that fails is the next one's, but the first has its answer. */
TEST(an_answer_before_a_reset)
{
    struct httprig *rig = rig_new(1, 1, 0);
    struct request r[3] = {request_of(rig, 0), request_of(rig, 1),
                           request_of(rig, 2)};
    uint32_t stream;
    int fd;

    httprig_start(rig, &r[0]);
    fd = serve(rig, 0);
    SEND(fd, NO_SETTINGS);
    httprig_start(rig, &r[1]);
    assert_int_equal(take_frame(rig, fd, &stream), HEADERS);
    SEND(fd, OK_1);
    close_with_reset(fd);
    httprig_start(rig, &r[2]);
    httprig_step_until_ended(rig, 2);
    assert_int_equal(r[0].facts.outcome, OUTCOME_OK);
    assert_int_equal(r[1].facts.outcome, OUTCOME_RESET);
    assert_int_equal(r[1].facts.retries, 0);
    assert_int_equal(r[2].facts.retries, 1); /* the kernel did not take it */
    httprig_free(rig);
}

/* The reset of its stream cannot be written, but that ends no other request
 * before the next turn of the loop. */
TEST(who_is_cancelled_ends_no_other)
{
    struct httprig *rig = rig_new(1, 1, 0);
    struct request r[2] = {request_of(rig, 0), request_of(rig, 1)};
    uint32_t stream;
    int fd;

    httprig_start(rig, &r[0]);
    fd = serve(rig, 0);
    SEND(fd, NO_SETTINGS);
    httprig_start(rig, &r[1]);
    assert_int_equal(take_frame(rig, fd, &stream), HEADERS);
    close_with_reset(fd);
    rig->transport->cancel(rig->self, &r[0]);
    assert_int_equal(rig->ended, 0);
    httprig_step_until_ended(rig, 1);
    assert_int_equal(r[1].facts.outcome, OUTCOME_RESET);
    assert_int_equal(rig->transport->connections(rig->self), 0);
    httprig_free(rig);
}

/* Its connection was opened for it alone, and goes with it. */
TEST(who_is_cancelled_before_it_is_connected)
{
    struct httprig *rig = rig_new(1, 1, 0);
    struct request r = request_of(rig, 0);
    int filler;

    rig->settings.no_keepalive = true;
    httprig_fill_server(rig, 0, &filler);
    httprig_start(rig, &r);
    assert_false(rig->transport->has_room(rig->self));
    rig->transport->cancel(rig->self, &r);
    assert_true(rig->transport->has_room(rig->self));
    assert_int_equal(rig->transport->connections(rig->self), 0);
    close(filler);
    httprig_free(rig);
}

/* A connection is reset that has two streams, whose bytes wait in our kernel
 * because the server reads none.  They are sent again only if the connection
 * was idle for long before the first, and not if it was in use for long. */
TEST(idle_is_a_connection_without_streams)
{
    for (int is_idle = 0; is_idle < 2; is_idle++) {
        struct httprig *rig = rig_new(1, 2, 60000);
        struct request r[3] = {request_of(rig, 0), request_of(rig, 1),
                               request_of(rig, 2)};
        int small = 4096;
        int fd;

        setsockopt(rig->listeners[0], SOL_SOCKET, SO_RCVBUF, &small,
                   sizeof(small));
        httprig_start(rig, &r[0]);
        fd = serve(rig, 0);
        SEND(fd, NO_SETTINGS OK_1);
        httprig_step_until_ended(rig, 1);
        assert_int_equal(r[0].facts.outcome, OUTCOME_OK);
        for (int i = 1; i < 3; i++) {
            if (is_idle == (i == 1))
                rig->clk.at_ns += 5 * NS_PER_S;
            httprig_start(rig, &r[i]);
        }
        close_with_reset(fd);
        for (int i = 0; i < 100; i++)
            httprig_step(rig);
        for (int i = 1; i < 3; i++) {
            assert_int_equal(r[i].facts.retries, is_idle);
            assert_int_equal(r[i].facts.outcome == OUTCOME_RESET, !is_idle);
        }
        httprig_free(rig);
    }
}
