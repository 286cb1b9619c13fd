/* A table of prices as a user has it: in the settings, and over recordings and
 * timings that are there already. */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"
#include "tests/support/keep.h"
#include "tests/support/near.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
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
    run_as_reported(ARGS("run", made.file, "-q", "-o", dir, flag, value));
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
}

/* The price is in the recording: the table may go. */
TEST(each_run_has_the_price_of_its_machine)
{
    json_t *json = said(ARGS("report", made.l4, "--json"));

    assert_near(usd_of(json), 1.6, 1e-9);
    json_decref(json);
    json = said(ARGS("report", made.h100, "--json"));
    assert_near(usd_of(json), 4, 1e-9);
    json_decref(json);
}

TEST(prices_over_a_recording)
{
    json_t *json = said(ARGS("report", made.l4, "--json", "--prices",
                             made.prices, "--machine", "2xH100"));

    assert_near(usd_of(json), 8, 1e-9);
    json_decref(json);
    refused(ARGS("report", made.l4, "--machine", "H100"), 2,
            "--machine requires --prices");
    refused(
        ARGS("report", made.l4, "--prices", made.prices, "--usd-per-hour", "1"),
        2, "--prices cannot be combined with --usd-per-hour");
    refused(ARGS("report", made.l4, "--prices", "/nowhere"), 2, "/nowhere");
    refused(
        ARGS("report", made.l4, "--prices", made.prices, "--machine", "TPU"), 2,
        "no price for 'TPU'");
}

static double per_thousand(const json_t *set)
{
    return number_at(json_object_get(set, "usd_per_1000_good_requests"),
                     "median");
}

