/* gRPC, our client against our stub: what goes wrong is counted under its own
 * name, and nothing is lost.
 *
 * load_summary() checks the identity of the counts each time. */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/recording/schema.h"
#include "common/wire/status.h"
#include "tests/support/certs.h"
#include "tests/support/forty.h"
#include "tests/support/keep.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/table.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MODEL  "--model", "m", "--tensor", "x FP32 16"
#define STREAM "--api", "triton-grpc-stream", MODEL
#define LLM                                                                    \
    "--service", "llm", "--prefill", "1us", "--decode", "1ms", "--batching",   \
        "continuous", "--output-tokens", "4"

/* Paths of certificates and keys. */
static char *ca;
static char *other_ca;
static char *cert;
static char *key;
static char *client_cert;
static char *client_key;

static int setup(void **state)
{
    if (certs_setup(state))
        return -1;
    ca = tmpdir_path("ca.pem");
    other_ca = tmpdir_path("self.pem");
    cert = tmpdir_path("server.pem");
    key = tmpdir_path("server.key");
    client_cert = tmpdir_path("client.pem");
    client_key = tmpdir_path("client.key");
    return 0;
}

/* `tailgate stub` with these arguments; *url is that of gRPC. */
static struct proc grpc_stub_start(const char *const *argv, char **url)
{
    static const char prefix[] = "listening on ";
    struct proc stub = stub_start(argv, url);
    char *line = proc_read_line(&stub);

    assert_memory_equal(line, prefix, strlen(prefix));
    *url = line + strlen(prefix);
    return stub;
}

/* This number, or what failed is shown. */
static void must_be(const json_t *summary, double is, double want)
{
    char *text;

    if (is == want)
        return;
    text = json_dumps(json_object_get(summary, "failures"), 0);
    print_error("%g, not %g: %s\n", is, want, text);
    free(text);
    fail();
}

/* A connection that breaks is opened again after a while, so that there are
 * fewer requests where all do.  Takes the summary. */
#define FEW "8"

static void must_break(json_t *summary)
{
    must_be(summary,
            failures_of(summary, "reset") + failures_of(summary, "truncated"),
            8);
    json_decref(summary);
}

/* ---- one message, one answer ---- */

static const struct {
    const char *fault;
    const char *outcome; /* NULL: the connection breaks */
    const char *part;    /* of what it says */
} unary[] = {
    {"malformed", "malformed", "an answer that does not fit the API"},
    {"empty", "empty", "an answer without content"},
    {"inband", "status", "gRPC status INTERNAL: the stub was told to fail"},
    {"endless=2MiB", "status",
     "gRPC status RESOURCE_EXHAUSTED: Received message larger than max"},
    {"status=429", "status", "gRPC status RESOURCE_EXHAUSTED: refused by"},
    {"reset", NULL, NULL},
    {"truncated", NULL, NULL},
};

TEST(answers_that_go_wrong)
{
    for (size_t i = 0; i < COUNT(unary); i++) {
        char *url;
        struct proc stub = grpc_stub_start(
            ARGS("stub", "--grpc-port", "0", "--fault", unary[i].fault), &url);

        if (unary[i].outcome)
            must_all_mention(RUN(1, url, "--max-response", "1MiB", MODEL),
                             unary[i].outcome, unary[i].part);
        else
            must_break(RUN(1, url, "-n", FEW, MODEL));
        stub_stop(&stub);
    }
}

