/* A table of prices as a user has it: in the settings, and over recordings and
 * timings that are there already. */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/xalloc.h"
#include "tests/support/near.h"
#include "tests/support/proc.h"
#include "tests/support/tmpdir.h"

static const char settings[] = "load: {rate: 400, requests: 200}\n"
                               "stub: {service: fixed 100us}\n"
                               "slo: [e2e p50 < 10s]\n"
                               "conditions: {hardware: 2xL4}\n"
                               "cost: {prices: prices.csv, replicas: 3}\n";
static const char prices[] = "machine,usd_per_hour\nL4,0.8\nH100,4\n";
static const char timings[] = "workers,seconds,work,machine\n"
                              "1,100,1000,L4\n2,50,1000,L4\n4,25,1000,L4\n";

/* Paths of what is made once. */
static struct {
    char *file;
    char *prices;
    char *timings;
    char *l4;
    char *h100;
    char *set;
} made;

/* Whether it is believed depends on the machine; what it cost does not. */
static void record(const char *flag, const char *value, const char *dir)
{
    struct proc_result r =
        proc_run(ARGS("run", made.file, "-q", "-o", dir, flag, value));

    if (r.status != 0 && r.status != 4)
        fail_msg("exit %d: %s%s", r.status, r.out, r.err);
    proc_result_fini(&r);
}

static int make(void **state)
{
    assert_int_equal(tmpdir_setup(state), 0);
    made.file =
        xstrdup(tmpdir_write("run.yaml", settings, sizeof(settings) - 1));
    made.prices =
        xstrdup(tmpdir_write("prices.csv", prices, sizeof(prices) - 1));
    made.timings = xstrdup(tmpdir_write("t.csv", timings, sizeof(timings) - 1));
    made.l4 = xstrdup(tmpdir_path("l4"));
    made.h100 = xstrdup(tmpdir_path("h100"));
    made.set = xstrdup(tmpdir_path("set"));
    record("--seed", "1", made.l4);
    record("--label", "hardware=H100", made.h100);
    record("--trials", "2", made.set);
    return 0;
}

static int unmake(void **state)
{
    free(made.file);
    free(made.prices);
    free(made.timings);
    free(made.l4);
    free(made.h100);
    free(made.set);
    return tmpdir_teardown(state);
}

static json_t *said(const char *const *argv)
{
    struct proc_result r = proc_run(argv);
    json_t *json = json_loads(r.out, 0, NULL);

    if (!json)
        fail_msg("exit %d: %s%s", r.status, r.out, r.err);
    proc_result_fini(&r);
    return json;
}

static double usd_of(const json_t *report)
{
    return number_at(json_object_get(report, "cost"), "usd_per_hour");
}

static void refused(const char *const *argv, int status, const char *why)
{
    struct proc_result r = proc_run(argv);

    proc_expect(&r, status);
    if (!strstr(r.err, why))
        fail_msg("%s", r.err);
    proc_result_fini(&r);
}

/* The price is in the recording: the table may go. */
static void each_run_has_the_price_of_its_machine(void **state)
{
    json_t *json = said(ARGS("report", made.l4, "--json"));

    (void)state;
    assert_near(usd_of(json), 1.6, 1e-9);
    json_decref(json);
    json = said(ARGS("report", made.h100, "--json"));
    assert_near(usd_of(json), 4, 1e-9);
    json_decref(json);
}

static void prices_over_a_recording(void **state)
{
    json_t *json = said(ARGS("report", made.l4, "--json", "--prices",
                             made.prices, "--machine", "2xH100"));

    (void)state;
    assert_near(usd_of(json), 8, 1e-9);
    json_decref(json);
    refused(ARGS("report", made.l4, "--machine", "H100"), 2,
            "--machine goes with --prices");
    refused(
        ARGS("report", made.l4, "--prices", made.prices, "--usd-per-hour", "1"),
        2, "--prices: instead of --usd-per-hour");
    refused(ARGS("report", made.l4, "--prices", "/nowhere"), 3, "/nowhere");
    refused(
        ARGS("report", made.l4, "--prices", made.prices, "--machine", "TPU"), 2,
        "no price of 'TPU'");
}

