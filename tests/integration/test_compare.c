/* Verdicts and exit codes of `compare`, on recordings made by hand, and once on
 * real ones. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/xalloc.h"
#include "tests/support/compared.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/sided.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* What most tests compare: the same twice, and one that is twice as slow. */
static char *base;
static char *same;
static char *slow;
static char *base_set;
static char *same_set;
static char *slow_set;

static int make_all(void **state)
{
    const struct sided a = {.e2e_ms = 10, .spread_ms = 2, .seed = 1};
    const struct sided b = {.e2e_ms = 10, .spread_ms = 2, .seed = 100};
    const struct sided c = {
        .e2e_ms = 20, .spread_ms = 4, .seed = 200, .batching = "dynamic"};

    assert_int_equal(tmpdir_setup(state), 0);
    base = sided_write("base", &a);
    same = sided_write("same", &b);
    slow = sided_write("slow", &c);
    base_set = sided_write_trials("base-set", &a, 5);
    same_set = sided_write_trials("same-set", &b, 5);
    slow_set = sided_write_trials("slow-set", &c, 5);
    return 0;
}

TEST(conditions_that_differ_are_refused_and_listed)
{
    struct proc_result r = proc_run(ARGS("compare", "-v", base, slow));
    json_t *json;

    proc_expect(&r, 4);
    assert_non_null(strstr(r.out, "REFUSED: 1 condition "));
    assert_non_null(strstr(r.out, "conditions.batching"));
    assert_non_null(strstr(r.out, " (none) "));
    assert_non_null(strstr(r.out, " dynamic "));
    assert_null(strstr(r.out, "interval"));
    json = compare_json(ARGS("compare", base, slow, "--json"), 4);
    assert_string_equal(text_at(json, "verdict"), "refused");
    assert_int_equal(json_array_size(json_object_get(json, "findings")), 0);
}

TEST(the_declared_variable_is_compared)
{
    json_t *json = compare_json(
        ARGS("compare", base, slow, "--vary", "batching", "--json"), 1);
    const json_t *f = finding_of(json, "e2e p99");

    assert_string_equal(text_at(json, "verdict"), "worse");
    assert_string_equal(text_at(json, "over"), "blocks");
    assert_string_equal(text_at(f, "verdict"), "worse");
    assert_true(number_at(f, "ratio") > 1.8 && number_at(f, "ratio") < 2.2);
    assert_non_null(strstr(text_at(json, "claim"), "conditions.batching"));
    assert_string_equal(text_at(finding_of(json, "completed"), "verdict"),
                        "no difference shown");
    assert_string_equal(text_at(finding_of(json, "quality"), "note"),
                        "not measured");
}

/* A sentence to quote names the SLO that was used. */
TEST(a_claim_has_its_slo)
{
    json_t *json =
        compare_json(ARGS("compare", base, slow, "--vary", "batching", "--slo",
                          "e2e p99 < 7ms", "--on", "e2e p99", "--json"),
                     1);

    assert_non_null(strstr(text_at(json, "claim"), "SLO e2e p99 < 7ms"));
}

/* The numbers of a side are those of its report. */
TEST(values_are_those_of_the_report)
{
    static const char *const same_as[][2] = {
        {"completed", "completed_rps"},     {"goodput", "goodput_rps"},
        {"throughput", "throughput_rps"},   {"attainment", "attainment"},
        {"e2e p50", "measures.e2e.p50_ms"}, {"e2e p90", "measures.e2e.p90_ms"},
        {"e2e p99", "measures.e2e.p99_ms"},
    };
    const struct sided of = {.e2e_ms = 10,
                             .spread_ms = 5,
                             .failed_every = 150,
                             .slo = "e2e p50 < 15ms"};
    char *dir = sided_write("judged-too", &of);
    json_t *compared = compare_json(ARGS("compare", dir, dir, "--json"), 0);
    json_t *report = compare_json(ARGS("report", dir, "--format", "json"), 0);

    for (size_t i = 0; i < sizeof(same_as) / sizeof(same_as[0]); i++) {
        double a = number_at(finding_of(compared, same_as[i][0]), "a");
        double b = number_at(report, same_as[i][1]);

        if (a - b > 1e-9 * b || b - a > 1e-9 * b)
            fail_msg("%s: %.10g, not %.10g", same_as[i][0], a, b);
    }
}

TEST(two_variables_are_one_too_many)
{
    struct proc_result r = proc_run(ARGS("compare", base, slow, "--vary",
                                         "batching", "--vary", "load.rate"));

    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "--vary takes one variable"));
    r = proc_run(ARGS("compare", base, slow, "--vary", "nothing"));
    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "--label nothing=VALUE"));
    r = proc_run(ARGS("compare", base, slow, "--vary", "rate"));
    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "did you mean the setting 'load.rate'? To "
                                  "make it a condition, label each run with "
                                  "--label rate=VALUE"));
}

