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
#include "tests/support/h2raw.h"
#include "tests/support/keep.h"
#include "tests/support/loopback.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/rawserver.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define HEAD    "HTTP/1.1 200 OK\r\n"
#define CHUNKED HEAD "Transfer-Encoding: chunked\r\n\r\n"

/* Frames of HTTP/2, and header fields as HPACK encodes them. */
#define FRAME(type, flags, payload)                                            \
    {                                                                          \
        type, flags, true, payload, sizeof(payload) - 1                        \
    }
#define HEADERS(fields) FRAME(H2RAW_HEADERS, H2RAW_END_HEADERS, fields)
#define LAST_HEADERS(fields)                                                   \
    FRAME(H2RAW_HEADERS, H2RAW_END_HEADERS | H2RAW_END_STREAM, fields)
#define HALF_HEADERS(fields) FRAME(H2RAW_HEADERS, 0, fields)
#define DATA(text)           FRAME(H2RAW_DATA, 0, text)
#define LAST_DATA(text)      FRAME(H2RAW_DATA, H2RAW_END_STREAM, text)

#define OK_200       "\x88"
#define STATUS(text) "\x08\x03" text
#define LENGTH_1     "\x0f\x0d\x01" /* content-length, of one digit */

/* The same fault over HTTP/2: it ends in the same or a similar way. */
struct over_http2 {
    const struct h2raw_frame *frames; /* NULL: only HTTP/1 can do that */
    const char *outcome;              /* NULL: the same */
    const char *text;
};

#define NOT_POSSIBLE                                                           \
    {                                                                          \
        NULL, NULL, NULL                                                       \
    }
#define OVER_HTTP2(...)                                                        \
    {                                                                          \
        (const struct h2raw_frame[]){__VA_ARGS__, {0}}, NULL, NULL             \
    }
#define NOTHING                                                                \
    {                                                                          \
        (const struct h2raw_frame[]){{0}}, NULL, NULL                          \
    }
#define NOT_ALLOWED(...)                                                       \
    {                                                                          \
        (const struct h2raw_frame[]){__VA_ARGS__, {0}}, "malformed",           \
            "not what HTTP/2 allows"                                           \
    }

