/* The server behind a real front on pairs of sockets, in time that the test
 * moves: what goes out exactly when. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/recording/schema.h"
#include "common/settings/settings.h"
#include "server-stub/front/front.h"
#include "server-stub/front/stub_loop.h"
#include "server-stub/front/wire.h"
#include "server-stub/stub_config.h"
#include "server-stub/stub_server.h"
#include "server-stub/truth_log.h"
#include "tests/support/stubflags.h"
#include "tests/support/table.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MAX_CLIENTS 100
#define START_NS    (7 * NS_PER_S)

#define ONE "GET / HTTP/1.1\r\n\r\n"

/* Four prompt tokens, three to come: with the flags below the first is due
 * after 4 ms, the others 10 ms apart. */
#define LLM                                                                    \
    "--service=llm", "--batching=continuous", "--prefill=1ms",                 \
        "--decode=10ms", "--decode-item=0"
#define ASK "{\"prompt\":[1,2,3,4],\"max_tokens\":3}"
#define ASK_STREAM                                                             \
    "{\"prompt\":[1,2,3,4],\"max_tokens\":3,\"stream\":true,"                  \
    "\"stream_options\":{\"continuous_usage_stats\":true}}"

struct world {
    struct clk_fake clock;
    struct loop *loop;
    struct settings settings;
    struct stub_config config;
    struct truth_log *truth;
    struct server *server;
    struct front *front;
    int clients[MAX_CLIENTS];
    int depth; /* of requests inside requests */
    int max_depth;
    struct buf heard; /* by the last hear() */
};

static void on_request(void *arg, struct exchange *x)
{
    struct world *w = arg;

    if (++w->depth > w->max_depth)
        w->max_depth = w->depth;
    server_request(w->server, x, &wire_http);
    w->depth--;
}

static void on_ended(void *arg, struct exchange *x, int64_t sent_ns)
{
    const struct world *w = arg;

    server_ended(w->server, x, sent_ns);
}

static const struct front_hooks hooks = {.request = on_request,
                                         .ended = on_ended};

static void connect_client(struct world *w, int i)
{
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair),
                     0);
    w->clients[i] = pair[0];
    front_take(w->front, pair[1]);
}

/* Flags of `tailgate stub` up to a NULL; a client is connected. */
static void begin(struct world *w, const char *const *flags)
{
    struct err err = {0};

    *w = (struct world){.clock = clk_fake_at(START_NS)};
    buf_init(&w->heard, 1 << 20);
    w->loop = loop_new(&err);
    assert_non_null(w->loop);
    settings_init(&w->settings);
    stub_tell(&w->settings, flags);
    if (stub_config(&w->settings.stub, &w->config, &err))
        fail_msg("%s", err.msg);
    w->truth = truth_log_new(tmpdir_path("truth.tgr"),
                             w->config.sim.model->has_tokens, &err);
    assert_non_null(w->truth);
    w->server = server_new(&w->settings.stub, &w->config, w->truth, START_NS);
    w->front = front_new(w->loop, &w->clock.clk, &hooks, w);
    for (int i = 0; i < MAX_CLIENTS; i++)
        w->clients[i] = -1;
    connect_client(w, 0);
}

#define BEGIN(w, ...) begin(w, (const char *const[]){__VA_ARGS__, NULL})

/* The truth is complete afterwards, in the file. */
static void end(struct world *w)
{
    struct err err = {0};

    front_free(w->front);
    server_free(w->server);
    assert_int_equal(truth_log_free(w->truth, &err), 0);
    settings_fini(&w->settings);
    loop_free(w->loop);
    buf_fini(&w->heard);
    for (int i = 0; i < MAX_CLIENTS; i++) {
        if (w->clients[i] >= 0)
            close(w->clients[i]);
    }
}

static void pass(struct world *w)
{
    struct err err = {0};

    for (int i = 0; i < 4; i++)
        assert_int_equal(loop_poll(w->loop, &err), 0);
}

/* Everything that is due up to this time after the start, each at its time. */
static void until(struct world *w, int64_t ms)
{
    int64_t end_ns = START_NS + ms * NS_PER_MS;

    pass(w);
    while (server_next_ns(w->server) <= end_ns) {
        if (server_next_ns(w->server) > w->clock.at_ns)
            w->clock.at_ns = server_next_ns(w->server);
        server_advance(w->server, w->clock.at_ns);
        pass(w);
    }
    w->clock.at_ns = end_ns;
}

