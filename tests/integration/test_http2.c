/* HTTP/2: streams on a connection, and servers that end either. */
#include <jansson.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "tests/support/certs.h"
#include "tests/support/forty.h"
#include "tests/support/h2raw.h"
#include "tests/support/h2server.h"
#include "tests/support/keep.h"
#include "tests/support/nginx.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

enum site {
    PLAIN,
    ONE, /* HTTP/1.1 alone */
    TWO,
    TWO_PLAIN, /* without TLS */
    SITES,
};

static struct nginx nginx;

static int setup(void **state)
{
    static const struct nginx_site sites[SITES] = {
        [PLAIN] = {0},
        [ONE] = {.cert = "server"},
        [TWO] = {.cert = "server", .listen = "http2"},
        [TWO_PLAIN] = {.listen = "http2"},
    };

    if (certs_setup(state))
        return -1;
    nginx = nginx_start(sites, SITES);
    return 0;
}

static int teardown(void **state)
{
    nginx_stop(&nginx);
    return tmpdir_teardown(state);
}

/* ---- connections ---- */

/* After 20 requests nginx says GOAWAY, with others on their way and to come. */
TEST(goaway)
{
    char *dir = tmpdir_path("goaway");
    char *url;
    struct proc stub = stub_start(ARGS("stub", "--delay", "50ms"), &url);
    struct nginx front = nginx_before(url, "keepalive_requests 20;");
    struct proc run = proc_start(
        ARGS("run", front.urls[0], "--http2", "--cacert", nginx.ca, "--arrival",
             "constant", "--rate", "400", "-n", "400", "-q", "-o", dir));
    json_t *summary;

    run_must_end(&run, dir, 0);
    summary = load_summary(dir);
    nginx_stop(&front);
    stub_stop(&stub);
    assert_true(number_at(summary, "requests.scheduled") == 400);
    assert_true(number_at(summary, "requests.unsent") == 0);
    assert_true(number_at(summary, "requests.ok") == 400);
    assert_true(number_at(summary, "requests.opened_connection") >= 10);
}

TEST(a_server_that_lacks_http2)
{
    char *dir = tmpdir_path("one");
    struct proc_result r =
        proc_run(ARGS("run", nginx.urls[ONE], "--http2", "--cacert", nginx.ca,
                      "--rate", "50", "-n", "10", "-o", dir));

    proc_expect(&r, 3);
    assert_non_null(strstr(r.err, ": the server does not speak HTTP/2: leave "
                                  "out --http2\n"));
    assert_int_equal(access(dir, F_OK), -1);
}

/* It is not announced. */
TEST(a_server_that_lacks_http2_without_tls)
{
    must_all_say(RUN(1, nginx.urls[PLAIN], "--http2"), "connect",
                 "the server does not speak HTTP/2");
}

TEST(libcurl_needs_tls)
{
    struct proc_result r =
        proc_run(ARGS("run", nginx.urls[TWO_PLAIN], "--http2", "--transport",
                      "curl", "-c", "1"));

    proc_expect(&r, 2);
    assert_non_null(
        strstr(r.err, "--http2 requires an https:// URL if libcurl is used"));
}

TEST(many_streams_on_few_connections)
{
    static const enum site sites[] = {TWO, TWO_PLAIN};

    for (size_t i = 0; i < COUNT(sites); i++) {
        const char *url = nginx.urls[sites[i]];
        json_t *summary = RUN(0, url, "--cacert", nginx.ca, "--http2");

        assert_true(number_at(summary, "requests.opened_connection") == 1);
        assert_true(number_at(summary, "measures.connect.n") == 1);
        assert_true(number_at(summary, "measures.tls.n") ==
                    (sites[i] == TWO ? 1 : 0));
        must_be_ok(summary);
        summary =
            RUN(0, url, "--cacert", nginx.ca, "--http2", "--streams", "1");
        assert_true(number_at(summary, "requests.opened_connection") <= 4);
        assert_true(number_at(summary, "requests.opened_connection") > 1);
        must_be_ok(summary);
    }
}