static const struct response {
    const char *bytes;
    enum raw_ending ending;
    const char *outcome; /* "ok" or a kind of failure ... */
    const char *text;    /* ... and what it says */
    struct over_http2 http2;
} responses[] = {
    {HEAD "Content-Length: 2\r\n\r\nhi", RAW_CLOSE, "ok", "",
     OVER_HTTP2(HEADERS(OK_200 LENGTH_1 "2"), LAST_DATA("hi"))},
    {HEAD "\r\nuntil the end", RAW_CLOSE, "ok", "",
     OVER_HTTP2(HEADERS(OK_200), LAST_DATA("until the end"))},
    {"HTTP/1.0 200 OK\nContent-Length: 2\n\nhi", RAW_CLOSE, "ok", "",
     NOT_POSSIBLE},
    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 None\r\n\r\n", RAW_CLOSE, "ok",
     "", OVER_HTTP2(HEADERS(STATUS("100")), LAST_HEADERS(STATUS("204")))},
    {CHUNKED "2;x=y\r\nhi\r\n0\r\nt: v\r\n\r\n", RAW_CLOSE, "ok", "",
     OVER_HTTP2(HEADERS(OK_200), DATA("hi"), LAST_HEADERS("\0\1t\1v"))},
    {"HTTP/1.1 429 Slow down\r\nContent-Length: 0\r\n\r\n", RAW_CLOSE, "status",
     "HTTP status 429", OVER_HTTP2(LAST_HEADERS(STATUS("429")))},
    {"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy", RAW_CLOSE, "status",
     "HTTP status 503", OVER_HTTP2(HEADERS(STATUS("503")), LAST_DATA("busy"))},
    {"HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n", RAW_CLOSE, "status",
     "HTTP status 404", OVER_HTTP2(LAST_HEADERS(STATUS("404")))},
    {"", RAW_CLOSE, "reset", "closed before any response", NOTHING},
    {"", RAW_RESET, "reset", "Connection reset by peer", NOTHING},
    {HEAD "Content-Le", RAW_RESET, "reset", "Connection reset by peer",
     OVER_HTTP2(HALF_HEADERS(OK_200))},
    {HEAD "Content-Length: 9\r\n\r\nhi", RAW_RESET, "reset",
     "Connection reset by peer",
     OVER_HTTP2(HEADERS(OK_200 LENGTH_1 "9"), DATA("hi"))},
    {HEAD "Content-Length: 9\r\n\r\nhi", RAW_CLOSE, "truncated",
     "closed inside the response",
     OVER_HTTP2(HEADERS(OK_200 LENGTH_1 "9"), DATA("hi"))},
    {HEAD "Content-Le", RAW_CLOSE, "truncated", "closed inside the response",
     OVER_HTTP2(HALF_HEADERS(OK_200))},
    {CHUNKED "5\r\nhi", RAW_CLOSE, "truncated", "closed inside the response",
     OVER_HTTP2(HEADERS(OK_200), DATA("hi"))},
    {CHUNKED "zz\r\nhi", RAW_CLOSE, "malformed", "a damaged chunk",
     NOT_ALLOWED(HEADERS(OK_200), FRAME(H2RAW_DATA, H2RAW_PADDED, "\xffhi"))},
    {CHUNKED "2\r\nhi, and more\r\n", RAW_CLOSE, "malformed", "a damaged chunk",
     NOT_ALLOWED(HEADERS(OK_200 LENGTH_1 "2"), LAST_DATA("hi, and more"))},
    {HEAD "Content-Length: 99999999999999999999\r\n\r\nhi", RAW_CLOSE,
     "malformed", "Content-Length is not one number",
     NOT_ALLOWED(HEADERS(OK_200 "\x0f\x0d\x14"
                                "99999999999999999999"),
                 LAST_DATA("hi"))},
    {HEAD "Content-Length: 1000000000000000\r\n\r\nhi", RAW_HOLD, "malformed",
     "longer than target.max_response",
     OVER_HTTP2(HEADERS(OK_200 "\x0f\x0d\x10"
                               "1000000000000000"),
                DATA("hi"))},
    {HEAD "Content-Length: 2x\r\n\r\nhi", RAW_CLOSE, "malformed",
     "Content-Length is not one number",
     NOT_ALLOWED(HEADERS(OK_200 "\x0f\x0d\x02"
                                "2x"),
                 LAST_DATA("hi"))},
    {HEAD "Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi", RAW_CLOSE,
     "malformed", "Content-Length is not one number",
     NOT_ALLOWED(HEADERS(OK_200 LENGTH_1 "2" LENGTH_1 "3"), LAST_DATA("hi"))},
    {HEAD "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi", RAW_CLOSE, "ok",
     "",
     NOT_ALLOWED(HEADERS(OK_200 LENGTH_1 "2" LENGTH_1 "2"), LAST_DATA("hi"))},
    {HEAD "Content-Length: -2\r\n\r\nhi", RAW_CLOSE, "malformed",
     "Content-Length is not one number",
     NOT_ALLOWED(HEADERS(OK_200 "\x0f\x0d\x02"
                                "-2"),
                 LAST_DATA("hi"))},
    {HEAD "Transfer-Encoding: gzip\r\n\r\nhi", RAW_CLOSE, "malformed",
     "unknown Transfer-Encoding",
     NOT_ALLOWED(HEADERS(OK_200 "\x0f\x2a\x04"
                                "gzip"),
                 LAST_DATA("hi"))},
    {HEAD "Transfer-Encoding: pigeon\r\n\r\nhi", RAW_CLOSE, "malformed",
     "unknown Transfer-Encoding",
     NOT_ALLOWED(HEADERS(OK_200 "\x0f\x2a\x06"
                                "pigeon"),
                 LAST_DATA("hi"))},
    {HEAD "no colon\r\nContent-Length: 2\r\n\r\nhi", RAW_CLOSE, "malformed",
     "a header that is not 'name: value'",
     OVER_HTTP2(HEADERS(OK_200 "\0\x08no colon\0" LENGTH_1 "2"),
                LAST_DATA("hi"))},
    {HEAD "Content-Length : 2\r\n\r\nhi", RAW_CLOSE, "malformed",
     "a header that is not 'name: value'",
     OVER_HTTP2(HEADERS(OK_200 "\0\x0f"
                               "content-length \1"
                               "2"),
                LAST_DATA("hi"))},
    {HEAD "x: y\r\n folded\r\nContent-Length: 2\r\n\r\nhi", RAW_CLOSE,
     "malformed", "a header that is not 'name: value'",
     OVER_HTTP2(HEADERS(OK_200 "\0\1x\x0ay\r\n folded" LENGTH_1 "2"),
                LAST_DATA("hi"))},
    {"HTTP/1.1 100 Continue\r\n\r\n", RAW_CLOSE, "truncated",
     "closed inside the response", OVER_HTTP2(HEADERS(STATUS("100")))},
    {"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", RAW_CLOSE, "malformed",
     "not an HTTP/1 start line", NOT_ALLOWED(HEADERS(STATUS("101")))},
    {"HTTP/1.1 99 Red\r\nContent-Length: 2\r\n\r\nhi", RAW_CLOSE, "malformed",
     "not an HTTP/1 start line",
     NOT_ALLOWED(HEADERS("\x08\x02"
                         "99" LENGTH_1 "2"),
                 LAST_DATA("hi"))},
    {"SSH-2.0-OpenSSH_9.2\r\n", RAW_CLOSE, "malformed",
     "not an HTTP/1 start line", NOT_POSSIBLE},
    {"", RAW_HOLD, "timeout", "no answer within the timeout", NOTHING},
    {HEAD "Content-Le", RAW_HOLD, "timeout", "no answer within the timeout",
     OVER_HTTP2(HALF_HEADERS(OK_200))},
    {HEAD "Content-Length: 9\r\n\r\nhi", RAW_HOLD, "timeout",
     "the answer was not complete within the timeout",
     OVER_HTTP2(HEADERS(OK_200 LENGTH_1 "9"), DATA("hi"))},
    {CHUNKED "5\r\nhi", RAW_HOLD, "timeout",
     "the answer was not complete within the timeout",
     OVER_HTTP2(HEADERS(OK_200), DATA("hi"))},
};

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