/* Everything twice: over blocks of single runs, and over trials. */
TEST(verdict_and_exit_code)
{
    const struct {
        const char *a;
        const char *b;
        const char *verdict;
        int status;
    } cases[] = {
        {base, base, "no difference shown", 0},
        {base, same, "no difference shown", 0},
        {base, slow, "worse", 1},
        {slow, base, "better", 0},
        {base_set, same_set, "no difference shown", 0},
        {base_set, slow_set, "worse", 1},
        {slow_set, base_set, "better", 0},
        {base, slow_set, "cannot tell", 4},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        /* where none has the condition there is nothing to declare */
        const char *vary =
            strstr(cases[i].a, "slow") || strstr(cases[i].b, "slow")
                ? "batching"
                : "load.rate";
        json_t *json =
            compare_json(ARGS("compare", cases[i].a, cases[i].b, "--vary", vary,
                              "--on", "e2e p99", "--json"),
                         cases[i].status);

        if (strcmp(text_at(json, "verdict"), cases[i].verdict) != 0)
            fail_msg("case %zu: %s", i, text_at(json, "verdict"));
    }
}

TEST(a_regression_has_three_answers)
{
    const struct sided a_bit = {.e2e_ms = 10.4, .spread_ms = 2, .seed = 300};
    char *little = sided_write("a-bit", &a_bit);
    const struct {
        const char *b;
        const char *threshold;
        int status;
        const char *verdict;
    } cases[] = {
        {slow, "5%", 1, "WORSE: "},
        {little, "10%", 0, "WORSE, WITHIN THE THRESHOLD: "},
        {little, "0.1%", 1, "WORSE: "},
        {same, "10%", 0, "NO DIFFERENCE SHOWN: "},
        /* no worse than not at all cannot be shown */
        {same, "0", 4, "CANNOT TELL: "},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *vary =
            strstr(cases[i].b, "slow") ? "batching" : "load.rate";
        struct proc_result r = proc_run(
            ARGS("compare", "-v", base, cases[i].b, "--vary", vary, "--on",
                 "e2e p50", "--regression", cases[i].threshold));

        if (r.status != cases[i].status)
            print_error("case %zu\n", i);
        proc_expect(&r, cases[i].status);
        assert_non_null(strstr(r.out, "worse by more than"));
        assert_non_null(strstr(r.out, cases[i].verdict));
    }
}

/* Ten seconds that are slow: nine of them in the window. */
TEST(a_warm_up_that_is_too_short_is_unfair)
{
    const struct sided cold = {
        .e2e_ms = 10, .spread_ms = 2, .seed = 400, .cold_ms = 20};
    char *dir = sided_write("cold", &cold);
    struct proc_result r =
        proc_run(ARGS("compare", "-v", base, dir, "--vary", "load.rate"));

    assert_non_null(strstr(r.out, "  failed   warm-up"));
    assert_non_null(strstr(r.out, "warm-up that the reports suggest"));
    r = proc_run(ARGS("compare", "-v", base, same, "--vary", "load.rate"));
    assert_null(strstr(r.out, "  failed   warm-up"));
}

TEST(what_is_too_small_has_no_number)
{
    const struct sided few = {.n = 400, .e2e_ms = 10, .seed = 1};
    char *small = sided_write("small", &few);
    json_t *json = compare_json(
        ARGS("compare", small, small, "--on", "e2e p99", "--json"), 4);
    const json_t *f = finding_of(json, "e2e p99");

    assert_string_equal(text_at(json, "verdict"), "cannot tell");
    assert_true(json_is_null(json_object_get(f, "ratio_interval")));
    assert_non_null(strstr(text_at(f, "note"), "n too small"));
}

/* Four trials a side are one too few. */
TEST(few_trials_have_no_interval)
{
    const struct sided a = {.n = 400, .e2e_ms = 10, .seed = 1};
    char *four = sided_write_trials("four", &a, 4);
    json_t *json = compare_json(ARGS("compare", four, four, "--json"), 4);

    assert_string_equal(text_at(finding_of(json, "e2e p99"), "note"),
                        "n too small: at least 5 trials per side are needed");
}

