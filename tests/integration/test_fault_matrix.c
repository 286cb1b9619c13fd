/* What servers and networks do wrong: each is counted under its own name, and
 * nothing is lost.
 *
 * load_summary() checks the identity of the counts each time. */
#include <arpa/inet.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/xalloc.h"
#include "tests/support/certs.h"
#include "tests/support/keep.h"
#include "tests/support/loopback.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/rawserver.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define HEAD    "HTTP/1.1 200 OK\r\n"
#define CHUNKED HEAD "Transfer-Encoding: chunked\r\n\r\n"

static const struct {
    const char *bytes;
    enum raw_ending ending;
    const char *outcome; /* "ok" or a kind of failure ... */
    const char *text;    /* ... and what it says */
} responses[] = {
    {HEAD "Content-Length: 2\r\n\r\nhi", RAW_CLOSE, "ok", ""},
    {HEAD "\r\nuntil the end", RAW_CLOSE, "ok", ""},
    {"HTTP/1.0 200 OK\nContent-Length: 2\n\nhi", RAW_CLOSE, "ok", ""},
    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 None\r\n\r\n", RAW_CLOSE, "ok",
     ""},
    {CHUNKED "2;x=y\r\nhi\r\n0\r\nt: v\r\n\r\n", RAW_CLOSE, "ok", ""},
    {"HTTP/1.1 429 Slow down\r\nContent-Length: 0\r\n\r\n", RAW_CLOSE, "status",
     "HTTP status 429"},
    {"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy", RAW_CLOSE, "status",
     "HTTP status 503"},
    {"HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n", RAW_CLOSE, "status",
     "HTTP status 404"},
    {"", RAW_CLOSE, "reset", "closed before any response"},
    {"", RAW_RESET, "reset", "Connection reset by peer"},
    {HEAD "Content-Le", RAW_RESET, "reset", "Connection reset by peer"},
    {HEAD "Content-Length: 9\r\n\r\nhi", RAW_RESET, "reset",
     "Connection reset by peer"},
    {HEAD "Content-Length: 9\r\n\r\nhi", RAW_CLOSE, "truncated",
     "closed inside the response"},
    {HEAD "Content-Le", RAW_CLOSE, "truncated", "closed inside the response"},
    {CHUNKED "5\r\nhi", RAW_CLOSE, "truncated", "closed inside the response"},
    {CHUNKED "zz\r\nhi", RAW_CLOSE, "malformed", "a damaged chunk"},
    {CHUNKED "2\r\nhi, and more\r\n", RAW_CLOSE, "malformed",
     "a damaged chunk"},
    {HEAD "Content-Length: 99999999999999999999\r\n\r\nhi", RAW_CLOSE,
     "malformed", "Content-Length is not one number"},
    {HEAD "Content-Length: 1000000000000000\r\n\r\nhi", RAW_HOLD, "malformed",
     "longer than target.max_response"},
    {HEAD "Content-Length: 2x\r\n\r\nhi", RAW_CLOSE, "malformed",
     "Content-Length is not one number"},
    {HEAD "Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi", RAW_CLOSE,
     "malformed", "Content-Length is not one number"},
    {HEAD "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi", RAW_CLOSE, "ok",
     ""},
    {HEAD "Content-Length: -2\r\n\r\nhi", RAW_CLOSE, "malformed",
     "Content-Length is not one number"},
    {HEAD "Transfer-Encoding: gzip\r\n\r\nhi", RAW_CLOSE, "malformed",
     "unknown Transfer-Encoding"},
    {HEAD "Transfer-Encoding: pigeon\r\n\r\nhi", RAW_CLOSE, "malformed",
     "unknown Transfer-Encoding"},
    {HEAD "no colon\r\nContent-Length: 2\r\n\r\nhi", RAW_CLOSE, "malformed",
     "a header that is not 'name: value'"},
    {HEAD "Content-Length : 2\r\n\r\nhi", RAW_CLOSE, "malformed",
     "a header that is not 'name: value'"},
    {HEAD "x: y\r\n folded\r\nContent-Length: 2\r\n\r\nhi", RAW_CLOSE,
     "malformed", "a header that is not 'name: value'"},
    {"HTTP/1.1 100 Continue\r\n\r\n", RAW_CLOSE, "truncated",
     "closed inside the response"},
    {"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", RAW_CLOSE, "malformed",
     "not an HTTP/1 start line"},
    {"HTTP/1.1 99 Red\r\nContent-Length: 2\r\n\r\nhi", RAW_CLOSE, "malformed",
     "not an HTTP/1 start line"},
    {"SSH-2.0-OpenSSH_9.2\r\n", RAW_CLOSE, "malformed",
     "not an HTTP/1 start line"},
    {"", RAW_HOLD, "timeout", "no answer within the timeout"},
    {HEAD "Content-Le", RAW_HOLD, "timeout", "no answer within the timeout"},
    {HEAD "Content-Length: 9\r\n\r\nhi", RAW_HOLD, "timeout",
     "the answer was not complete within the timeout"},
    {CHUNKED "5\r\nhi", RAW_HOLD, "timeout",
     "the answer was not complete within the timeout"},
};

