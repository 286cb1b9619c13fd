/* A server that stands still for 200 ms in every second, seen by observers who
 * arrive at random: a fifth of them wait, uniformly up to 200 ms.  So the share
 * that waits longer than x is 0.2 (1 - x / 200 ms).  A client that is late adds
 * to that, so that all bounds are lower ones; how close the times are is shown
 * by bench/openloop. */
#include <jansson.h>
#include <math.h>

#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define SHARE    0.2
#define STALL_MS 200

static void check_quantile(const json_t *summary, const char *path, double q,
                           double n)
{
    double want_ms = STALL_MS * (1 - (1 - q) / SHARE);
    /* Five standard deviations of an empirical quantile where the density is
     * SHARE / STALL_MS: one false alarm in three million, for each. */
    double margin_ms = 5 * STALL_MS * sqrt(q * (1 - q) / n) / SHARE;
    double got_ms = number_at(summary, path);

    print_message("%s: %.1f ms, theory %.1f - %.1f\n", path, got_ms, want_ms,
                  margin_ms);
    assert_true(got_ms > want_ms - margin_ms);
}

/* The first stall comes after a second, so the window starts then: three whole
 * periods hold three whole stalls, wherever it begins. */
TEST(open_loop_sees_the_stall)
{
    json_t *summary =
        run_on_stub(ARGS("stub", "--stall", "200ms", "--stall-every", "1s"),
                    ARGS("run", "--rate", "500", "--warmup", "1s", "--duration",
                         "3s", "--seed", "3", "--spin", "80us"),
                    tmpdir_path("open"), 0);
    double n = number_at(summary, "requests.ok");

    assert_true(n == number_at(summary, "requests.scheduled"));
    check_quantile(summary, "measures.e2e.p90_ms", 0.9, n);
    check_quantile(summary, "measures.e2e.p95_ms", 0.95, n);
    check_quantile(summary, "measures.e2e.p99_ms", 0.99, n);
    check_quantile(summary, "measures.e2e.sent.p95_ms", 0.95, n);
}

/* One client that waits for each answer meets a stall once per second, between
 * many quick answers: its median knows nothing of it, its maximum does. */
TEST(closed_loop_hides_the_stall)
{
    json_t *summary = run_on_stub(
        ARGS("stub", "--stall", "200ms", "--stall-every", "1s"),
        ARGS("run", "-c", "1", "--duration", "2500ms", "--spin", "80us"),
        tmpdir_path("closed"), 0);

    assert_string_equal(json_string_value(json_object_get(summary, "scenario")),
                        "closed");
    assert_true(number_at(summary, "measures.e2e.max_ms") > 0.9 * STALL_MS);
    assert_true(number_at(summary, "measures.e2e.p50_ms") < 0.5 * STALL_MS);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
