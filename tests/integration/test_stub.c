/* The stub over the network: connections, queues, pages, and what the truth
 * log says of it afterwards.  What goes wrong on purpose is in
 * test_stub_faults.
 */
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/recording/schema.h"
#include "tests/support/httpget.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/table.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define PLAIN "{\"pad\":\"xxxxxxxxxxxxxxxxxxxxxx\"}"

/* Send a request with this id and priority, and do not wait. */
static int begin_request(const char *url, int id, int priority)
{
    int fd = http_connect(url);
    char headers[80];

    snprintf(headers, sizeof(headers),
             "x-tailgate-id: %d\r\nx-priority: %d\r\n", id, priority);
    http_send(fd, &(struct http_request){.headers = headers});
    return fd;
}

/* It must have come whole, with this status; gone afterwards. */
static void expect_status(struct http_reply reply, int status)
{
    if (reply.status != status)
        fail_msg("status %d, not %d: %s", reply.status, status,
                 buf_text(&reply.body));
    assert_int_equal(reply.end, HTTP_WHOLE);
    http_reply_fini(&reply);
}

static long long metric(const char *url, const char *name)
{
    struct http_reply reply = HTTP_ASK(url, .path = "/metrics");
    char *key = keepf("\ntailgate_stub_%s ", name);
    const char *at = strstr(buf_text(&reply.body), key);
    long long value;

    assert_non_null(at);
    value = strtoll(at + strlen(key), NULL, 10);
    http_reply_fini(&reply);
    return value;
}

/* Until the stub says so of itself. */
static void wait_for(const char *url, const char *name, long long value)
{
    int64_t patience_ns = clk_now(&clk_monotonic) + 20 * NS_PER_S;

    while (metric(url, name) != value) {
        if (clk_now(&clk_monotonic) > patience_ns)
            fail_msg("%s does not become %lld", name, value);
    }
}

static struct truth *read_truth(size_t want)
{
    size_t n;
    struct truth *rows =
        table_read(tmpdir_path("truth.tgr"), &schema_truth, &n);

    assert_int_equal(n, want);
    return rows;
}

/* ---- connections ---- */

TEST(plain_answers)
{
    static const struct {
        struct http_request request;
        bool keeps_alive;
        const char *body;
    } cases[] = {
        {{0}, true, PLAIN},
        {{.body = "hello"}, true, PLAIN},
        {{.path = "/any/where?x=y", .method = "PUT", .body = ""}, true, PLAIN},
        {{.version = "1.0"}, false, PLAIN},
        {{.version = "1.0", .headers = "Connection: keep-alive\r\n"},
         true,
         PLAIN},
        {{.headers = "Connection: close\r\n"}, false, PLAIN},
        {{.method = "HEAD"}, true, ""},
    };
    char *url;
    struct proc stub = stub_start(ARGS("stub"), &url);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct http_reply reply = http_ask(url, &cases[i].request);

        assert_int_equal(reply.status, 200);
        assert_int_equal(reply.end, HTTP_WHOLE);
        assert_int_equal(reply.keeps_alive, cases[i].keeps_alive);
        assert_string_equal(buf_text(&reply.body), cases[i].body);
        http_reply_fini(&reply);
    }
    stub_stop(&stub);
}

/* Plain and streamed answers in turn. */
TEST(a_connection_goes_on)
{
    static const char ask[] =
        "{\"prompt\":\"x\",\"max_tokens\":2,\"stream\":true}";
    char *url;
    struct proc stub = stub_start(ARGS("stub"), &url);
    int fd = http_connect(url);

    for (int i = 0; i < 20; i++) {
        struct http_reply reply;

        http_send(
            fd, &(struct http_request){.path = i % 2 ? "/v1/completions" : "/",
                                       .body = ask});
        reply = http_read(fd);
        assert_int_equal(http_has_header(&reply, "Transfer-Encoding: chunked"),
                         i % 2);
        expect_status(reply, 200);
    }
    close(fd);
    stub_stop(&stub);
}