static void say(struct world *w, int client, const char *text)
{
    assert_int_equal(send(w->clients[client], text, strlen(text), MSG_NOSIGNAL),
                     strlen(text));
    pass(w);
}

static void post(struct world *w, const char *path, const char *body)
{
    char text[1024];

    snprintf(text, sizeof(text),
             "POST %s HTTP/1.1\r\nx-tailgate-id: 1\r\nContent-Length: "
             "%zu\r\n\r\n%s",
             path, strlen(body), body);
    say(w, 0, text);
}

/* What came since; true if the server has closed as well. */
static bool hear(struct world *w, int client)
{
    char some[4096];
    ssize_t n;

    buf_reset(&w->heard);
    while ((n = recv(w->clients[client], some, sizeof(some), 0)) > 0)
        assert_int_equal(buf_add(&w->heard, some, (size_t)n), 0);
    if (n < 0)
        assert_int_equal(errno, EAGAIN);
    return n == 0;
}

static int count(const char *text, const char *word)
{
    int n = 0;

    for (; (text = strstr(text, word)); text += strlen(word))
        n++;
    return n;
}

/* This number of tokens came since, and as many ends of the stream. */
static void expect_heard(struct world *w, int tokens, int ends)
{
    hear(w, 0);
    assert_int_equal(count(buf_text(&w->heard), " tok"), tokens);
    assert_int_equal(count(buf_text(&w->heard), "[DONE]"), ends);
}

/* ---- when ---- */

/* What came by each of these times. */
struct moment {
    int64_t ms;
    int events; /* chunks of the coding */
    int tokens;
    int ends;
};

static const struct {
    const char *flag;
    struct moment moments[7];
} streams[] = {
    {"--delay=0",
     {{3, 0, 0, 0}, {4, 1, 1, 0}, {13, 0, 0, 0}, {14, 1, 1, 0}, {24, 2, 1, 1}}},
    {"--delay=5ms",
     {{8, 0, 0, 0}, {9, 1, 1, 0}, {18, 0, 0, 0}, {19, 1, 1, 0}, {29, 2, 1, 1}}},
    {"--fault=hang=100ms",
     {{103, 0, 0, 0}, {104, 1, 1, 0}, {114, 1, 1, 0}, {124, 2, 1, 1}}},
    {"--fault=role-first",
     {{0, 1, 0, 0}, {3, 0, 0, 0}, {4, 1, 1, 0}, {14, 1, 1, 0}, {24, 2, 1, 1}}},
    {"--fault=bundle=2",
     {{4, 0, 0, 0}, {14, 1, 2, 0}, {23, 0, 0, 0}, {24, 2, 1, 1}}},
    {"--fault=bundle=99", {{23, 0, 0, 0}, {24, 2, 3, 1}}},
    {"--fault=coalesced=2",
     {{4, 0, 0, 0}, {14, 2, 2, 0}, {23, 0, 0, 0}, {24, 2, 1, 1}}},
    {"--events-per-write=2",
     {{4, 0, 0, 0}, {14, 2, 2, 0}, {23, 0, 0, 0}, {24, 2, 1, 1}}},
    {"--fault=coalesced=99", {{23, 0, 0, 0}, {24, 4, 3, 1}}},
    {"--tokens-per-event=2",
     {{4, 0, 0, 0}, {14, 1, 2, 0}, {23, 0, 0, 0}, {24, 2, 1, 1}}},
    {"--sse=pings",
     {{0, 1, 0, 0}, {3, 0, 0, 0}, {4, 2, 1, 0}, {14, 2, 1, 0}, {24, 4, 1, 1}}},
    {"--fault=no-events", {{23, 0, 0, 0}, {24, 0, 0, 0}}},
    {"--fault=wrong-type", {{23, 0, 0, 0}, {24, 0, 0, 0}}},
    {"--fault=endless=9", {{4, 1, 1, 0}, {14, 2, 1, 0}, {40, 0, 0, 0}}},
    {"--fault=length=1", {{3, 0, 0, 0}, {4, 2, 1, 1}, {40, 0, 0, 0}}},
    {"--eos-tokens=2", {{4, 1, 1, 0}, {14, 2, 1, 1}, {40, 0, 0, 0}}},
    {"--fault=burst", {{23, 0, 0, 0}, {24, 4, 3, 1}}},
    {"--fault=empty", {{23, 0, 0, 0}, {24, 1, 0, 1}}},
    {"--fault=malformed",
     {{4, 1, 1, 0}, {13, 0, 0, 0}, {14, 2, 1, 0}, {24, 2, 1, 1}}},
    {"--fault=inband", {{4, 1, 1, 0}, {14, 2, 1, 0}, {40, 0, 0, 0}}},
    {"--speed=0.5", {{7, 0, 0, 0}, {8, 1, 1, 0}, {28, 1, 1, 0}, {48, 2, 1, 1}}},
};