#define HTTP2 3 /* the column whose answers are frames, without TLS */

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

static struct proc start_four(const struct column *column, const char *url,
                              bool times_out)
{
    return proc_start(ARGS("run", url, "--transport", column->transport,
                           "--cacert", tmpdir_path("ca.pem"), "-c",
                           times_out ? "4" : "1", "-n", "4", "--no-keepalive",
                           "--no-preflight", "--timeout",
                           times_out ? "1s" : "1h", "-q", "--force", "-o",
                           tmpdir_path(column->name), column->flag));
}

static void end_four(const struct column *column, struct proc *run,
                     const char *outcome, const char *text)
{
    const char *dir = tmpdir_path(column->name);

    if (strcmp(outcome, "timeout") == 0) {
        run_must_time_out(run, dir, 4, text);
        return;
    }
    run_must_end(run, dir, strcmp(outcome, "ok") == 0 ? 0 : 1);
    check_four(column->name, dir, outcome, text);
}

/* Four requests, one after the other, or at once if they time out, all of which
 * must end so, whichever transport carries them; all at the same time.  Each
 * has a connection of its own, since the server closes every one without a
 * word: a second request on it would meet a reset as often as not. */
static void four_end(const struct response *r, size_t len)
{
    bool times_out = strcmp(r->outcome, "timeout") == 0;
    struct rawserver servers[] = {
        rawserver_start(r->bytes, len, r->ending),
        rawserver_start_tls(r->bytes, len, r->ending)};
    bool has_http2 = r->http2.frames != NULL;
    struct h2raw framer = {0};
    struct proc runs[COUNT(columns)];

    if (has_http2)
        framer = h2raw_start_http(NULL, r->http2.frames, r->ending);
    for (size_t i = 0; i < HTTP2; i++)
        runs[i] =
            start_four(&columns[i], servers[columns[i].has_tls].url, times_out);
    if (has_http2)
        runs[HTTP2] = start_four(&columns[HTTP2], framer.url, times_out);
    for (size_t i = 0; i < HTTP2; i++)
        end_four(&columns[i], &runs[i], r->outcome, r->text);
    if (has_http2) {
        end_four(&columns[HTTP2], &runs[HTTP2],
                 r->http2.outcome ? r->http2.outcome : r->outcome,
                 r->http2.outcome ? r->http2.text : r->text);
        h2raw_stop(&framer);
    }
    rawserver_stop(&servers[0]);
    rawserver_stop(&servers[1]);
}