/* The last one cannot carry bytes of HTTP/1. */
static const struct column {
    const char *name;
    const char *transport;
    bool has_tls;
    const char *flag; /* NULL: none */
} columns[] = {
    {"http1", "native", false, NULL},
    {"tls", "native", true, NULL},
    {"curl", "curl", false, NULL},
    {"http2", "native", true, "--http2"},
};

#define HTTP1_COLUMNS 3

static void check_four(const char *column, const char *dir, const char *outcome,
                       const char *text)
{
    bool is_ok = strcmp(outcome, "ok") == 0;
    json_t *summary = load_summary(dir);

    if (is_ok ? number_at(summary, "requests.ok") != 4
              : failures_of(summary, outcome) != 4 ||
                    failures_saying(summary, outcome, text) != 4)
        fail_msg("%s: not 4 %s: %s", column, outcome, text);
}

/* Four requests, one after the other, or at once if they time out, all of which
 * must end so, whichever transport carries them; all at the same time.  Each
 * has a connection of its own, since the server closes every one without a
 * word: a second request on it would meet a reset as often as not. */
static void four_end(const char *bytes, size_t len, enum raw_ending ending,
                     const char *outcome, const char *text)
{
    bool times_out = strcmp(outcome, "timeout") == 0;
    struct rawserver servers[] = {rawserver_start(bytes, len, ending),
                                  rawserver_start_tls(bytes, len, ending)};
    struct proc runs[HTTP1_COLUMNS];

    for (size_t i = 0; i < HTTP1_COLUMNS; i++)
        runs[i] = proc_start(
            ARGS("run", servers[columns[i].has_tls].url, "--transport",
                 columns[i].transport, "--cacert", tmpdir_path("ca.pem"), "-c",
                 times_out ? "4" : "1", "-n", "4", "--no-keepalive",
                 "--timeout", times_out ? "1s" : "1h", "-q", "--force", "-o",
                 tmpdir_path(columns[i].name)));
    for (size_t i = 0; i < HTTP1_COLUMNS; i++) {
        const char *dir = tmpdir_path(columns[i].name);

        if (times_out) {
            run_must_time_out(&runs[i], dir, 4, text);
            continue;
        }
        run_must_end(&runs[i], dir, strcmp(outcome, "ok") == 0 ? 0 : 1);
        check_four(columns[i].name, dir, outcome, text);
    }
    rawserver_stop(&servers[0]);
    rawserver_stop(&servers[1]);
}

TEST(wrong_responses)
{
    for (size_t i = 0; i < COUNT(responses); i++)
        four_end(responses[i].bytes, strlen(responses[i].bytes),
                 responses[i].ending, responses[i].outcome, responses[i].text);
}

TEST(a_zero_byte_in_a_header)
{
    static const char bytes[] = HEAD "x: a\0b\r\nContent-Length: 2\r\n\r\nhi";

    four_end(bytes, sizeof(bytes) - 1, RAW_CLOSE, "malformed",
             "a header that is not 'name: value'");
}

/* The client hangs up after 64 kB of it, and keeps none. */
TEST(a_header_of_100_mb)
{
    static const char start[] = HEAD "x: ";
    size_t len = (size_t)100 << 20;
    char *bytes = xcalloc(1, len);

    memset(bytes, 'a', len);
    memcpy(bytes, start, sizeof(start) - 1);
    four_end(bytes, len, RAW_CLOSE, "malformed", "headers too long");
    free(bytes);
}

