/* HTTP/2: streams on a connection, and servers that end either. */
#include <jansson.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "tests/support/certs.h"
#include "tests/support/forty.h"
#include "tests/support/h2server.h"
#include "tests/support/nginx.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

enum site {
    PLAIN,
    ONE, /* HTTP/1.1 alone */
    TWO,
    SITES,
};

static struct nginx nginx;

static int setup(void **state)
{
    static const struct nginx_site sites[SITES] = {
        [PLAIN] = {0},
        [ONE] = {.cert = "server"},
        [TWO] = {.cert = "server", .listen = "http2"},
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

TEST(no_http2_without_tls)
{
    struct proc_result r =
        proc_run(ARGS("run", nginx.urls[PLAIN], "--http2", "-c", "1"));

    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "target.http2 requires an https:// URL"));
}

TEST(a_connection_for_every_request)
{
    json_t *summary = RUN(0, nginx.urls[TWO], "--cacert", nginx.ca, "--http2",
                          "--no-keepalive");

    assert_true(number_at(summary, "requests.opened_connection") == FORTY);
    must_be_ok(summary);
}

/* ---- the second request of every connection goes wrong ---- */

#define REQUESTS 10

static const struct {
    enum h2_fault fault;
    const char *text; /* NULL: it is sent again, and all is well */
} faults[] = {
    {H2_CLOSE, "closed before any response"},
    {H2_RESET, "Connection reset by peer"},
    {H2_GOAWAY, "the server ended the HTTP/2 connection"},
    {H2_REFUSE, NULL},
};

static json_t *run_against(const struct h2server *server)
{
    const char *dir = tmpdir_path("wrong");
    struct proc run =
        proc_start(ARGS("run", server->url, "--http2", "--cacert", nginx.ca,
                        "-c", "1", "-n", "10", "-q", "--force", "-o", dir));

    run_must_end(&run, dir, 0);
    return load_summary(tmpdir_path("wrong"));
}

/* The server has had them for 50 ms: they are not sent again, unless it says
 * that it has not looked at them. */
TEST(requests_that_the_server_had)
{
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        struct h2server server =
            h2server_start(faults[i].fault, 50 * NS_PER_MS);
        json_t *summary = run_against(&server);
        const char *text = faults[i].text;
        int failed = text ? REQUESTS / 2 : 0;
        int again = text ? 0 : REQUESTS - 1;

        if (number_at(summary, "requests.failed") != failed ||
            (text && failures_saying(summary, "reset", text) != failed))
            fail_msg("%s: %s", text ? text : "ok", json_dumps(summary, 0));
        assert_true(number_at(summary, "requests.retried") == again);
        /* One that libcurl opened to send it again may serve the next. */
        assert_true(number_at(summary, "requests.opened_connection") <=
                    REQUESTS - failed);
        assert_int_equal(atomic_load(server.requests), REQUESTS + again);
        h2server_stop(&server);
    }
}

/* A connection that brings frames without content for as long as libcurl reads
 * them is closed, and what was in flight on it fails; the run goes on.  Which
 * requests share a flooded connection depends on when it is closed.  The first
 * one of the run is the first on its connection, so it succeeds. */
TEST(floods)
{
    static const enum h2_fault kinds[] = {H2_EARLY_HINTS, H2_GOAWAYS,
                                          H2_EMPTY_DATA};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct h2server server = h2server_start(kinds[i], 0);
        json_t *summary = run_against(&server);
        double failed = number_at(summary, "requests.failed");

        if (failures_of(summary, "malformed") != failed || failed == 0 ||
            failed + number_at(summary, "requests.ok") != REQUESTS)
            fail_msg("%zu: %s", i, json_dumps(summary, 0));
        h2server_stop(&server);
    }
}

GROUP_FIXTURE(setup, teardown)