TEST(a_connection_for_every_request)
{
    static const char *const transports[] = {"native", "curl"};

    for (size_t i = 0; i < COUNT(transports); i++) {
        json_t *summary =
            RUN(0, nginx.urls[TWO], "--cacert", nginx.ca, "--http2",
                "--no-keepalive", "--transport", transports[i]);

        assert_true(number_at(summary, "requests.opened_connection") == FORTY);
        must_be_ok(summary);
        must_be_ok(RUN(0, nginx.urls[TWO], "--cacert", nginx.ca, "--http2",
                       "--no-keepalive", "-c", "1", "--transport",
                       transports[i]));
    }
}

/* The limit arrives when four requests wait for the first connection: three of
 * them move on to others, and none is refused. */
TEST(a_server_with_one_stream_at_a_time)
{
    struct h2server server = h2server_start(H2_ONE_STREAM, 0);
    json_t *summary = RUN(0, server.url, "--cacert", nginx.ca, "--http2");

    assert_true(number_at(summary, "requests.opened_connection") <= 4);
    assert_true(number_at(summary, "requests.retried") == 0);
    must_be_ok(summary);
    h2server_stop(&server);
}

/* The body is larger than the first window of a stream. */
TEST(a_body_that_does_not_fit_the_window)
{
    size_t len = 300000;
    char *body = test_malloc(len);
    char *path;

    memset(body, 'x', len);
    path = keepf("@%s", tmpdir_write("body", body, len));
    must_be_ok(RUN(0, nginx.urls[TWO], "--cacert", nginx.ca, "--http2",
                   "--body", path));
    test_free(body);
}

/* 100 requests of 20 ms within a second, one at a time: the others wait, and
 * that is the client's lag. */
TEST(a_wait_for_the_one_stream_is_lag)
{
    char *dir = tmpdir_path("lag");
    json_t *summary =
        run_on_stub(ARGS("stub", "--service", "fixed 20ms"),
                    ARGS("run", "--http2", "--streams", "1", "-c", "1",
                         "--arrival", "constant", "--rate", "100", "-n", "100"),
                    dir, 4);

    assert_true(number_at(summary, "requests.ok") == 100);
    assert_true(number_at(summary, "requests.opened_connection") == 1);
    assert_true(number_at(summary, "measures.lag.max_ms") > 900);
    assert_true(number_at(summary, "measures.e2e.mean_ms") >=
                number_at(summary, "measures.lag.mean_ms") + 20);
    assert_true(check_failed(summary, "lag p50"));
    assert_true(check_failed(summary, "connection cap"));
}

/* The server reads each request to its end and gives no window: bodies wait
 * until their requests time out, what has none is answered.  The first body is
 * on its way before the server's SETTINGS are known. */
TEST(a_window_that_never_opens)
{
    static const char mix[] = "classes:\n"
                              "  - name: post\n"
                              "    target: {method: POST, body: hello}\n"
                              "  - name: get\n"
                              "    target: {method: GET}\n";
    static const struct h2raw_frame no_window[] = {
        {H2RAW_SETTINGS, 0, false, "\0\x04\0\0\0\0", 6}, {0}};
    static const struct h2raw_frame ok[] = {
        {H2RAW_HEADERS, H2RAW_END_STREAM | H2RAW_END_HEADERS, true, "\x88", 1},
        {0}};
    struct h2raw server = h2raw_start_http(no_window, ok, RAW_HOLD);
    char *dir = tmpdir_path("window");
    const json_t *classes;

    run_for(ARGS("run", tmpdir_write("mix.yaml", mix, strlen(mix)), "--url",
                 server.url, "--http2", "-c", "20", "-n", "40", "--timeout",
                 "2s", "--no-preflight", "-q", "-o", dir),
            dir, 0);
    classes = json_object_get(load_summary(dir), "classes");
    assert_true(number_at(json_array_get(classes, 0), "requests.ok") == 1);
    assert_true(number_at(json_array_get(classes, 0), "requests.failed") == 19);
    assert_true(number_at(json_array_get(classes, 1), "requests.ok") == 20);
    assert_true(failures_saying(load_summary(dir), "timeout",
                                "no answer within the timeout") == 19);
    h2raw_stop(&server);
}

/* ---- the second request of every connection goes wrong ---- */

#define REQUESTS 10