TEST(a_name_that_does_not_resolve)
{
    /* No name can have such a label, so nobody is asked for it. */
    static const char url[] =
        "http://a234567890123456789012345678901234567890123456789012345678"
        "901234.invalid/";
    const char *dir = tmpdir_path("unnamed");
    struct proc_result r =
        proc_run(ARGS("run", url, "--rate", "10", "-q", "-o", dir));

    proc_expect(&r, 3);
    assert_non_null(strstr(r.err, ".invalid: "));
    assert_int_equal(access(dir, F_OK), -1);
}

/* Nobody accepts: a few connections fit into the backlog and are never
 * answered, the others are never established. */
TEST(a_server_that_does_not_accept)
{
    struct sockaddr_in address = {0};
    int listener = loopback_listen(&address, 3);
    const char *dir = tmpdir_path("deaf");
    char url[40];
    struct proc run;
    json_t *summary;
    double connect;

    snprintf(url, sizeof(url), "http://127.0.0.1:%d/", ntohs(address.sin_port));
    run = proc_start(ARGS("run", url, "--arrival", "constant", "--rate", "1000",
                          "-n", "20", "--connect-timeout", "300ms", "--timeout",
                          "600ms", "-q", "-o", dir));
    summary = run_must_fail(&run, dir);
    close(listener);
    connect = failures_of(summary, "connect");
    assert_true(failures_saying(summary, "connect",
                                "not connected within the connect timeout") ==
                connect);
    assert_true(failures_of(summary, "timeout") + connect +
                    number_at(summary, "requests.unsent") ==
                20);
}

/* The first connections are looked at 200 ms late: the clock runs from due. */
TEST(slow_accept)
{
    json_t *summary =
        run_on_stub(ARGS("stub", "--fault", "slow-accept=200ms"),
                    ARGS("run", "--rate", "100", "-n", "20", "--no-keepalive"),
                    tmpdir_path("slow"), 0);

    assert_true(number_at(summary, "requests.ok") == 20);
    assert_true(number_at(summary, "requests.opened_connection") == 20);
    assert_true(number_at(summary, "measures.e2e.mean_ms") >= 200);
}

/* One in four, reset when its service is over: each is a failure, none is sent
 * again.  Over a warm connection, and where others are between two requests. */
TEST(resets_are_failures_however_soon)
{
    static const char *const services[] = {"none", "fixed 5ms", "fixed 20ms"};

    for (size_t i = 0; i < 3; i++) {
        const char *dir = tmpdir_path("soon");
        char *url;
        struct proc stub =
            stub_start(ARGS("stub", "--fault", "reset every=4", "--replicas",
                            "16", "--service", services[i]),
                       &url);
        struct proc run = proc_start(ARGS("run", url, "--rate", "100", "-n",
                                          "100", "--transport", "native", "-q",
                                          "--force", "-o", dir));
        json_t *summary;

        run_must_end(&run, dir, 0);
        stub_stop(&stub);
        summary = load_summary(dir);
        assert_true(failures_of(summary, "reset") == 25);
        assert_true(number_at(summary, "requests.retried") == 0);
    }
}

/* ---- what a stub does wrong, through every transport ---- */

#define CHAT "/v1/chat/completions"

static const struct {
    const char *fault;
    const char *path;
    const char *outcome;
    const char *over_http2; /* NULL: the same */
} faults[] = {
    {"status=503", "/", "status", NULL},
    {"reset", "/", "reset", NULL},
    {"truncated", "/", "truncated", "reset"},
    {"malformed", "/", "malformed", "reset"},
    {"hang=1h", "/", "timeout", NULL},
    {"reset", CHAT, "reset", NULL},
    {"truncated", CHAT, "truncated", "reset"},
    {"malformed", CHAT, "malformed", NULL},
    {"empty", CHAT, "empty", NULL},
    {"inband", CHAT, "in-band error", NULL},
    {"no-done", CHAT, "truncated", NULL},
    {"wrong-type", CHAT, "in-band error", NULL},
};

