/* What the transports make of a request's time: all measure the same, and over
 * HTTP/2 those that come meanwhile share a connection. */
#include <jansson.h>

#include "tests/support/certs.h"
#include "tests/support/keep.h"
#include "tests/support/nginx.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define SAMPLES 200

static const struct {
    const char *name;
    const char *stub[2]; /* its flags */
    const char *run[3];  /* the run's */
} transports[] = {
    {"http1", {NULL}, {"--transport", "native"}},
    {"tls", {"--tls", "self-signed"}, {"--insecure"}},
    {"http2", {"--tls", "self-signed"}, {"--insecure", "--http2"}},
    {"http2-plain", {NULL}, {"--http2"}},
    {"curl", {NULL}, {"--transport", "curl"}},
};

/* At 250/s some 5 of the 64 servers are busy, so that no request waits, and the
 * service times of all runs are the same ones, since a fresh stub draws the
 * same times again: no answer comes earlier than its service allows, on any
 * transport.  How close the times are is a question for bench/, not for a busy
 * machine. */
TEST(all_transports_measure_the_service)
{
    for (size_t i = 0; i < COUNT(transports); i++) {
        json_t *s = run_on_stub(
            ARGS("stub", "--service", "exponential 20ms", "--replicas", "64",
                 transports[i].stub[0], transports[i].stub[1]),
            ARGS("run", "--rate", "250", "-n", "200", transports[i].run[0],
                 transports[i].run[1]),
            tmpdir_path(transports[i].name), 0);

        assert_true(number_at(s, "requests.ok") == SAMPLES);
        assert_true(number_at(s, "measures.service.mean_ms") > 0.8 * 20);
        assert_true(number_at(s, "measures.e2e.mean_ms") >=
                    number_at(s, "measures.service.mean_ms"));
    }
}

/* A stream of events has the same events over all of them. */
TEST(all_transports_carry_streams)
{
    for (size_t i = 0; i < COUNT(transports); i++) {
        char *dir = keepf("%s/sse-%s", tmpdir_root(), transports[i].name);
        char *url;
        struct proc stub = stub_start(
            ARGS("stub", transports[i].stub[0], transports[i].stub[1]), &url);
        json_t *s;

        run_for(ARGS("run", keepf("%s/v1/chat/completions", url), "--model",
                     "stub", "--output-len", "20", "-c", "4", "-n", "40", "-q",
                     "-o", dir, transports[i].run[0], transports[i].run[1]),
                dir, 0);
        stub_stop(&stub);
        s = load_summary(dir);
        assert_true(number_at(s, "requests.ok") == 40);
        assert_true(number_at(s, "tokens.streams.events_mean") == 20);
    }
}

/* How many may come while the first connection is made, at 400/s: in its
 * handshake, or at once when a client that was held up is back. */
static double came_meanwhile(const json_t *summary)
{
    return 0.4 * (number_at(summary, "measures.connect.max_ms") +
                  number_at(summary, "measures.tls.max_ms") +
                  number_at(summary, "measures.lag.max_ms"));
}

/* 20 are on their way at any time, on one connection; a second one if nginx has
 * 128, its limit, and one for each that came before the first was there. */
TEST(many_streams_on_a_connection)
{
    char *dir = tmpdir_path("streams");
    char *url;
    struct proc stub = stub_start(ARGS("stub", "--delay", "50ms"), &url);
    struct nginx front = nginx_before(url, "");
    json_t *summary;

    run_for(ARGS("run", front.urls[0], "--http2", "--cacert", front.ca,
                 "--arrival", "constant", "--rate", "400", "-n", "200", "-t",
                 "1", "-q", "-o", dir),
            dir, 0);
    summary = load_summary(dir);
    nginx_stop(&front);
    stub_stop(&stub);
    assert_true(number_at(summary, "requests.ok") == 200);
    assert_true(number_at(summary, "requests.opened_connection") <=
                2 + came_meanwhile(summary));
}

GROUP_FIXTURE(certs_setup, tmpdir_teardown)
