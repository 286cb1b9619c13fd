/* Streams over the network, in every API that has them and over both
 * transports: how they are written does not matter, and what is wrong with one
 * is counted under its own name.
 *
 * load_summary() checks the identity of the counts each time. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/keep.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/rawserver.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define REQUESTS 4
#define TOKENS   8

static const char *const transports[] = {"native", "curl"};

static const struct api_case {
    const char *name;
    const char *path;
    bool has_end; /* other than that of the body */
} apis[] = {
    {"openai-chat", "/v1/chat/completions", true},
    {"openai-completions", "/v1/completions", true},
    {"tgi", "/generate_stream", true},
    {"triton-generate", "/v2/models/m/generate_stream", false},
    {"sglang", "/generate", true},
};

/* A stub whose every answer has this fault, or is written in this way. */
static struct proc start(const char *flag, const char *value, char **url)
{
    return stub_start(ARGS("stub", "--service", "llm", "--batching",
                           "continuous", "--prefill", "1us", "--decode", "1ms",
                           "--decode-item", "0s", flag, value),
                      url);
}

/* Every API over every transport: which of them, and where it records. */
#define RUNS (COUNT(apis) * COUNT(transports))

static const struct api_case *api_of(size_t i)
{
    return &apis[i / COUNT(transports)];
}

static const char *transport_of(size_t i)
{
    return transports[i % COUNT(transports)];
}

static const char *dir_of(size_t i)
{
    char name[8];

    snprintf(name, sizeof(name), "run%zu", i);
    return tmpdir_path(name);
}

/* A few requests each, one after the other; all runs at once. */
static void begin_all(const char *url, const char *timeout,
                      struct proc runs[RUNS])
{
    for (size_t i = 0; i < RUNS; i++) {
        char *target = keepf("%s%s", url, api_of(i)->path);

        runs[i] = proc_start(ARGS("run", target, "--api", api_of(i)->name,
                                  "--transport", transport_of(i), "-c", "1",
                                  "-n", "4", "--input-len", "5", "--output-len",
                                  "8", "--timeout", timeout, "-q", "--force",
                                  "-o", dir_of(i)));
    }
}

/* Where nothing times out. */
#define NO_TIMEOUT "1h"

/* The caller owns the summary. */
static json_t *end_one(struct proc *run, size_t i, int status)
{
    run_must_end(run, dir_of(i), status);
    return load_summary(dir_of(i));
}

static void assert_streams(const json_t *summary, const char *what)
{
    print_message("%s\n", what);
    assert_int_equal(number_at(summary, "requests.ok"), REQUESTS);
    assert_int_equal(number_at(summary, "measures.ttft.n"), REQUESTS);
    assert_int_equal(number_at(summary, "tokens.output"), REQUESTS * TOKENS);
}

TEST(ways_to_write_a_stream)
{
    static const struct {
        const char *flag;
        const char *value;
    } ways[] = {
        {"--seed", "1"},
        {"--sse", "crlf,comments"},
        {"--sse", "cr,no-space"},
        {"--sse", "named,empty,pings"},
        {"--sse", "split"},
        {"--events-per-write", "4"},
        {"--fault", "coalesced=3"},
        {"--fault", "burst"},
        {"--fault", "double-done"},
    };

    for (size_t w = 0; w < COUNT(ways); w++) {
        char *url;
        struct proc stub = start(ways[w].flag, ways[w].value, &url);
        struct proc runs[RUNS];

        begin_all(url, NO_TIMEOUT, runs);
        for (size_t i = 0; i < RUNS; i++) {
            json_t *summary = end_one(&runs[i], i, 0);

            assert_streams(summary, ways[w].value);
            if (strcmp(ways[w].value, "burst") == 0)
                assert_true(number_at(summary, "tokens.streams.coalesced") > 0);
        }
        stub_stop(&stub);
        free(url);
    }
}