static const struct {
    enum h2_fault fault;
    const char *transport;
    const char *text; /* NULL: it is sent again, and all is well */
    int again;
} faults[] = {
    {H2_CLOSE, "native", "closed before any response", 0},
    {H2_CLOSE, "curl", "closed before any response", 0},
    {H2_RESET, "native", "Connection reset by peer", 0},
    {H2_RESET, "curl", "Connection reset by peer", 0},
    {H2_GOAWAY, "native", NULL, REQUESTS - 1},
    {H2_GOAWAY, "curl", "the server ended the HTTP/2 connection", 0},
    {H2_REFUSE, "native", NULL, 1}, /* over the same connection */
    {H2_REFUSE, "curl", NULL, REQUESTS - 1},
};

static json_t *run_against(const struct h2server *server, const char *transport)
{
    const char *dir = tmpdir_path("wrong");
    struct proc run =
        proc_start(ARGS("run", server->url, "--http2", "--cacert", nginx.ca,
                        "-c", "1", "-n", "10", "--no-preflight", "-q",
                        "--force", "--transport", transport, "-o", dir));

    run_must_end(&run, dir, 0);
    return load_summary(tmpdir_path("wrong"));
}

/* The server has had them for 50 ms: they are not sent again, unless it says
 * that it has not looked at them.  libcurl sends a refused stream again over a
 * new connection, and gives up after a GOAWAY. */
TEST(requests_that_the_server_had)
{
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        struct h2server server =
            h2server_start(faults[i].fault, 50 * NS_PER_MS);
        json_t *summary = run_against(&server, faults[i].transport);
        const char *text = faults[i].text;
        int failed = text ? REQUESTS / 2 : 0;

        if (number_at(summary, "requests.failed") != failed ||
            (text && failures_saying(summary, "reset", text) != failed) ||
            number_at(summary, "requests.retried") != faults[i].again)
            fail_msg("%s, %s: %s", faults[i].transport, text ? text : "ok",
                     json_dumps(summary, 0));
        /* One that libcurl opened to send it again may serve the next. */
        assert_true(number_at(summary, "requests.opened_connection") <=
                    REQUESTS - failed);
        assert_int_equal(atomic_load(server.requests),
                         REQUESTS + faults[i].again);
        h2server_stop(&server);
    }
}

/* The second request is refused, and refused again: it fails, unless the server
 * lowered its limit each time. */
TEST(a_request_that_is_refused_twice)
{
    struct h2server server = h2server_start(H2_REFUSE_TWICE, 0);
    json_t *summary = run_against(&server, "native");

    assert_true(number_at(summary, "requests.failed") == 1);
    assert_true(failures_saying(summary, "reset",
                                "the server reset the HTTP/2 stream") == 1);
    assert_true(number_at(summary, "requests.retried") == 1);
    assert_true(number_at(summary, "requests.resends") == 1);
    h2server_stop(&server);
    server = h2server_start(H2_LOWER, 0);
    summary = run_against(&server, "native");
    assert_true(number_at(summary, "requests.ok") == REQUESTS);
    assert_true(number_at(summary, "requests.retried") == 1);
    assert_true(number_at(summary, "requests.resends") == 2);
    assert_int_equal(atomic_load(server.requests), REQUESTS + 2);
    h2server_stop(&server);
}

/* A connection that brings frames without content for as long as they are read
 * is closed, and what was in flight on it fails; the run goes on.  Which
 * requests share a flooded connection depends on when it is closed.  The first
 * one of the run is the first on its connection, so it succeeds. */
TEST(floods)
{
    static const enum h2_fault kinds[] = {H2_EARLY_HINTS, H2_GOAWAYS,
                                          H2_EMPTY_DATA};

    for (size_t i = 0; i < 2 * COUNT(kinds); i++) {
        struct h2server server = h2server_start(kinds[i / 2], 0);
        json_t *summary = run_against(&server, i % 2 == 0 ? "native" : "curl");
        double failed = number_at(summary, "requests.failed");

        if (failures_of(summary, "malformed") != failed || failed == 0 ||
            failed + number_at(summary, "requests.ok") != REQUESTS)
            fail_msg("%zu: %s", i, json_dumps(summary, 0));
        h2server_stop(&server);
    }
}

GROUP_FIXTURE(setup, teardown)