/* Without chunks a stream ends with its connection. */
TEST(an_old_client_gets_its_stream)
{
    char *url;
    struct proc stub = stub_start(ARGS("stub"), &url);
    struct http_reply reply =
        HTTP_ASK(url, .path = "/v1/completions", .version = "1.0",
                 .headers = "Connection: keep-alive\r\n",
                 .body = "{\"prompt\":\"x\",\"stream\":true}");

    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.end, HTTP_WHOLE);
    assert_false(reply.keeps_alive);
    assert_non_null(strstr(buf_text(&reply.body), "data: [DONE]\n\n"));
    http_reply_fini(&reply);
    stub_stop(&stub);
}

static void few_descriptors(void)
{
    struct rlimit limit = {.rlim_cur = 24, .rlim_max = 24};

    setrlimit(RLIMIT_NOFILE, &limit);
}

/* More clients than it may have descriptors: they wait until others go. */
TEST(out_of_descriptors_clients_wait)
{
    struct proc stub = proc_start_with(ARGS("stub"), few_descriptors);
    char *line = proc_read_line(&stub);
    const char *url = strstr(line, "http");
    int fds[60];

    assert_non_null(url);
    for (int i = 0; i < 60; i++) {
        fds[i] = http_connect(url);
        http_send(fds[i], &(struct http_request){0});
    }
    for (int i = 0; i < 60; i++) {
        expect_status(http_read(fds[i]), 200);
        close(fds[i]);
    }
    stub_stop(&stub);
}

/* ---- pages ---- */

TEST(pages)
{
    static const char *const paths[] = {"/health", "/v2/health/ready",
                                        "/v2/health/live", "/v1/models"};
    char *url;
    struct proc stub = stub_start(ARGS("stub", "--model", "m/7b"), &url);

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct http_reply reply = HTTP_ASK(url, .path = paths[i]);
        json_t *json = json_loads(buf_text(&reply.body), 0, NULL);

        assert_true(json_is_object(json));
        assert_true(http_has_header(&reply, "Content-Type: application/json"));
        assert_int_equal(strstr(buf_text(&reply.body), "m/7b") != NULL,
                         strcmp(paths[i], "/v1/models") == 0);
        json_decref(json);
        expect_status(reply, 200);
    }
    expect_status(HTTP_ASK(url, .path = "/health", .method = "HEAD"), 200);
    assert_int_equal(metric(url, "served_total"), 0);
    expect_status(HTTP_ASK(url, .path = "/"), 200);
    assert_int_equal(metric(url, "served_total"), 1);
    stub_stop(&stub);
}

TEST(metrics_show_a_queue)
{
    char *url;
    struct proc stub =
        stub_start(ARGS("stub", "--service", "llm", "--batching", "continuous",
                        "--max-running=1", "--prompt-tokens=7",
                        "--output-tokens=3", "--decode=1h"),
                   &url);
    int first = begin_request(url, 1, 0);
    int second;

    wait_for(url, "running", 1);
    second = begin_request(url, 2, 0);
    wait_for(url, "queue_depth", 1);
    wait_for(url, "tokens_total", 1); /* the prompt is read */
    assert_int_equal(metric(url, "requests_total"), 2);
    assert_int_equal(metric(url, "served_total"), 0);
    assert_int_equal(metric(url, "kv_tokens"), 10);
    assert_int_equal(metric(url, "batch_size_count"), 1);
    close(first);
    close(second);
    stub_stop(&stub);
}

/* ---- refusals ---- */

