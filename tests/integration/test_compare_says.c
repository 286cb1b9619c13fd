/* What `compare` says in addition to its verdict: over what, of what is rare,
 * and that its text and its JSON have the same numbers. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/err.h"
#include "common/recording/study_set.h"
#include "tests/support/compared.h"
#include "tests/support/proc.h"
#include "tests/support/sided.h"
#include "tests/support/strangers.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* The same twice, and one that is twice as slow. */
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

/* ---- pairs ---- */

static void write_study(const char *dir, const char *against, int64_t n)
{
    struct study_set set = {
        .asked = n, .recorded = n, .launched_by = LAUNCHED_STUB};
    struct err err = {0};

    for (int64_t i = 0; i < n; i++)
        study_set_add(&set, POINT_TRIAL, 0)->is_recorded = true;
    snprintf(set.against, sizeof(set.against), "%s", against);
    assert_int_equal(study_set_save(&set, dir, &err), 0);
    study_set_fini(&set);
}

/* As `run --against` leaves them: name/a and name/b. */
static void write_turns(const char *name, size_t n_b, char *dirs[static 2])
{
    const struct sided a = {.n = 1000, .e2e_ms = 10, .spread_ms = 2, .seed = 1};
    const struct sided b = {
        .n = 1000, .e2e_ms = 12, .spread_ms = 2, .seed = 50};
    char path[80];

    assert_int_equal(mkdir(tmpdir_path(name), 0777), 0);
    snprintf(path, sizeof(path), "%s/a", name);
    dirs[0] = sided_write_trials(path, &a, 5);
    snprintf(path, sizeof(path), "%s/b", name);
    dirs[1] = sided_write_trials(path, &b, n_b);
    write_study(dirs[0], "../b", 5);
    write_study(dirs[1], "../a", (int64_t)n_b);
}

static void assert_over(const char *a, const char *b, const char *over)
{
    json_t *json =
        compare_json(ARGS("compare", a, b, "--on", "e2e p90", "--json"), 1);

    assert_string_equal(text_at(json, "over"), over);
}

TEST(sets_that_took_turns_are_pairs)
{
    char *even[2];
    char *odd[2];
    struct proc_result r;

    write_turns("even", 5, even);
    write_turns("odd", 6, odd);
    assert_over(even[0], even[1], "pairs");
    assert_over(odd[0], odd[1], "trials");  /* one has no other */
    assert_over(even[0], odd[1], "trials"); /* of another study */
    r = proc_run(ARGS("compare", "-v", even[0], even[1], "--on", "e2e p90"));
    proc_expect(&r, 1);
    assert_non_null(
        strstr(r.out, "over       pairs of trials that took turns"));
    assert_non_null(strstr(r.out, "; 5 pairs of trials in turn"));
    for (int i = 0; i < 2; i++) {
        free(even[i]);
        free(odd[i]);
    }
}

/* ---- what is rare ---- */

/* 6000 requests without an error: 0.06 % may have been missed. */
TEST(no_errors_are_bounded)
{
    static const struct {
        const char *threshold;
        int status;
    } cases[] = {{"5%", 0}, {"0.1%", 0}, {"0.01%", 4}};
    const json_t *ends;
    json_t *json;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct proc_result r =
            proc_run(ARGS("compare", base, same, "--on", "errors",
                          "--regression", cases[i].threshold));

        proc_expect(&r, cases[i].status);
    }
    json = compare_json(ARGS("compare", base, same, "--json"), 0);
    ends = json_object_get(finding_of(json, "errors"), "difference_interval");
    assert_true(json_number_value(json_array_get(ends, 0)) < -0.0006);
    assert_true(json_number_value(json_array_get(ends, 1)) > 0.0006);
}

TEST(tokens_are_compared_where_somebody_counts)
{
    const struct sided a = {
        .e2e_ms = 10, .spread_ms = 2, .seed = 1, .tokens = 100};
    const struct sided b = {
        .e2e_ms = 10, .spread_ms = 2, .seed = 2, .tokens = 80};
    char *more = sided_write("tokens-100", &a);
    char *fewer = sided_write("tokens-80", &b);
    json_t *json = compare_json(
        ARGS("compare", more, fewer, "--on", "tokens", "--json"), 1);
    const json_t *f = finding_of(json, "tokens");

    assert_string_equal(text_at(f, "unit"), "tokens/s");
    assert_true(number_at(f, "ratio") > 0.79 && number_at(f, "ratio") < 0.81);
    assert_true(number_at(f, "a") > 9900 && number_at(f, "a") < 10100);
    json = compare_json(ARGS("compare", base, same, "--on", "tokens", "--json"),
                        4);
    assert_string_equal(text_at(finding_of(json, "tokens"), "note"),
                        "not measured");
}

/* ---- text and JSON ---- */

TEST(text_and_json_have_the_same_numbers)
{
    static const char *const names[] = {
        "at most 5%",  "each at 95% on", "20 blocks", "--trials 5",
        "at least 5 ", "127.0.0.1:1",    NULL};
    /* the words of each end with NULL; one is left for -v or --json */
    const char *cases[][10] = {
        {"tailgate", "compare", base, same, "--regression", "5%"},
        {"tailgate", "compare", base, slow, "--vary", "batching"},
        {"tailgate", "compare", base, slow},
        {"tailgate", "compare", base_set, slow_set, "--vary", "batching"},
        {"tailgate", "compare", base_set, same_set, "--slo", "e2e p90 < 15ms"},
        {"tailgate", "compare", base_set, same_set, "--slo", "e2e p50 < 1ms"},
        {"tailgate", "compare", base, slow_set, "--vary", "batching"},
        {"tailgate", "compare", base, same, slow, "--vary", "batching"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct proc_result brief = proc_run(cases[i]);
        struct proc_result text;
        struct proc_result data;
        size_t end = 0;
        json_t *json;

        while (cases[i][end])
            end++;
        cases[i][end] = "-v";
        text = proc_run(cases[i]);
        cases[i][end] = "--json";
        data = proc_run(cases[i]);
        json = json_loads(data.out, 0, NULL);
        assert_non_null(json);
        json_object_del(json, "quantiles"); /* a curve, for pages */
        if (strangers_in(brief.out, json, names) > 0)
            fail_msg("case %zu: %s", i, brief.out);
        if (strangers_in(text.out, json, names) > 0)
            fail_msg("case %zu: %s", i, text.out);
        if (unsaid_in(text.out, json) > 0)
            fail_msg("case %zu: %s", i, text.out);
        json_decref(json);
    }
}

GROUP_FIXTURE(make_all, tmpdir_teardown)