TEST(tokens_go_out_when_they_are_due)
{
    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
        struct world w;

        BEGIN(&w, LLM, streams[i].flag);
        post(&w, "/v1/completions", ASK_STREAM);
        for (size_t k = 0; k == 0 || streams[i].moments[k].ms > 0; k++) {
            const struct moment *m = &streams[i].moments[k];

            until(&w, m->ms);
            expect_heard(&w, m->tokens, m->ends);
            assert_int_equal(count(buf_text(&w.heard), "data: "), m->events);
        }
        end(&w);
    }
}

/* A caller that comes late: the simulation is far ahead of what is told. */
TEST(late_tokens_count_up_one_by_one)
{
    const char *text;
    struct world w;

    BEGIN(&w, LLM);
    post(&w, "/v1/completions", ASK_STREAM);
    w.clock.at_ns += NS_PER_S;
    server_advance(w.server, w.clock.at_ns);
    hear(&w, 0);
    text = buf_text(&w.heard);
    for (int i = 1; i <= 3; i++) {
        char usage[40];

        snprintf(usage, sizeof(usage), "\"completion_tokens\":%d,", i);
        text = strstr(text, usage);
        assert_non_null(text);
    }
    assert_null(strstr(text + 1, "\"completion_tokens\""));
    end(&w);
}

/* The role goes right before the first token, in the same write, or long
 * before if it is told to; never twice. */
TEST(a_chat_opens_with_the_role)
{
    static const char ask[] =
        "{\"messages\":[{\"content\":\"just four of them\"}],"
        "\"max_tokens\":2,\"stream\":true}";

    for (int is_first = 0; is_first < 2; is_first++) {
        struct world w;

        BEGIN(&w, LLM, is_first ? "--fault=role-first" : "--delay=0");
        post(&w, "/v1/chat/completions", ask);
        until(&w, 3);
        expect_heard(&w, 0, 0);
        assert_int_equal(count(buf_text(&w.heard), "\"role\""), is_first);
        until(&w, 4);
        expect_heard(&w, 1, 0);
        assert_int_equal(count(buf_text(&w.heard), "\"role\""), !is_first);
        until(&w, 14);
        expect_heard(&w, 1, 1);
        assert_int_equal(count(buf_text(&w.heard), "\"role\""), 0);
        end(&w);
    }
}

/* The same answer, and the truth has its tokens, too. */
TEST(a_body_that_was_seen_is_answered_at_once)
{
    struct truth_step *steps;
    struct truth *rows;
    size_t n_steps;
    struct world w;
    size_t n;

    BEGIN(&w, LLM, "--cache", "--output-tokens=5");
    for (int is_again = 0; is_again < 2; is_again++) {
        post(&w, "/v1/completions", "{\"prompt\":[1,2,3,4],\"stream\":true}");
        until(&w, is_again ? 100 : 43);
        expect_heard(&w, is_again ? 5 : 4, is_again);
        until(&w, 100);
        expect_heard(&w, is_again ? 0 : 1, !is_again);
    }
    post(&w, "/v1/completions", "{\"prompt\":[1,2,3,5],\"stream\":true}");
    until(&w, 103);
    expect_heard(&w, 0, 0);
    end(&w);
    rows = table_read(tmpdir_path("truth.tgr"), &schema_truth, &n);
    assert_int_equal(n, 3);
    assert_int_equal(rows[1].finish, rows[1].arrival);
    assert_int_equal(rows[1].tokens, 5);
    steps = table_read(tmpdir_path("truth-steps.tgr"), &schema_truth_steps,
                       &n_steps);
    assert_int_equal(n_steps, 10);
    assert_int_equal(steps[9].at, rows[1].arrival);
}