/* One of each, and the rest are well. */
TEST(every_status_is_counted)
{
    const char *argv[4 + 2 * RPC_STATUS_COUNT] = {"tailgate", "stub",
                                                  "--grpc-port", "0"};
    char faults[RPC_STATUS_COUNT][40];
    char *url;
    struct proc stub;
    json_t *summary;

    for (int code = 1; code < RPC_STATUS_COUNT; code++) {
        snprintf(faults[code], sizeof(faults[code]), "status=%d n=%d", code,
                 code + 4);
        argv[2 + 2 * code] = "--fault";
        argv[3 + 2 * code] = faults[code];
    }
    stub = grpc_stub_start(argv, &url);
    summary = RUN(0, url, MODEL);
    assert_int_equal(failures_of(summary, "status"), RPC_STATUS_COUNT - 1);
    assert_int_equal(number_at(summary, "requests.ok"),
                     FORTY - (RPC_STATUS_COUNT - 1));
    for (int code = 1; code < RPC_STATUS_COUNT; code++) {
        char *text =
            keepf("gRPC status %s: refused by the stub", rpc_status_name(code));

        assert_int_equal(failures_saying(summary, "status", text), 1);
    }
    stub_stop(&stub);
}

/* The server takes 4 MiB. */
TEST(a_message_that_is_too_large)
{
    char *url;
    struct proc stub = grpc_stub_start(ARGS("stub", "--grpc-port", "0"), &url);

    must_all_mention(
        RUN(1, url, "--model", "m", "--tensor", "x FP32 1048577"), "status",
        "gRPC status RESOURCE_EXHAUSTED: Received message larger than max");
    stub_stop(&stub);
}

TEST(no_answer_within_the_deadline)
{
    char *url;
    struct proc stub = grpc_stub_start(
        ARGS("stub", "--grpc-port", "0", "--fault", "hang=1h"), &url);

    const char *dir = tmpdir_path("late");
    struct proc run = proc_start(ARGS("run", url, MODEL, "-c", "4", "-n", "40",
                                      "--timeout", "100ms", "-q", "-o", dir));
    json_t *summary = run_must_fail(&run, dir);

    must_be(summary,
            failures_of(summary, "timeout") +
                number_at(summary, "requests.unsent"),
            FORTY);
    stub_stop(&stub);
}

/* ---- streams ---- */

static const struct {
    const char *fault;
    const char
        *outcome; /* the same: what was sent before may be lost, or not */
    const char *part;
} streams[] = {
    {"malformed", "malformed", "a message that does not fit the API"},
    {"inband", "in-band error", "the stub was told to fail"},
    {"no-done", "truncated", "the stream ended without its terminator"},
    {"no-events", "empty", "a stream without an event"},
    {"empty", "empty", "a stream without content"},
    {"truncated", NULL, NULL},
    {"reset", NULL, NULL},
    {"status=8", "status", "gRPC status RESOURCE_EXHAUSTED: refused by"},
    {"wrong-type", "status", "gRPC status UNKNOWN: the stub was told to fail"},
};

TEST(streams_that_go_wrong)
{
    for (size_t i = 0; i < COUNT(streams); i++) {
        char *url;
        struct proc stub = grpc_stub_start(
            ARGS("stub", "--grpc-port", "0", LLM, "--fault", streams[i].fault),
            &url);

        if (streams[i].outcome)
            must_all_mention(RUN(1, url, STREAM), streams[i].outcome,
                             streams[i].part);
        else
            must_break(RUN(1, url, "-n", FEW, STREAM));
        stub_stop(&stub);
    }
}

/* As many events as there are tokens, all accounted for. */
TEST(a_stream_that_goes_well)
{
    char *url;
    struct proc stub =
        grpc_stub_start(ARGS("stub", "--grpc-port", "0", LLM), &url);
    json_t *summary = RUN(0, url, STREAM);

    assert_int_equal(number_at(summary, "requests.ok"), FORTY);
    assert_int_equal(number_at(summary, "measures.gap.n"), 3 * FORTY);
    stub_stop(&stub);
}

/* ---- the connection ---- */

/* Told to go away after 100 ms, again and again: there are other connections,
 * and what is lost is what went out as the word came, since nothing is sent
 * again. */
