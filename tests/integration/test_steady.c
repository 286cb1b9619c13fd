/* A server of which more is asked than it takes: 10 ms per request, one at a
 * time.  Its timeline is ideal, so that the queue grows however fast the
 * machine is.  What is overload and what is not is decided in unit.steady. */
#include <jansson.h>
#include <string.h>

#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static char *url;
static struct proc stub;

static int start(void **state)
{
    if (tmpdir_setup(state))
        return -1;
    stub = stub_start(ARGS("stub", "--service", "fixed 10ms"), &url);
    return 0;
}

static int end(void **state)
{
    stub_stop(&stub);
    return tmpdir_teardown(state);
}

/* Each trial meets the limit of the objective, and would not for long: it is
 * overloaded, and misses its term. */
TEST(overloaded_trials_miss_their_terms)
{
    char *dir = tmpdir_path("trials");
    char *first = keepf("%s/trial-1", dir);
    struct proc_result r = proc_run(
        ARGS("run", "-v", url, "--rate", "200", "--arrival", "constant",
             "--duration", "1s", "--trials", "2", "--max-discarded", "0",
             "--settle", "0s", "--slo", "e2e p50 < 20s", "-q", "-o", dir));
    json_t *summary = load_summary(first);
    const json_t *terms = json_object_get(summary, "slo");
    json_t *set = json_load_file(keepf("%s/summary.json", dir), 0, NULL);
    const json_t *of_all = json_array_get(json_object_get(set, "slo"), 0);

    expect_as_reported(&r, dir);
    assert_true(number_at(of_all, "kept") == 0);
    assert_true(number_at(of_all, "missed") ==
                number_at(set, "trials.counted"));
    json_decref(set);
    assert_true(json_is_true(json_object_get(summary, "overloaded")));
    assert_true(json_is_true(json_object_get(json_array_get(terms, 0), "met")));
    json_decref(summary);

    /* no tier holds either */
    r = proc_run(ARGS("report", first, "--slo",
                      "gold: e2e p50 < 10s, silver: e2e p50 < 20s", "--format",
                      "json"));
    summary = json_loads(r.out, 0, NULL);
    assert_non_null(summary);
    assert_true(json_is_null(json_object_get(summary, "best_tier")));
    json_decref(summary);
}

TEST(a_closed_loop_cannot_tell)
{
    char *dir = tmpdir_path("closed");
    struct proc_result r =
        proc_run(ARGS("run", url, "-c", "3", "-n", "20", "-q", "-o", dir));
    json_t *summary;

    run_expect(&r, dir, 0);
    summary = load_summary(dir);
    assert_true(json_is_null(json_object_get(summary, "overloaded")));
    assert_non_null(
        strstr(json_string_value(json_object_get(summary, "overloaded_note")),
               "closed loop"));
}

GROUP_FIXTURE(start, end)
