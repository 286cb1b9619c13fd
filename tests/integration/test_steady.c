/* A server of which is asked more than it takes, and less: 10 ms a request, one
 * at a time.  Its timeline is ideal, so that 20 more a second stay at 120/s
 * however fast the machine is. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/xalloc.h"
#include "tests/support/proc.h"
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
    free(url);
    return tmpdir_teardown(state);
}

/* Even arrivals; the objective itself is kept at either rate. */
static void check_run(const char *rate, bool is_over)
{
    char *dir = xstrdup(tmpdir_path(rate));
    struct proc_result r = proc_run(ARGS(
        "run", url, "--rate", rate, "--arrival", "constant", "--duration", "5s",
        "--warmup", "1s", "--slo", "e2e p50 < 20s", "-q", "-o", dir));
    json_t *summary;
    const json_t *terms;

    run_expect(&r, dir, is_over ? 1 : 0);
    summary = load_summary(dir);
    terms = json_object_get(summary, "slo");
    assert_true(json_is_boolean(json_object_get(summary, "overloaded")));
    assert_int_equal(json_is_true(json_object_get(summary, "overloaded")),
                     is_over);
    assert_true(json_is_true(json_object_get(json_array_get(terms, 0), "met")));
    assert_int_equal(strstr(r.out, "OVERLOADED") != NULL, is_over);
    json_decref(summary);
    proc_result_fini(&r);
    free(dir);
}

/* No tier holds where none will. */
static void check_tiers(const char *rate)
{
    struct proc_result r = proc_run(
        ARGS("report", tmpdir_path(rate), "--slo",
             "gold: e2e p50 < 10s, silver: e2e p50 < 20s", "--format", "json"));
    json_t *json = json_loads(r.out, 0, NULL);

    assert_non_null(json);
    assert_true(json_is_null(json_object_get(json, "best_tier")));
    json_decref(json);
    proc_result_fini(&r);
}

static void more_than_it_takes_is_overload(void **state)
{
    (void)state;
    check_run("120", true);
    check_tiers("120");
}

static void half_of_it_is_not(void **state)
{
    (void)state;
    check_run("50", false);
}

/* Each keeps the limit, and would not for long. */
static void overloaded_trials_miss_their_terms(void **state)
{
    char *dir = xstrdup(tmpdir_path("trials"));
    struct proc_result r = proc_run(
        ARGS("run", url, "--rate", "200", "--arrival", "constant", "--duration",
             "2s", "--trials", "2", "--slo", "e2e p50 < 20s", "-q", "-o", dir));

    (void)state;
    assert_true(r.status == 1 || r.status == 4); /* the machine was busy */
    assert_non_null(strstr(r.out, "0 of 2 trials keep it, 2 miss it"));
    proc_result_fini(&r);
    free(dir);
}

static void a_closed_loop_cannot_tell(void **state)
{
    char *dir = xstrdup(tmpdir_path("closed"));
    struct proc_result r =
        proc_run(ARGS("run", url, "-c", "3", "-n", "100", "-q", "-o", dir));
    json_t *summary;

    (void)state;
    run_expect(&r, dir, 0);
    summary = load_summary(dir);
    assert_true(json_is_null(json_object_get(summary, "overloaded")));
    assert_non_null(
        strstr(json_string_value(json_object_get(summary, "overloaded_note")),
               "closed loop"));
    json_decref(summary);
    proc_result_fini(&r);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_than_it_takes_is_overload),
        cmocka_unit_test(half_of_it_is_not),
        cmocka_unit_test(overloaded_trials_miss_their_terms),
        cmocka_unit_test(a_closed_loop_cannot_tell),
    };

    return cmocka_run_group_tests_name("steady", tests, start, end);
}