TEST(connections_that_are_told_to_go)
{
    char *url;
    struct proc stub = grpc_stub_start(
        ARGS("stub", "--grpc-port", "0", "--grpc-max-age", "100ms"), &url);
    const char *dir = tmpdir_path("goaway");
    struct proc run = proc_start(
        ARGS("run", url, MODEL, "--rate", "200", "-d", "2s", "-q", "-o", dir));
    json_t *summary;
    double failed;

    run_must_end(&run, dir, 0);
    summary = load_summary(dir);
    failed = number_at(summary, "requests.failed");
    must_be(summary, failures_of(summary, "reset"), failed);
    assert_true(failed < number_at(summary, "requests.ok") / 10);
    assert_true(number_at(summary, "requests.opened_connection") >= 3);
    stub_stop(&stub);
}

static int port_of(const char *url)
{
    return (int)strtol(strrchr(url, ':') + 1, NULL, 10);
}

/* Each step is taken when the recording shows that the one before was felt. */
TEST(a_server_killed_and_restarted)
{
    char *dir = tmpdir_path("restarted");
    char *url;
    char *again;
    char port[8];
    struct proc stub = grpc_stub_start(ARGS("stub", "--grpc-port", "0"), &url);
    struct proc run = proc_start(ARGS("run", url, MODEL, "--rate", "200",
                                      "--duration", "1h", "-q", "-o", dir));
    int64_t refused;
    json_t *summary;

    wait_for_outcome(dir, OUTCOME_OK, -1);
    kill(stub.pid, SIGKILL);
    must_end(&stub, 128 + SIGKILL);
    refused = wait_for_outcome(dir, OUTCOME_CONNECT, -1);
    snprintf(port, sizeof(port), "%d", port_of(url));
    stub = grpc_stub_start(ARGS("stub", "--grpc-port", port), &again);
    assert_string_equal(url, again);
    wait_for_outcome(dir, OUTCOME_OK, refused);
    kill(run.pid, SIGINT);
    must_end(&run, 128 + SIGINT);
    stub_stop(&stub);
    summary = load_summary(dir);
    assert_true(failures_of(summary, "connect") > 0);
}

/* ---- TLS ---- */

TEST(tls)
{
    char *url;
    struct proc stub = grpc_stub_start(
        ARGS("stub", "--grpc-port", "0", "--tls-cert", cert, "--tls-key", key),
        &url);
    char *plain = keepf("grpc%s", url + strlen("grpcs"));

    assert_memory_equal(url, "grpcs://", strlen("grpcs://"));
    must_be_ok(RUN(0, url, "--cacert", ca, MODEL));
    REFUSED("certificate", url, MODEL);
    REFUSED("", url, "--cacert", other_ca, MODEL);
    REFUSED("", plain, MODEL);
    stub_stop(&stub);
}

TEST(tls_to_one_that_speaks_none)
{
    char *url;
    struct proc stub = grpc_stub_start(ARGS("stub", "--grpc-port", "0"), &url);
    char *secure = keepf("grpcs%s", url + strlen("grpc"));

    REFUSED("", secure, "--cacert", ca, MODEL);
    stub_stop(&stub);
}

TEST(client_certificates)
{
    char *url;
    struct proc stub =
        grpc_stub_start(ARGS("stub", "--grpc-port", "0", "--tls-cert", cert,
                             "--tls-key", key, "--tls-ca", ca),
                        &url);

    must_be_ok(RUN(0, url, "--cacert", ca, "--cert", client_cert, "--key",
                   client_key, MODEL));
    REFUSED("", url, "--cacert", ca, MODEL);
    stub_stop(&stub);
}

TEST(certificates_that_are_none)
{
    struct proc_result r =
        proc_run(ARGS("stub", "--grpc-port", "0", "--tls-cert",
                      tmpdir_path("none.pem"), "--tls-key", key));

    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "stub.tls_cert: "));
    assert_non_null(strstr(r.err, "No such file"));
}

/* ---- alongside a run ---- */

