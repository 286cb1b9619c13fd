/* What the transports make of a request's time: both measure the same, and over
 * HTTP/2 those that come meanwhile share a connection. */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/xalloc.h"
#include "tests/support/certs.h"
#include "tests/support/nginx.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/tmpdir.h"

#define SAMPLES 1000

/* A fresh stub draws the same times again. */
static json_t *against_the_slow_stub(const char *transport)
{
    return run_on_stub(
        ARGS("stub", "--service", "exponential 20ms", "--replicas", "64"),
        ARGS("run", "--transport", transport, "--rate", "250", "-n", "1000"),
        tmpdir_path(transport), 0);
}

/* At 250/s some 5 of the 64 servers are busy, so nobody waits and e2e is the
 * service: exponential.  Its p-quantile from n samples has the standard error
 * sqrt(p(1-p)/n) / density = mean * sqrt(p / (1-p) / n), the difference of two
 * sqrt(2) times that.  Five of these would be chance in 10^6 if the draws were
 * independent; they are the same, so the bound is wide. */
static void both_transports_measure_the_same(void **state)
{
    static const struct {
        const char *path;
        double p;
    } quantiles[] = {{"measures.e2e.p50_ms", 0.5},
                     {"measures.e2e.p90_ms", 0.9}};
    json_t *native = against_the_slow_stub("native");
    json_t *curl = against_the_slow_stub("curl");
    bool is_quiet = was_quiet(native) && was_quiet(curl);

    (void)state;
    assert_true(number_at(native, "requests.ok") == SAMPLES);
    assert_true(number_at(curl, "requests.ok") == SAMPLES);
    for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
        double p = quantiles[i].p;
        double bound = 5 * sqrt(2) * 20 * sqrt(p / (1 - p) / SAMPLES);
        double ours = number_at(native, quantiles[i].path);
        double its = number_at(curl, quantiles[i].path);

        print_message("%s: native %.2f, curl %.2f, bound %.2f%s\n",
                      quantiles[i].path, ours, its, bound,
                      is_quiet ? "" : ", not judged: a busy machine");
        assert_true(!is_quiet || fabs(ours - its) < bound);
    }
    json_decref(curl);
    json_decref(native);
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
static void many_streams_on_a_connection(void **state)
{
    char *dir = xstrdup(tmpdir_path("streams"));
    char *url;
    struct proc stub = stub_start(ARGS("stub", "--delay", "50ms"), &url);
    struct nginx front = nginx_before(url, "");
    json_t *summary;

    (void)state;
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
    json_decref(summary);
    free(url);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_transports_measure_the_same),
        cmocka_unit_test(many_streams_on_a_connection),
    };

    return cmocka_run_group_tests_name("transports", tests, certs_setup,
                                       tmpdir_teardown);
}