TEST(bad_requests_are_refused)
{
    static const struct {
        const char *path;
        const char *body;
        int status;
    } cases[] = {
        {"/v1/chat/completions", "", 400},
        {"/v1/chat/completions", "{", 400},
        {"/v1/chat/completions", "[]", 400},
        {"/v1/chat/completions", "{\"prompt\":\"x\"}", 400},
        {"/v1/completions", "{\"messages\":[]}", 400},
        {"/v1/completions", "{\"prompt\":\"x\",\"max_tokens\":2000000}", 400},
        {"/v1/completions", "{\"prompt\":\"x\"} and more", 400},
        /* 12 prompt tokens and 39 are more than 50 */
        {"/v1/completions",
         "{\"prompt\":[1,2,3,4,5,6,7,8,9,10,11,12],\"max_tokens\":39}", 413},
        {"/v1/completions",
         "{\"prompt\":[1,2,3,4,5,6,7,8,9,10,11,12],\"max_tokens\":38}", 200},
        {"/v1/chat/completions", "{\"messages\":[],\"max_tokens\":49}", 200},
        {"/v1/chat/completions", "{\"messages\":[],\"max_tokens\":50}", 413},
    };
    char *url;
    struct proc stub =
        stub_start(ARGS("stub", "--service", "llm", "--batching", "continuous",
                        "--kv-tokens=50", "--prompt-tokens=1", "--prefill=0",
                        "--decode=10us", "--decode-item=0"),
                   &url);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect_status(
            HTTP_ASK(url, .path = cases[i].path, .body = cases[i].body),
            cases[i].status);
    stub_stop(&stub);
}

/* The first request occupies the server for four seconds, time enough for
 * others to come on a busy machine; the rest are quick. */
#define SLOW_AT_FIRST "--service", "fixed 20ms", "--cold=1", "--cold-factor=200"

/* One is served, one waits, the third is sent away; the other two get their
 * answers. */
TEST(a_bounded_queue_refuses)
{
    static const struct {
        const char *flag;
        int status;
    } cases[] = {
        {"--full-status=503", 503},
        {"--full-status=429", 429},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *url;
        struct proc stub = stub_start(
            ARGS("stub", SLOW_AT_FIRST, "--queue=1", cases[i].flag), &url);
        int first = begin_request(url, 1, 0);
        struct http_reply refusal;
        int second;

        wait_for(url, "running", 1);
        second = begin_request(url, 2, 0);
        wait_for(url, "queue_depth", 1);
        refusal = HTTP_ASK(url, 0);
        assert_true(http_has_header(&refusal, "Retry-After: 1"));
        expect_status(refusal, cases[i].status);
        expect_status(http_read(first), 200);
        expect_status(http_read(second), 200);
        assert_int_equal(metric(url, "refused_total"), 1);
        close(first);
        close(second);
        stub_stop(&stub);
    }
}

/* ---- against the truth log ---- */