/* A target of gRPC is all that it takes. */
TEST(a_stub_beside_the_run)
{
    static const char text[] = "target: {url: 'grpc://stub/', model: m}\n"
                               "load: {clients: 2, requests: 50}\n"
                               "data: {tensors: ['x FP32 16']}\n"
                               "stub: {service: fixed 1ms}\n";
    char *file = tmpdir_write("alongside.yaml", text, sizeof(text) - 1);
    const char *dir = tmpdir_path("alongside");
    char *truth_path = keepf("%s/truth.tgr", dir);
    struct proc run = proc_start(ARGS("run", file, "-q", "-o", dir));
    json_t *summary;
    struct truth *truth;
    size_t n;

    run_must_end(&run, dir, 0);
    summary = load_summary(dir);
    must_be(summary, number_at(summary, "requests.ok"), 50);
    truth = table_read(truth_path, &schema_truth, &n);
    assert_int_equal(n, 50);
    for (size_t i = 0; i < n; i++)
        assert_in_range(truth[i].id, 0, 49);
}

/* ---- the truth ---- */

static void check_truth(const struct truth *truth, const struct facts *facts,
                        size_t n)
{
    size_t at = 0;

    while (at < n && facts[at].seq != truth->id)
        at++;
    assert_true(at < n);
    assert_true(truth->sent >= truth->arrival);
    if (facts[at].outcome == OUTCOME_OK) {
        assert_int_equal(truth->status, 200);
        assert_true(facts[at].last - facts[at].due >=
                    truth->finish - truth->arrival);
    } else {
        assert_int_equal(truth->status, RPC_RESOURCE_EXHAUSTED);
        assert_int_equal(facts[at].status, truth->status);
    }
}

/* The preflight request meets them first. */
TEST(statuses_that_refuse)
{
    static const struct {
        const char *fault;
        int status;
        const char *said;
    } cases[] = {
        {"status=3", 3, "refuses requests: gRPC status INVALID_ARGUMENT"},
        {"status=5", 3, "refuses requests: gRPC status NOT_FOUND"},
        {"status=7", 3, "refuses requests: gRPC status PERMISSION_DENIED"},
        {"status=12", 3, "refuses requests: gRPC status UNIMPLEMENTED"},
        {"status=16", 3, "refuses requests: gRPC status UNAUTHENTICATED"},
        {"status=8", 1, "request failed: gRPC status RESOURCE_EXHAUSTED"},
        {"status=14", 1, "request failed: gRPC status UNAVAILABLE"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *dir = tmpdir_path("refused");
        char *url;
        struct proc stub = grpc_stub_start(
            ARGS("stub", "--grpc-port", "0", "--fault", cases[i].fault), &url);
        struct proc run = proc_start(ARGS("run", url, MODEL, "-c", "1", "-n",
                                          "3", "--force", "-o", dir));
        struct proc_result r = proc_wait(&run);

        stub_stop(&stub);
        if (cases[i].status == 3)
            proc_expect(&r, 3);
        else
            run_expect(&r, dir, cases[i].status);
        if (!strstr(r.err, cases[i].said))
            fail_msg("%s: %s", cases[i].fault, r.err);
    }
}

/* Every request is in the stub's log with the code that the client saw, and
 * none was answered before it was due. */
TEST(the_truth_log_agrees)
{
    const char *dir = tmpdir_path("truth");
    char *truth_path = keepf("%s.tgr", dir);
    char *requests = keepf("%s/requests.tgr", dir);
    char *url;
    struct proc stub = grpc_stub_start(
        ARGS("stub", "--grpc-port", "0", "--service", "exponential 1ms",
             "--truth", truth_path, "--fault", "status=8 every=10"),
        &url);
    struct proc run = proc_start(ARGS("run", url, MODEL, "--rate", "200", "-n",
                                      "300", "--request-id", "-q", "-o", dir));
    struct truth *truth;
    struct facts *facts;
    size_t n;
    size_t measured;

    run_must_end(&run, dir, 0);
    stub_stop(&stub);
    truth = table_read(truth_path, &schema_truth, &n);
    facts = table_read(requests, &schema_requests, &measured);
    assert_int_equal(n, 300);
    assert_int_equal(measured, 300);
    for (size_t i = 0; i < n; i++)
        check_truth(&truth[i], facts, n);
}

GROUP_FIXTURE(setup, tmpdir_teardown)