TEST(what_may_not_be_believed_is_not_compared)
{
    const struct {
        const char *name;
        struct sided of;
        const char *why;
    } cases[] = {
        {"late", {.e2e_ms = 10, .lag_ms = 5}, "invalid: lag"},
        {"killed", {.e2e_ms = 10, .was_killed = 1}, "killed before its end"},
        {"grows", {.e2e_ms = 10, .growth_ms = 5000}, "overloaded"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *dir = sided_write(cases[i].name, &cases[i].of);
        struct proc_result r = proc_run(ARGS("compare", "-v", dir, dir));

        proc_expect(&r, 4);
        assert_non_null(strstr(r.out, "CANNOT TELL"));
        assert_non_null(strstr(r.err, " are one directory: "));
        if (!strstr(r.out, cases[i].why))
            fail_msg("%s: %s", cases[i].name, r.out);
    }
}

TEST(what_is_cut_off_is_not_compared)
{
    const struct sided a = {.e2e_ms = 10, .spread_ms = 2};
    char *dir = sided_write("cut", &a);
    char *rows = keepf("%s/requests.tgr", dir);
    struct proc_result r;
    struct stat st;

    assert_int_equal(stat(rows, &st), 0);
    assert_int_equal(truncate(rows, st.st_size / 2), 0);
    r = proc_run(ARGS("compare", "-v", base, dir));
    proc_expect(&r, 4);
    assert_non_null(strstr(r.out, "/cut: not compared: damaged: "));
}

/* A comparison needs measurements, not verdicts. */
TEST(undecided_runs_are_compared)
{
    const struct sided a = {
        .e2e_ms = 10, .spread_ms = 2, .seed = 7, .slo = "e2e p99.99 < 1s"};
    const struct sided b = {
        .e2e_ms = 20, .spread_ms = 4, .seed = 8, .slo = "e2e p99.99 < 1s"};
    char *one = sided_write("undecided-a", &a);
    char *other = sided_write("undecided-b", &b);
    struct proc_result r = proc_run(ARGS("report", "-v", one));

    proc_expect(&r, 4);
    r = proc_run(ARGS("compare", "-v", one, other, "--on", "e2e p50"));
    proc_expect(&r, 1);
    assert_non_null(strstr(r.out, "WORSE: "));
}

/* The first sixth is slow: 46 % of the planned third, 15 % of the window. */
TEST(the_planned_window_is_compared)
{
    const struct sided a = {.e2e_ms = 10,
                            .spread_ms = 2,
                            .seed = 7,
                            .cold_ms = 30,
                            .planned = 1.0 / 3};
    char *dir = sided_write("went-on", &a);
    json_t *json =
        compare_json(ARGS("compare", dir, dir, "--on", "e2e p70", "--json"), 0);
    const json_t *f = finding_of(json, "e2e p70");

    assert_true(number_at(f, "a") > 40 && number_at(f, "a") < 45);
}

/* Trials that cannot be trusted are left out, and listed.  If too few others
 * remain, the set is not compared. */
TEST(trials_that_cannot_be_trusted_are_discarded)
{
    const struct sided good = {.e2e_ms = 10, .spread_ms = 2, .seed = 300};
    const struct sided cut = {
        .e2e_ms = 40, .spread_ms = 2, .seed = 400, .was_killed = 1};
    char *set = sided_write_trials("some-cut", &good, 5);
    json_t *json;
    struct proc_result r;

    sided_write("some-cut/trial-6", &cut);
    sided_write("some-cut/trial-7", &cut);
    json = compare_json(
        ARGS("compare", base_set, set, "--regression", "10%", "--json"), 0);
    assert_true(number_at(json_array_get(json_object_get(json, "sides"), 1),
                          "trials") == 5);
    json_decref(json);
    r = proc_run(ARGS("compare", "-v", base_set, set, "--regression", "10%"));
    proc_expect(&r, 0);
    assert_non_null(
        strstr(r.out, "some-cut/trial-6: discarded: killed before its end"));

    set = sided_write_trials("all-cut", &cut, 5);
    r = proc_run(ARGS("compare", "-v", base_set, set));
    proc_expect(&r, 4);
    assert_non_null(strstr(r.out, ": too few of its trials can be trusted"));
}

TEST(an_open_loop_is_not_compared_with_a_closed_one)
{
    const struct sided a = {.e2e_ms = 10, .spread_ms = 2, .is_closed = 1};
    char *closed = sided_write("closed", &a);
    struct proc_result r = proc_run(ARGS("compare", "-v", base, closed));

    proc_expect(&r, 4);
    assert_non_null(strstr(r.out, "load.scenario"));
    assert_non_null(strstr(r.out, "failed   regime"));
}

TEST(another_objective_is_for_both)
{
    const struct sided with = {
        .e2e_ms = 10, .spread_ms = 2, .seed = 5, .slo = "e2e p99 < 1s"};
    char *judged = sided_write("judged", &with);
    struct proc_result r = proc_run(ARGS("compare", "-v", base, judged));

    proc_expect(&r, 4);
    assert_non_null(strstr(r.out, "means something else; --slo judges all "
                                  "sides alike"));
    r = proc_run(
        ARGS("compare", "-v", base, judged, "--slo", "e2e p90 < 15ms"));
    proc_expect(&r, 0);
    assert_non_null(strstr(r.out, "e2e p90: no difference shown"));
}

TEST(several_are_ranked)
{
    const struct sided middle = {
        .e2e_ms = 15, .spread_ms = 2, .seed = 7, .batching = "static"};
    char *third = sided_write("middle", &middle);
    json_t *json =
        compare_json(ARGS("compare", slow, same, third, base, "--vary",
                          "batching", "--on", "e2e p99", "--json"),
                     0);
    const json_t *ranking =
        json_array_get(json_object_get(json, "rankings"), 0);
    const json_t *places = json_object_get(ranking, "places");
    static const double ranks[] = {1, 1, 3, 4};

    assert_string_equal(text_at(json, "verdict"), "ranked");
    assert_int_equal(json_array_size(places), 4);
    for (size_t i = 0; i < 4; i++)
        assert_true(number_at(json_array_get(places, i), "rank") == ranks[i]);
    assert_string_equal(text_at(json_array_get(places, 2), "side"), "C");
    assert_string_equal(text_at(json_array_get(places, 3), "side"), "A");
}

TEST(quality_that_differs_is_unfair)
{
    const struct sided a = {.e2e_ms = 10, .wrong_every = 100, .seed = 1};
    const struct sided b = {.e2e_ms = 10, .wrong_every = 10, .seed = 2};
    char *right = sided_write("right", &a);
    char *wrong = sided_write("wrong", &b);
    struct proc_result r = proc_run(ARGS("compare", "-v", right, wrong));

    proc_expect(&r, 0);
    assert_non_null(strstr(r.out, "failed   quality"));
}

TEST(damage_is_one_clear_line)
{
    struct proc_result r;
    char *empty = tmpdir_path("empty");
    char *foreign = tmpdir_path("foreign");
    char *manifest = keepf("%s/manifest.json", foreign);
    FILE *file;

    assert_int_equal(mkdir(empty, 0777), 0);
    assert_int_equal(mkdir(foreign, 0777), 0);
    file = fopen(manifest, "w");
    assert_non_null(file);
    fputs("{\"schema\": 99}", file);
    fclose(file);
    r = proc_run(ARGS("compare", base, empty));
    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "empty: not a recording (no manifest.json)"));
    assert_string_equal(r.out, "");
    r = proc_run(ARGS("compare", foreign, base));
    proc_expect(&r, 3);
    assert_non_null(
        strstr(r.err, "unknown schema 99; this tailgate reads schema 1"));
    r = proc_run(ARGS("compare", base));
    proc_expect(&r, 2);
}

