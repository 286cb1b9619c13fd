/* A server that stands still for one second in five, seen by observers who
 * arrive at random: a fifth of them wait, uniformly up to a second.  So the
 * share that waits longer than x seconds is 0.2 (1 - x). */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/xalloc.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/tmpdir.h"

#define SHARE 0.2

/* A client that was late adds its own stalls: then it is only shown. */
static void check_quantile(const json_t *summary, const char *path, double q,
                           double n)
{
    double want_ms = 1000 * (1 - (1 - q) / SHARE);
    /* Five standard deviations of an empirical quantile where the density is
     * SHARE a second: one false alarm in two million, for each. */
    double margin_ms = 5000 * sqrt(q * (1 - q) / n) / SHARE;
    double got_ms = number_at(summary, path);

    print_message("%s: %.1f ms, theory %.1f +- %.1f%s\n", path, got_ms, want_ms,
                  margin_ms,
                  was_quiet(summary) ? "" : ", not judged: a busy machine");
    assert_true(!was_quiet(summary) || fabs(got_ms - want_ms) < margin_ms);
}

/* The first stall comes after five seconds, so the window starts then: two
 * whole periods hold two whole stalls, wherever it begins. */
static void open_loop_sees_the_stall(void **state)
{
    json_t *summary =
        run_on_stub(ARGS("stub", "--stall", "1s", "--stall-every", "5s"),
                    ARGS("run", "--rate", "500", "--warmup", "5s", "--duration",
                         "10s", "--seed", "3", "--spin", "80us"),
                    tmpdir_path("open"), 0);
    double n = number_at(summary, "requests.ok");

    (void)state;
    assert_true(n == number_at(summary, "requests.scheduled"));
    check_quantile(summary, "measures.e2e.p90_ms", 0.9, n);
    check_quantile(summary, "measures.e2e.p95_ms", 0.95, n);
    check_quantile(summary, "measures.e2e.p99_ms", 0.99, n);
    check_quantile(summary, "measures.e2e.sent.p95_ms", 0.95, n);
    check_quantile(summary, "measures.e2e.sent.p99_ms", 0.99, n);
    assert_true(!was_quiet(summary) ||
                number_at(summary, "measures.e2e.p50_ms") < 50);
    json_decref(summary);
}

/* One client that waits for each answer meets a stall once in five seconds,
 * between tens of thousands of quick answers: its p99 knows nothing of it. */
static void closed_loop_hides_the_stall(void **state)
{
    json_t *summary = run_on_stub(
        ARGS("stub", "--stall", "1s", "--stall-every", "2s"),
        ARGS("run", "-c", "1", "--duration", "6s", "--spin", "80us"),
        tmpdir_path("closed"), 0);

    (void)state;
    assert_string_equal(json_string_value(json_object_get(summary, "scenario")),
                        "closed");
    assert_true(!was_quiet(summary) ||
                number_at(summary, "measures.e2e.p99_ms") < 100);
    assert_true(number_at(summary, "measures.e2e.max_ms") > 900);
    json_decref(summary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_loop_sees_the_stall),
        cmocka_unit_test(closed_loop_hides_the_stall),
    };

    return cmocka_run_group_tests_name("stall", tests, tmpdir_setup,
                                       tmpdir_teardown);
}