TEST(a_set_of_trials)
{
    json_t *json = said(ARGS("report", made.set, "--json"));
    double first = per_thousand(json);

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

TEST(a_claim_of_a_set_has_its_price)
{
    json_t *json = said(ARGS("report", made.set, "--json"));
    double counted = number_at(json, "trials.counted");
    const char *verdict = json_string_value(json_object_get(json, "verdict"));
    struct proc_result r = proc_run(ARGS("report", made.set, "--claim"));

    /* The machine decides whether the trials are believed, and how many of them
     * are made again. */
    if (counted >= 2 && strcmp(verdict, "invalid") != 0)
        assert_non_null(
            strstr(r.out, keepf(" USD per thousand good requests at 4.8 "
                                "USD/hour; medians over %g trials ",
                                counted)));
    else
        assert_non_null(strstr(r.out, "no claim: the set of trials is "));
    json_decref(json);
    refused(ARGS("report", made.set, "--claim", "--json"), 2,
            "--claim requires --format text");
    refused(ARGS("report", made.set, "--claim", "--energy-file", "/nowhere"), 2,
            "a single trial has one: tailgate report");
    refused(ARGS("report", made.set, "--claim", "--slo", "a/e2e p50 < 1us"), 2,
            "a class can only be judged for one trial");
}

/* Of a thousand good requests, at the first point of a study; NAN: its run is
 * not believed. */
static double first_price(const char *const *argv, bool is_sweep)
{
    json_t *json = said(argv);
    const json_t *at = json_array_get(
        json_object_get(json, is_sweep ? "values" : "variants"), 0);
    const json_t *usd;
    double price;

    if (!is_sweep)
        at = json_array_get(json_object_get(at, "points"), 0);
    usd = json_object_get(at, is_sweep ? "usd_per_1000_good_requests"
                                       : "usd_per_1000_good");
    price = json_is_number(usd) ? json_number_value(usd) : NAN;
    json_decref(json);
    return price;
}

/* One machine is 1.6 USD an hour, or 4 in its place. */
static void expect_priced(const char *dir, bool is_sweep)
{
    double own = first_price(ARGS("report", dir, "--json"), is_sweep);
    double other = first_price(ARGS("report", dir, "--json", "--prices",
                                    made.prices, "--machine", "H100"),
                               is_sweep);

    assert_true(isnan(own) || own > 0);
    if (!isnan(own))
        assert_near(other / own, 2.5, 1e-6);
    refused(ARGS("report", dir, "--co2-g-per-kwh", "400"), 2,
            is_sweep ? "/sweep/point-1\n" : "/study/a/trial-1\n");
}

/* Is the run at a value of the sweep believed? */
static bool has_price(const char *sweep)
{
    json_t *json = said(ARGS("report", sweep, "--json"));
    const json_t *at;
    bool found = false;
    size_t i;

    json_array_foreach(json_object_get(json, "values"), i, at)
    {
        found |=
            json_is_number(json_object_get(at, "usd_per_1000_good_requests"));
    }
    json_decref(json);
    return found;
}

TEST(sweeps_and_variants)
{
    static const char two[] =
        "load: {rate: 400, requests: 100}\nslo: [e2e p50 < 10s]\n"
        "conditions: {hardware: 2xL4}\ncost: {prices: prices.csv}\n"
        "variants: [{name: a, stub: {service: fixed 100us}},\n"
        "           {name: b, stub: {service: fixed 200us}}]\n";
    char *file = tmpdir_write("two.yaml", two, sizeof(two) - 1);
    char *sweep = tmpdir_path("sweep");
    char *study = tmpdir_path("study");
    struct proc_result r =
        proc_run(ARGS("sweep", "-v", made.file, "--rates", "200,400", "-n",
                      "100", "-q", "-o", sweep));

    expect_as_reported(&r, sweep);
    assert_int_equal(strstr(r.out, " per 1000 good requests") != NULL,
                     has_price(sweep));
    expect_priced(sweep, true);
    r = proc_run(ARGS("run", "-v", file, "-q", "-o", study));
    expect_as_reported(&r, study);
    expect_priced(study, false);
    refused(ARGS("report", "-v", made.set, "--co2-g-per-kwh", "400"), 2,
            "/set/trial-1\n");
}

/* The one with this name; NULL: there is none. */
static const json_t *named(const json_t *list, const char *key,
                           const char *name)
{
    const json_t *o;
    size_t i;

    json_array_foreach(list, i, o)
    {
        if (strcmp(json_string_value(json_object_get(o, key)), name) == 0)
            return o;
    }
    return NULL;
}

/* The price follows the machine, which is what varies: it is no second
 * variable.  The same load, all of it good, costs what the hour does: 4 USD
 * against 1.6. */
TEST(comparisons_have_the_cost)
{
    json_t *json = said(ARGS("compare", made.l4, made.h100, "--vary",
                             "hardware", "--on", "cost", "--json"));
    const json_t *price =
        named(json_object_get(json, "differences"), "key", "cost.usd_per_hour");
    const json_t *cost =
        named(json_object_get(json, "findings"), "quantity", "cost");
    const char *verdict = json_string_value(json_object_get(json, "verdict"));

    assert_non_null(price);
    assert_string_equal(json_string_value(json_object_get(price, "kind")),
                        "noted");
    assert_string_not_equal(verdict, "refused");
    if (strcmp(verdict, "cannot tell") != 0) { /* both are believed */
        assert_non_null(cost);
        assert_near(number_at(cost, "ratio"), 2.5, 0.05);
    }
    json_decref(json);
    refused(ARGS("compare", made.l4, made.h100, "--prices", "/nowhere"), 2,
            "/nowhere");
}

/* Of four H100 against one L4 there is no speedup. */
TEST(machines_are_not_mixed)
{
    static const char mixed[] = "workers,seconds,machine\n"
                                "1,100,L4\n4,5,H100\n";
    struct proc_result r = proc_run(
        ARGS("scale", "-v", tmpdir_write("mixed.csv", mixed, sizeof(mixed) - 1),
             "--strong", "--prices", made.prices));

    proc_expect(&r, 4);
    assert_non_null(strstr(r.out, "K = 4 does not match K = 1: machine: "
                                  "L4 | H100"));
}

TEST(timings_by_machine)
{
    json_t *json = said(ARGS("scale", made.timings, "--strong", "--prices",
                             made.prices, "--json"));
    const json_t *points = json_object_get(json, "points");

    assert_near(number_at(json_array_get(points, 0), "usd_per_run"),
                0.8 * 100 / 3600, 1e-9);
    assert_near(number_at(json_array_get(points, 2), "usd_per_run"),
                4 * 0.8 * 25 / 3600, 1e-9);
    json_decref(json);
    refused(ARGS("scale", made.timings, "--strong"), 2,
            "t.csv:2: machine 'L4' requires a price table (--prices)");
}

static const char *timed(const char *csv)
{
    return tmpdir_write("timed.csv", csv, strlen(csv));
}

/* What the reader says stands over the column; and is never passed over. */
TEST(timings_of_the_machine_that_is_asked_for)
{
    json_t *json = said(ARGS("scale", made.timings, "--strong", "--prices",
                             made.prices, "--machine", "H100", "--json"));
    const json_t *points = json_object_get(json, "points");

    assert_near(number_at(json_array_get(points, 1), "usd_per_run"),
                2 * 4.0 * 50 / 3600, 1e-9);
    json_decref(json);
    refused(ARGS("scale", timed("workers,seconds,usd_per_hour\n1,9,3\n"),
                 "--strong", "--prices", made.prices, "--machine", "L4"),
            2, "timed.csv:2: machine cannot be combined with usd_per_hour");
    refused(ARGS("scale", timed("workers,seconds\n1,9\n"), "--strong",
                 "--prices", made.prices),
            2, "prices require a machine (column 'machine', or --machine)");
    refused(ARGS("scale", made.timings, "--strong", "--prices", made.prices,
                 "--usd-per-hour", "1"),
            2, "--prices cannot be combined with --usd-per-hour");
}

static double usd_of_rerun(const char *name, const char *const *flags)
{
    char *dir = tmpdir_path(name);
    const char *argv[16] = {"tailgate", "rerun", made.l4, "-q", "-o", dir};
    json_t *json;
    double usd;

    for (size_t i = 0; flags[i]; i++)
        argv[6 + i] = flags[i];
    run_as_reported(argv);
    json = said(ARGS("report", dir, "--json"));
    usd = usd_of(json);
    json_decref(json);
    return usd;
}

/* The price that was recorded is that of the machine of then. */
TEST(a_rerun_has_the_price_of_its_machine)
{
    json_t *json;

    assert_near(usd_of_rerun("re1", (const char *[]){NULL}), 1.6, 1e-9);
    assert_near(
        usd_of_rerun("re2", (const char *[]){"--prices", made.prices, "--label",
                                             "hardware=H100", NULL}),
        4, 1e-9);
    assert_near(
        usd_of_rerun("re3", (const char *[]){"--machine", "H100",
                                             "--usd-per-hour", "5", NULL}),
        5, 1e-9);
    json = said(
        ARGS("report", tmpdir_path("re2"), "--json", "--prices", made.prices));
    assert_near(usd_of(json), 4, 1e-9);
    json_decref(json);
    refused(ARGS("rerun", made.l4, "-q", "--machine", "H100"), 2,
            "the recorded price is for machine '2xL4', not 'H100'");
    refused(ARGS("rerun", made.l4, "-q", "--label", "hardware=H100"), 2,
            "the recorded price is for machine '2xL4', not 'H100'");
    refused(ARGS("rerun", made.l4, "-q", "--prices", made.prices,
                 "--usd-per-hour", "1"),
            2, "--prices cannot be combined with --usd-per-hour");
}

GROUP_FIXTURE(make, unmake)