TEST(a_cache_answers_the_second_at_once)
{
    static const char *const bodies[] = {"one", "one", "two", "one", "two"};
    static const int64_t want_ms[] = {20, 0, 20, 0, 0};
    char *truth = tmpdir_path("truth.tgr");
    char *url;
    struct proc stub = stub_start(
        ARGS("stub", "--service", "fixed 20ms", "--cache", "--truth", truth),
        &url);
    struct truth *rows;

    for (int i = 0; i < 5; i++)
        expect_status(HTTP_ASK(url, .body = bodies[i]), 200);
    stub_stop(&stub);
    rows = read_truth(5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(rows[i].finish - rows[i].arrival,
                         want_ms[i] * NS_PER_MS);
}

TEST(a_cold_start_is_slow)
{
    static const int64_t want_ms[] = {10, 10, 1, 1};
    char *truth = tmpdir_path("truth.tgr");
    char *url;
    struct proc stub =
        stub_start(ARGS("stub", "--service", "fixed 1ms", "--cold=2",
                        "--cold-factor=10", "--truth", truth),
                   &url);
    struct truth *rows;

    for (int i = 0; i < 4; i++)
        expect_status(HTTP_ASK(url, 0), 200);
    stub_stop(&stub);
    rows = read_truth(4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(rows[i].service, want_ms[i] * NS_PER_MS);
}

TEST(low_numbers_go_first)
{
    static const int priorities[] = {9, 5, 1, 3, 1};
    static const int64_t order[] = {0, 2, 4, 3, 1};
    char *truth = tmpdir_path("truth.tgr");
    char *url;
    struct proc stub = stub_start(
        ARGS("stub", SLOW_AT_FIRST, "--discipline=priority", "--truth", truth),
        &url);
    struct truth *rows;
    int fds[5];

    for (int i = 0; i < 5; i++) {
        fds[i] = begin_request(url, i, priorities[i]);
        wait_for(url, i == 0 ? "running" : "queue_depth", i == 0 ? 1 : i);
    }
    for (int i = 0; i < 5; i++) {
        expect_status(http_read(fds[i]), 200);
        close(fds[i]);
    }
    stub_stop(&stub);
    rows = read_truth(5); /* in the order in which they ended */
    for (int i = 0; i < 5; i++) {
        assert_int_equal(rows[i].id, order[i]);
        if (i > 0)
            assert_int_equal(rows[i].start, rows[i - 1].finish);
    }
}

/* A row a token, in order, and as many as the row of the request says. */
TEST(steps_are_in_a_file_of_their_own)
{
    static const int tokens[] = {1, 7, 30};
    char *truth = tmpdir_path("truth.tgr");
    char *url;
    struct proc stub =
        stub_start(ARGS("stub", "--service", "llm", "--batching", "continuous",
                        "--prefill=10us", "--decode=100us", "--decode-item=0",
                        "--truth", truth),
                   &url);
    struct truth_step *steps;
    struct truth *rows;
    size_t at = 0;
    size_t n;

    for (int i = 0; i < 3; i++) {
        char headers[40];
        char body[80];

        snprintf(headers, sizeof(headers), "x-tailgate-id: %d\r\n", i);
        snprintf(body, sizeof(body),
                 "{\"prompt\":[1,2],\"max_tokens\":%d,\"stream\":%s}",
                 tokens[i], i % 2 ? "true" : "false");
        expect_status(HTTP_ASK(url, .path = "/v1/completions",
                               .headers = headers, .body = body),
                      200);
    }
    stub_stop(&stub);
    rows = read_truth(3);
    steps = table_read(tmpdir_path("truth-steps.tgr"), &schema_truth_steps, &n);
    assert_int_equal(n, 38);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rows[i].id, i);
        assert_int_equal(rows[i].tokens, tokens[i]);
        assert_int_equal(rows[i].first, rows[i].arrival + 20 * NS_PER_US);
        for (int k = 0; k < tokens[i]; k++, at++) {
            assert_int_equal(steps[at].id, i);
            assert_int_equal(steps[at].at, rows[i].first + NS_PER_US * 100 * k);
        }
    }
}

/* In service, waiting, gone; and one that was answered. */
TEST(its_end_leaves_nobody_out)
{
    static const int signals[] = {SIGTERM, SIGINT};
    char *truth = tmpdir_path("truth.tgr");

    for (int k = 0; k < 2; k++) {
        char *url;
        struct proc stub = stub_start(
            ARGS("stub", "--service", "empirical 0:1h 100:1h", "--cache",
                 "--fault", "status=500 n=1", "--truth", truth),
            &url);
        struct proc_result result;
        struct truth *rows;
        int fds[4];

        expect_status(HTTP_ASK(url, 0), 500);
        for (int i = 0; i < 4; i++)
            fds[i] = begin_request(url, 1, 0);
        wait_for(url, "queue_depth", 3);
        close(fds[1]);
        assert_int_equal(kill(stub.pid, signals[k]), 0);
        result = proc_wait(&stub);
        proc_expect(&result, 0);
        rows = read_truth(5);
        for (int i = 0; i < 5; i++) {
            bool is_answered = rows[i].id != 1;

            assert_int_equal(rows[i].sent != TIME_ABSENT, is_answered);
            assert_int_equal(rows[i].status, is_answered ? 500 : 0);
            assert_int_equal(rows[i].finish, TIME_ABSENT);
        }
        for (int i = 0; i < 4; i++) {
            if (i != 1)
                close(fds[i]);
        }
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