/* A model that would stop after 3 tokens, and may not. */
TEST(lengths_are_forced)
{
    char *url;
    struct proc stub = start("--eos-tokens", "3", &url);

    for (size_t i = 0; i < COUNT(apis); i++) {
        const char *dir = tmpdir_path("run");
        char *target = keepf("%s%s", url, apis[i].path);
        struct proc run =
            proc_start(ARGS("run", target, "--api", apis[i].name, "-c", "1",
                            "-n", "4", "--input-len", "5", "--output-len", "8",
                            "--ignore-eos", "-q", "--force", "-o", dir));
        json_t *summary;

        run_must_end(&run, dir, 0);
        summary = load_summary(dir);
        assert_streams(summary, apis[i].name);
    }
    stub_stop(&stub);
    free(url);
}

/* A server may keep the connection open after its terminator: the answer is
 * whole, the client goes on, and was not late. */
TEST(streams_that_are_over_and_go_on)
{
    static const char bytes[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"
        "data: [DONE]\n\n";
    struct rawserver server =
        rawserver_start(bytes, sizeof(bytes) - 1, RAW_HOLD);

    for (size_t i = 0; i < COUNT(transports); i++) {
        const char *dir = tmpdir_path("run");
        char *url = keepf("%s/v1/chat/completions", server.url);
        struct proc run =
            proc_start(ARGS("run", url, "--model", "m", "--metrics", "off",
                            "--transport", transports[i], "-c", "1", "-n", "4",
                            "--timeout", "60s", "-q", "--force", "-o", dir));
        json_t *summary;

        run_must_end(&run, dir, 0);
        summary = load_summary(dir);
        assert_int_equal(number_at(summary, "requests.ok"), REQUESTS);
        assert_true(number_at(summary, "measures.lag.max_ms") < 30000);
    }
    rawserver_stop(&server);
}

struct wrong {
    const char *fault;
    const char *outcome;
    const char *text;
    bool needs_end; /* of the API */
};

static void end_wrong(const struct wrong *w, struct proc *run, size_t i)
{
    json_t *summary;
    double n;

    if (w->needs_end && !api_of(i)->has_end) {
        proc_wait(run); /* not judged */
        return;
    }
    print_message("%s: %s, %s\n", w->fault, api_of(i)->name, transport_of(i));
    summary = end_one(run, i, 1);
    n = w->text[0] ? failures_saying(summary, w->outcome, w->text)
                   : failures_of(summary, w->outcome);
    assert_int_equal(n, REQUESTS);
}

TEST(wrong_streams)
{
    static const struct wrong faults[] = {
        {"inband", "in-band error", "", false},
        {"no-events", "empty", "a stream without an event", false},
        {"no-done", "truncated", "the stream ended without its terminator",
         true},
        {"wrong-type", "in-band error", "", false},
        {"malformed", "malformed", "an event that is not valid JSON", false},
        {"endless=5MiB", "malformed", "an event is too long", false},
        {"reset", "reset", "", false},
        {"truncated", "truncated", "closed inside the response", false},
        {"status=503", "status", "HTTP status 503: refused by the stub", false},
    };

    for (size_t f = 0; f < COUNT(faults); f++) {
        char *url;
        struct proc stub = start("--fault", faults[f].fault, &url);
        struct proc runs[RUNS];

        begin_all(url, NO_TIMEOUT, runs);
        for (size_t i = 0; i < RUNS; i++)
            end_wrong(&faults[f], &runs[i], i);
        stub_stop(&stub);
        free(url);
    }
}

TEST(streams_that_hang)
{
    char *url;
    struct proc stub = start("--fault", "hang=1h", &url);
    struct proc runs[RUNS];

    begin_all(url, "100ms", runs);
    for (size_t i = 0; i < RUNS; i++)
        run_must_time_out(&runs[i], dir_of(i), REQUESTS,
                          "no answer within the timeout");
    stub_stop(&stub);
    free(url);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