TEST(an_accept_may_be_slow)
{
    struct world w;

    BEGIN(&w, "--fault=slow-accept=3ms n=2", "--fault=reset from=1s");
    assert_int_equal(server_accept_delay_ns(w.server, START_NS), 0);
    assert_int_equal(server_accept_delay_ns(w.server, START_NS), 3 * NS_PER_MS);
    assert_int_equal(server_accept_delay_ns(w.server, START_NS), 0);
    end(&w);
}

/* ---- what ---- */

#define OPENED "HTTP/1.1 200 OK\r\n"
#define BUSY   "HTTP/1.1 503 Service Unavailable\r\n"

/* The second waits, so the third is refused: properly, though a stream was
 * asked for that would begin at once. */
TEST(a_full_queue_refuses_before_the_stream_begins)
{
    struct world w;

    BEGIN(&w, LLM, "--max-running=1", "--queue=1", "--fault=role-first n=3");
    connect_client(&w, 1);
    connect_client(&w, 2);
    say(&w, 1, "POST /x HTTP/1.1\r\n\r\n");
    say(&w, 2, "POST /x HTTP/1.1\r\n\r\n");
    post(&w, "/v1/completions", ASK_STREAM);
    assert_false(hear(&w, 0));
    assert_memory_equal(buf_text(&w.heard), BUSY, strlen(BUSY));
    assert_non_null(strstr(buf_text(&w.heard), "\r\nRetry-After: 1\r\n"));
    assert_null(strstr(buf_text(&w.heard), OPENED));
    end(&w);
}

/* An answer to HEAD has no body, whatever goes wrong. */
TEST(a_head_has_no_body)
{
    static const char *const flags[] = {
        "--delay=0",        "--delay=1ms",        "--fault=inband",
        "--fault=empty",    "--fault=status=500", "--fault=hang=1ms",
        "--fault=bundle=2",
    };

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        struct world w;

        BEGIN(&w, flags[i]);
        say(&w, 0, "HEAD / HTTP/1.1\r\n\r\n");
        until(&w, 1);
        assert_false(hear(&w, 0));
        assert_memory_equal(buf_text(&w.heard), "HTTP/1.1 ", 9);
        assert_string_equal(w.heard.data + w.heard.len - 4, "\r\n\r\n");
        assert_int_equal(count(buf_text(&w.heard), "\r\n\r\n"), 1);
        end(&w);
    }
}

/* A 304 has none either, although it says how long it would be. */
TEST(a_304_has_no_body)
{
    struct world w;

    BEGIN(&w, "--fault=status=304");
    say(&w, 0, ONE);
    hear(&w, 0);
    assert_string_equal(w.heard.data + w.heard.len - 4, "\r\n\r\n");
    end(&w);
}

/* Without a simulation, and counted all the same. */
TEST(the_null_server_answers_at_once)
{
    struct world w;

    BEGIN(&w, "--body-size=2");
    say(&w, 0, ONE ONE ONE);
    hear(&w, 0);
    assert_int_equal(count(buf_text(&w.heard), OPENED), 3);
    assert_int_equal(server_next_ns(w.server), INT64_MAX);
    say(&w, 0, "GET /metrics HTTP/1.1\r\n\r\n");
    hear(&w, 0);
    assert_non_null(
        strstr(buf_text(&w.heard), "\ntailgate_stub_served_total 3\n"));
    end(&w);
}

/* ---- many at once ---- */

/* A batch of a hundred is done, and each client has sent its next request
 * already.  However many there are, they are not served inside each other. */
TEST(ends_that_bring_requests_do_not_pile_up)
{
    struct world w;
    int answers = 0;

    BEGIN(&w, "--service=fixed 5ms", "--batching=static", "--max-batch=100",
          "--max-delay=10s");
    for (int i = 0; i < MAX_CLIENTS; i++) {
        if (i > 0)
            connect_client(&w, i);
        say(&w, i, ONE ONE);
    }
    w.max_depth = 0;
    until(&w, 10);
    assert_in_range(w.max_depth, 1, 2);
    for (int i = 0; i < MAX_CLIENTS; i++) {
        hear(&w, i);
        answers += count(buf_text(&w.heard), OPENED);
    }
    assert_int_equal(answers, 2 * MAX_CLIENTS);
    end(&w);
}