/* ---- a real pair ---- */

/* What a comparison of real runs says depends on the machine; its exit status
 * is that of its verdict. */
TEST(real_runs_are_compared)
{
    static const char *const service[] = {"fixed 2ms", "fixed 8ms"};
    static const struct {
        const char *verdict;
        int status;
    } rows[] = {{"worse", 1},
                {"better", 0},
                {"no difference shown", 0},
                {"cannot tell", 4}};
    const char *verdict;
    char *dirs[2];
    struct proc_result r;
    json_t *json;
    int status = -1;

    for (int i = 0; i < 2; i++) {
        char *url;
        struct proc stub = stub_start(ARGS("stub", "--port", "0", "--service",
                                           service[i], "--max-running", "8"),
                                      &url);

        dirs[i] = xstrdup(tmpdir_path(i ? "real-b" : "real-a"));
        r = proc_run(ARGS("run", url, "--scenario", "single-stream",
                          "--requests", "100", "--warmup", "100ms", "-q", "-o",
                          dirs[i]));
        run_expect(&r, dirs[i], 0);
        stub_stop(&stub);
    }
    r = proc_run(
        ARGS("compare", dirs[0], dirs[1], "--on", "service p50", "--json"));
    json = json_loads(r.out, 0, NULL);
    assert_non_null(json);
    verdict = text_at(json, "verdict");
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++)
        if (strcmp(rows[k].verdict, verdict) == 0)
            status = rows[k].status;
    proc_expect(&r, status);
    json_decref(json);
    free(dirs[0]);
    free(dirs[1]);
}

GROUP_FIXTURE(make_all, tmpdir_teardown)