static struct proc start_stub(const char *fault, bool has_tls, char **url)
{
    const char *cert = tmpdir_path("server.pem");

    if (!has_tls)
        return stub_start(ARGS("stub", "--fault", fault), url);
    return stub_start(ARGS("stub", "--fault", fault, "--tls-cert", cert,
                           "--tls-key", tmpdir_path("server.key")),
                      url);
}

/* Four requests at once, all of which must fail so. */
static void four_fail(const char *fault, const char *path, const char *outcome,
                      const char *over_http2)
{
    bool times_out = strcmp(outcome, "timeout") == 0;
    char *urls[2];
    struct proc stubs[2];
    struct proc runs[COUNT(columns)];

    for (size_t i = 0; i < 2; i++)
        stubs[i] = start_stub(fault, i == 1, &urls[i]);
    for (size_t i = 0; i < COUNT(columns); i++)
        runs[i] = proc_start(
            ARGS("run", keepf("%s%s", urls[columns[i].has_tls], path),
                 "--transport", columns[i].transport, "--cacert",
                 tmpdir_path("ca.pem"), "-c", "4", "-n", "4", "--model", "stub",
                 "--timeout", times_out ? "1s" : "1h", "-q", "--force", "-o",
                 tmpdir_path(columns[i].name), columns[i].flag));
    for (size_t i = 0; i < COUNT(columns); i++) {
        const char *dir = tmpdir_path(columns[i].name);
        const char *want = columns[i].flag && over_http2 ? over_http2 : outcome;

        if (times_out) {
            run_must_time_out(&runs[i], dir, 4, "no answer within the timeout");
            continue;
        }
        run_must_end(&runs[i], dir, 1);
        if (failures_of(load_summary(dir), want) != 4)
            fail_msg("%s%s, %s: not 4 %s", path, fault, columns[i].name, want);
    }
    stub_stop(&stubs[0]);
    stub_stop(&stubs[1]);
}

TEST(faults_of_a_stub)
{
    for (size_t i = 0; i < COUNT(faults); i++)
        four_fail(faults[i].fault, faults[i].path, faults[i].outcome,
                  faults[i].over_http2);
}

/* The server had them for 20 ms and then reset the connection, or the stream:
 * each is a failure, none is sent again, whoever carries them. */
TEST(resets_in_service_are_failures)
{
    for (size_t i = 0; i < COUNT(columns); i++) {
        char *dir = keepf("%s/resets-%zu", tmpdir_root(), i);
        bool has_tls = columns[i].has_tls;
        char *url;
        struct proc stub = stub_start(
            ARGS("stub", "--delay", "20ms", "--fault", "reset every=4",
                 has_tls ? "--tls" : NULL, "self-signed"),
            &url);
        struct proc run = proc_start(
            ARGS("run", url, "--insecure", "--transport", columns[i].transport,
                 "-c", "1", "-n", "40", "-q", "-o", dir, columns[i].flag));
        json_t *summary;

        run_must_end(&run, dir, 0);
        summary = load_summary(dir);
        stub_stop(&stub);
        assert_true(failures_of(summary, "reset") == 10);
        assert_true(number_at(summary, "requests.retried") == 0);
    }
}

/* ---- killed and restarted ---- */

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
    struct proc stub = stub_start(ARGS("stub"), &url);
    struct proc run = proc_start(
        ARGS("run", url, "--rate", "200", "--duration", "1h", "-q", "-o", dir));
    int64_t refused;
    json_t *summary;

    wait_for_outcome(dir, OUTCOME_OK, -1);
    kill(stub.pid, SIGKILL);
    must_end(&stub, 128 + SIGKILL);
    refused = wait_for_outcome(dir, OUTCOME_CONNECT, -1);
    snprintf(port, sizeof(port), "%d", port_of(url));
    stub = stub_start(ARGS("stub", "--port", port), &again);
    wait_for_outcome(dir, OUTCOME_OK, refused);
    kill(run.pid, SIGINT);
    must_end(&run, 128 + SIGINT);
    stub_stop(&stub);
    summary = load_summary(dir);
    assert_true(failures_saying(summary, "connect", "Connection refused") > 0);
}

GROUP_FIXTURE(certs_setup, tmpdir_teardown)