static double per_thousand(const json_t *set)
{
    return number_at(json_object_get(set, "usd_per_1000_good_requests"),
                     "median");
}

static void a_set_of_trials(void **state)
{
    json_t *json = said(ARGS("report", made.set, "--json"));
    double first = per_thousand(json);

    (void)state;
    assert_true(first > 0);
    json_decref(json);
    json = said(ARGS("report", made.set, "--json", "--prices", made.prices,
                     "--machine", "8xL4"));
    assert_near(per_thousand(json) / first, 4, 1e-6);
    json_decref(json);
    json = said(ARGS("report", made.set, "--json", "--usd-per-hour", "3.2"));
    assert_near(per_thousand(json) / first, 2, 1e-6);
    json_decref(json);
}

static void a_claim_of_a_set_has_its_price(void **state)
{
    struct proc_result r = proc_run(ARGS("report", made.set, "--claim"));

    (void)state;
    if (r.status == 0) /* the machine let both be believed */
        assert_non_null(strstr(r.out, " USD per thousand good requests; "
                                      "medians over 2 trials"));
    else
        assert_non_null(strstr(r.out, "no claim: the set of trials is "));
    proc_result_fini(&r);
    refused(ARGS("report", made.set, "--claim", "--json"), 2,
            "--claim is text");
}

/* The price follows the machine, which is what varies: it is no second
 * variable. */
static void comparisons_have_the_cost(void **state)
{
    json_t *json = said(ARGS("compare", made.l4, made.h100, "--vary",
                             "hardware", "--on", "cost", "--json"));
    const json_t *differences = json_object_get(json, "differences");
    const json_t *d;
    size_t i;

    (void)state;
    json_array_foreach(differences, i, d)
    {
        const char *key = json_string_value(json_object_get(d, "key"));

        if (strncmp(key, "cost.", 5) == 0)
            assert_string_equal(json_string_value(json_object_get(d, "kind")),
                                "noted");
    }
    json_decref(json);
    refused(ARGS("compare", made.l4, made.h100, "--prices", "/nowhere"), 3,
            "/nowhere");
}

/* Of four H100 against one L4 there is no speedup. */
static void machines_are_not_mixed(void **state)
{
    static const char mixed[] = "workers,seconds,machine\n"
                                "1,100,L4\n4,5,H100\n";
    struct proc_result r = proc_run(
        ARGS("scale", tmpdir_write("mixed.csv", mixed, sizeof(mixed) - 1),
             "--strong", "--prices", made.prices));

    (void)state;
    proc_expect(&r, 4);
    assert_non_null(strstr(r.out, "K = 4 is not matched with K = 1: machine: "
                                  "L4 | H100"));
    proc_result_fini(&r);
}

static void timings_by_machine(void **state)
{
    json_t *json = said(ARGS("scale", made.timings, "--strong", "--prices",
                             made.prices, "--json"));
    const json_t *points = json_object_get(json, "points");

    (void)state;
    assert_near(number_at(json_array_get(points, 0), "usd_per_run"),
                0.8 * 100 / 3600, 1e-9);
    assert_near(number_at(json_array_get(points, 2), "usd_per_run"),
                4 * 0.8 * 25 / 3600, 1e-9);
    json_decref(json);
    refused(ARGS("scale", made.timings, "--strong"), 2,
            "t.csv:2: machine: 'L4' has its price in a table; which?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_run_has_the_price_of_its_machine),
        cmocka_unit_test(prices_over_a_recording),
        cmocka_unit_test(a_set_of_trials),
        cmocka_unit_test(a_claim_of_a_set_has_its_price),
        cmocka_unit_test(comparisons_have_the_cost),
        cmocka_unit_test(timings_by_machine),
        cmocka_unit_test(machines_are_not_mixed),
    };

    return cmocka_run_group_tests(tests, make, unmake);
}