TEST(wrong_responses)
{
    for (size_t i = 0; i < COUNT(responses); i++)
        four_end(&responses[i], strlen(responses[i].bytes));
}

TEST(a_zero_byte_in_a_header)
{
    static const char bytes[] = HEAD "x: a\0b\r\nContent-Length: 2\r\n\r\nhi";
    const struct response response = {
        bytes, RAW_CLOSE, "malformed", "a header that is not 'name: value'",
        OVER_HTTP2(HEADERS(OK_200 "\0\1x\3a\0b" LENGTH_1 "2"),
                   LAST_DATA("hi"))};

    four_end(&response, sizeof(bytes) - 1);
}

/* The client hangs up after 64 kB of it, and keeps none.  HTTP/2 has frames of
 * 16 kB: each here is one field. */
TEST(a_header_of_100_mb)
{
    static const char start[] = HEAD "x: ";
    static const char field[] = "\0\1x\x7f\x81\x7c"; /* and 16,000 bytes */
    size_t len = (size_t)100 << 20;
    size_t part = sizeof(field) - 1 + 16000;
    char *bytes = xcalloc(1, len);
    char *fields = xcalloc(1, part);
    struct h2raw_frame frames[8] = {HALF_HEADERS(OK_200)};

    memset(bytes, 'a', len);
    memcpy(bytes, start, sizeof(start) - 1);
    memset(fields, 'a', part);
    memcpy(fields, field, sizeof(field) - 1);
    for (size_t i = 1; i < COUNT(frames) - 1; i++)
        frames[i] =
            (struct h2raw_frame){H2RAW_CONTINUED, 0, true, fields, part};
    four_end(&(struct response){bytes,
                                RAW_CLOSE,
                                "malformed",
                                "headers too long",
                                {frames, NULL, NULL}},
             len);
    free(bytes);
    free(fields);
}

TEST(a_name_that_does_not_resolve)
{
    /* No name can have such a label, so no server is asked for it. */
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

/* No server accepts: a few connections fit into the backlog and are never
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
        struct proc run = proc_start(
            ARGS("run", url, "--rate", "100", "-n", "100", "--no-preflight",
                 "--transport", "native", "-q", "--force", "-o", dir));
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
        runs[i] = proc_start(ARGS(
            "run", keepf("%s%s", urls[columns[i].has_tls], path), "--transport",
            columns[i].transport, "--cacert", tmpdir_path("ca.pem"), "-c", "4",
            "-n", "4", "--model", "stub", "--no-preflight", "--timeout",
            times_out ? "1s" : "1h", "-q", "--force", "-o",
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
 * each is a failure, none is sent again, whichever transport carries them. */
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