/* ---- the truth ---- */

static struct truth only_row(void)
{
    size_t n;
    struct truth *rows =
        table_read(tmpdir_path("truth.tgr"), &schema_truth, &n);
    struct truth row;

    assert_int_equal(n, 1);
    row = rows[0];
    return row;
}

/* One request each; times in ms after the start, -1 for absent. */
static const struct {
    const char *flag;
    const char *body;
    int64_t start, first, finish, sent;
    int64_t status;
    int64_t tokens;
    int64_t faults;
} truths[] = {
    {"--delay=0", ASK_STREAM, 0, 4, 24, 24, 200, 3, 0},
    {"--delay=5ms", ASK, 0, 9, 29, 29, 200, 3, 0},
    {"--fault=hang=1s", ASK, 0, 1004, 1024, 1024, 200, 3, 1 << FAULT_HANG},
    {"--fault=truncated", ASK, 0, 4, 24, -1, 200, 3, 1 << FAULT_TRUNCATED},
    {"--fault=truncated", ASK_STREAM, 0, 4, 24, -1, 200, 3,
     1 << FAULT_TRUNCATED},
    {"--fault=reset", ASK_STREAM, 0, 4, 24, -1, 200, 3, 1 << FAULT_RESET},
    {"--fault=inband", ASK_STREAM, 0, 4, 24, 14, 200, 3, 1 << FAULT_INBAND},
    {"--fault=burst", ASK_STREAM, 0, 4, 24, 24, 200, 3, 1 << FAULT_BURST},
    {"--fault=status=500", ASK, -1, -1, -1, 0, 500, 0, 1 << FAULT_STATUS},
    {"--fault=slow-accept=1s", ASK, 0, 4, 24, 24, 200, 3, 0},
    {"--kv-tokens=6", ASK, -1, -1, -1, 0, 413, 0, 0},
    {"--delay=0", "{", -1, -1, -1, 0, 400, 0, 0},
    {"--delay=0", "{\"messages\":[]}", -1, -1, -1, 0, 400, 0, 0},
    {"--delay=0", "{\"prompt\":[1],\"max_tokens\":9223372036854775807}", -1, -1,
     -1, 0, 400, 0, 0},
};

static void assert_ms(int64_t at_ns, int64_t ms)
{
    assert_int_equal(at_ns, ms < 0 ? TIME_ABSENT : START_NS + ms * NS_PER_MS);
}

TEST(the_truth_is_told)
{
    for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++) {
        struct truth row;
        struct world w;

        BEGIN(&w, LLM, truths[i].flag);
        post(&w, "/v1/completions", truths[i].body);
        until(&w, 2000);
        end(&w);
        row = only_row();
        assert_int_equal(row.id, 1);
        assert_ms(row.arrival, 0);
        assert_ms(row.start, truths[i].start);
        assert_ms(row.first, truths[i].first);
        assert_ms(row.finish, truths[i].finish);
        assert_ms(row.sent, truths[i].sent);
        assert_int_equal(row.status, truths[i].status);
        assert_int_equal(row.tokens, truths[i].tokens);
        assert_int_equal(row.faults, truths[i].faults);
    }
}

/* In the middle of an answer and in the queue; a client of each stays, one of
 * each went away. */
TEST(the_end_leaves_nobody_out)
{
    struct truth *rows;
    struct world w;
    size_t n;

    BEGIN(&w, LLM, "--max-running=2");
    for (int i = 1; i <= 3; i++)
        connect_client(&w, i);
    for (int i = 0; i <= 3; i++)
        say(&w, i, "POST /x HTTP/1.1\r\nx-tailgate-id: 5\r\n\r\n");
    until(&w, 200);
    for (int i = 1; i <= 3; i += 2) {
        close(w.clients[i]);
        w.clients[i] = -1;
    }
    pass(&w);
    end(&w);
    rows = table_read(tmpdir_path("truth.tgr"), &schema_truth, &n);
    assert_int_equal(n, 4);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(rows[i].id, 5);
        assert_int_equal(rows[i].sent, TIME_ABSENT);
        assert_int_equal(rows[i].finish, TIME_ABSENT);
        assert_int_equal(rows[i].status, 0);
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
