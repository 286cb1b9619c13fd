/* Verdicts and exit codes of `report`, on a recording made by hand. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/failures.h"
#include "common/recording/manifest.h"
#include "common/recording/schema.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define N 1000

static char *recording; /* its directory */

/* A thousand requests in ten seconds, punctual, answered in 1 ms; five of them,
 * far apart, with a status of 503. */
static void write_requests(const char *path)
{
    struct facts *rows = xcalloc(N, sizeof(*rows));
    struct tgr_writer *writer;
    struct err err = {0};

    for (int64_t i = 0; i < N; i++) {
        int64_t due = i * 10 * NS_PER_MS;
        int64_t done = due + NS_PER_MS;

        rows[i] = (struct facts){.seq = i,
                                 .due = due,
                                 .issued = due + 1000,
                                 .sent = due + 2000,
                                 .head = done,
                                 .first = done,
                                 .last = done,
                                 .end = done};
        if (i % 200 == 100) {
            rows[i].outcome = OUTCOME_STATUS;
            rows[i].detail = rows[i].status = 503;
        }
    }
    assert_int_equal(tgr_create(&writer, path, &schema_requests, &err), 0);
    assert_int_equal(tgr_append(writer, 0, rows, N, &err), 0);
    assert_int_equal(tgr_finish(writer, &err), 0);
    free(rows);
}

static int make_recording(void **state)
{
    struct run_end end = {
        .due_end_ns = 10 * NS_PER_S, .scheduled = N, .issued = N};
    struct run_start start = {0};
    struct failures failures = {0};
    struct settings settings;
    struct manifest manifest;
    struct err err = {0};
    char *path;

    assert_int_equal(tmpdir_setup(state), 0);
    recording = tmpdir_path("rec");
    assert_int_equal(mkdir(recording, 0777), 0);
    path = keepf("%s/requests.tgr", recording);
    write_requests(path);
    settings_init(&settings);
    strlist_add(&settings.target.urls, "http://127.0.0.1:1/");
    settings.load.rate_rps = 100;
    settings.load.duration_ns = 10 * NS_PER_S;
    assert_int_equal(settings_resolve(&settings, &err), 0);
    manifest_init(&manifest, &settings, &start);
    manifest_complete(&manifest, &end, &failures);
    assert_int_equal(manifest_save(&manifest, recording, &err), 0);
    manifest_fini(&manifest);
    settings_fini(&settings);
    return 0;
}

TEST(verdict_and_exit_code)
{
    static const struct {
        const char *slo;
        int status;
        const char *verdict;
    } cases[] = {
        {"e2e p99 < 2ms", 0, "pass"},
        {"e2e p99 < 1ms", 1, "fail"}, /* strictly below */
        {"e2e p99 < 1001us", 0, "pass"},
        {"service p50 < 999us", 0, "pass"},
        {"errors < 0.5%", 1, "fail"}, /* 5 of 1000 are not less */
        {"errors < 0.6%", 0, "pass"},
        {"good >= 99.5%", 0, "pass"},
        {"good >= 99.6%", 1, "fail"},
        {"goodput >= 99.5", 0, "pass"},
        {"goodput >= 99.6", 1, "fail"},
        {"e2e p99 < 2ms, errors < 0.1%", 1, "fail"},
        {"e2e p99.9 < 2ms", 1, "fail"},       /* 5 beyond, where 1 may be */
        {"connect p50 < 1s", 4, "undecided"}, /* no connection was opened */
        {"lag p99.9 < 1s", 4, "undecided"},   /* 2995 are needed */
        /* of tiers the last, unless there are terms of none */
        {"gold: e2e p99 < 1ms, silver: e2e p99 < 2ms", 0, "pass"},
        {"silver: e2e p99 < 2ms, gold: e2e p99 < 1ms", 1, "fail"},
        {"gold: e2e p99 < 1ms, errors < 1%", 0, "pass"},
        {"gold: e2e p99 < 2ms, errors < 0.1%", 1, "fail"},
        {"gold: e2e p99 < 2ms, silver: lag p99.9 < 1s", 4, "undecided"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct proc_result r = proc_run(ARGS("report", recording, "--slo",
                                             cases[i].slo, "--format", "json"));
        json_t *json = json_loads(r.out, 0, NULL);

        if (r.status != cases[i].status)
            print_error("case %zu: %s\n", i, cases[i].slo);
        proc_expect(&r, cases[i].status);
        assert_string_equal(json_string_value(json_object_get(json, "verdict")),
                            cases[i].verdict);
        json_decref(json);
    }
}

/* 5 of 1000 are too close to 1 %, and clearly below 2 %. */
TEST(a_verdict_may_have_to_be_shown)
{
    static const struct {
        const char *slo;
        const char *require;
        int status;
    } cases[] = {
        {"errors < 1%", "observed", 0}, {"errors < 1%", "shown", 4},
        {"errors < 2%", "shown", 0},    {"e2e p99 < 1ms", "shown", 1},
        {"errors < 0.45%", "shown", 4}, {"errors < 0.45%", "observed", 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct proc_result r =
            proc_run(ARGS("report", recording, "--slo", cases[i].slo,
                          "--require", cases[i].require, "--json"));
        json_t *json = json_loads(r.out, 0, NULL);
        bool is_shown = json_is_true(json_object_get(json, "shown"));

        proc_expect(&r, cases[i].status);
        if (strcmp(cases[i].require, "shown") == 0)
            assert_int_equal(is_shown, cases[i].status != 4);
        assert_true((number_at(json, "decide_in_s") == 0) == is_shown);
        json_decref(json);
        r = proc_run(ARGS("report", "--exit-undecided", "75", recording,
                          "--slo", cases[i].slo, "--require",
                          cases[i].require));
        proc_expect(&r, cases[i].status == 4 ? 75 : cases[i].status);
    }
}

TEST(the_numbers_are_those_recorded)
{
    struct proc_result r =
        proc_run(ARGS("report", recording, "--format", "json"));
    json_t *json = json_loads(r.out, 0, NULL);

    proc_expect(&r, 0);
    assert_string_equal(json_string_value(json_object_get(json, "verdict")),
                        "none");
    assert_true(number_at(json, "requests.scheduled") == N);
    assert_true(number_at(json, "requests.ok") == N - 5);
    assert_true(number_at(json, "requests.by_outcome.status") == 5);
    assert_true(number_at(json, "offered_rps") == 100);
    assert_true(number_at(json, "throughput_rps") == 99.5);
    assert_true(number_at(json, "attainment") == 0.995);
    assert_true(number_at(json, "measures.e2e.p50_ms") >= 0.999);
    assert_true(number_at(json, "measures.e2e.p50_ms") <= 1.001);
    assert_true(json_is_null(json_object_get(
        json_object_get(json_object_get(json, "measures"), "e2e"), "max_ms")));
    json_decref(json);
}

TEST(a_truth_that_is_not_there)
{
    struct proc_result r = proc_run(ARGS("report", recording, "--truth"));

    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "/truth.tgr: no truth log; "));
    assert_non_null(strstr(r.err, "--truth-file"));
}

static void expect_tier(const json_t *tier, const char *name,
                        const char *verdict, double goodput)
{
    assert_string_equal(json_string_value(json_object_get(tier, "name")), name);
    assert_string_equal(json_string_value(json_object_get(tier, "verdict")),
                        verdict);
    assert_true(number_at(tier, "goodput_rps") == goodput);
}

TEST(tiers_are_reported_each_by_itself)
{
    struct proc_result r = proc_run(ARGS(
        "report", recording, "--format", "json", "--slo",
        "gold: e2e p99 < 1ms, gold: errors < 1%, silver: e2e p98 < 1.5ms"));
    json_t *json = json_loads(r.out, 0, NULL);
    const json_t *tiers = json_object_get(json, "tiers");

    proc_expect(&r, 0);
    assert_int_equal(json_array_size(tiers), 2);
    expect_tier(json_array_get(tiers, 0), "gold", "fail", 0);
    expect_tier(json_array_get(tiers, 1), "silver", "pass", 99.5);
    assert_string_equal(json_string_value(json_object_get(json, "best_tier")),
                        "silver");
    assert_true(number_at(json, "goodput_rps") == 99.5);
    assert_true(number_at(json_array_get(json_object_get(json, "slo"), 0),
                          "tightest_ms") == 1.01);
    json_decref(json);
    r = proc_run(ARGS("report", "-v", recording, "--slo",
                      "gold: e2e p99 < 1ms, silver: e2e p99 < 1.5ms"));
    assert_non_null(strstr(r.out, "(by the last of its tiers, silver)\n"));
    assert_non_null(strstr(r.out, " tier gold, fail, "));
    assert_non_null(strstr(r.out, "best tier met: silver\n"));
}

/* 10 s at 36 an hour and 2 replicas are 20 cents, for 995 good requests. */
TEST(an_old_recording_has_its_cost)
{
    struct proc_result r =
        proc_run(ARGS("report", recording, "--format", "json", "--usd-per-hour",
                      "36", "--replicas", "2", "--slo", "e2e p99 < 2ms"));
    json_t *json = json_loads(r.out, 0, NULL);
    const json_t *cost = json_object_get(json, "cost");

    proc_expect(&r, 0);
    assert_true(number_at(cost, "usd") == 0.2);
    assert_true(fabs(number_at(cost, "usd_per_1000_good_requests") -
                     200.0 / 995) < 1e-12);
    assert_true(json_is_true(json_object_get(cost, "deliverable")));
    assert_true(
        json_is_null(json_object_get(cost, "usd_per_million_good_tokens")));
    assert_non_null(json_object_get(cost, "usd_per_million_good_tokens_note"));
    json_decref(json);
    r = proc_run(ARGS("report", "-v", recording, "--usd-per-hour", "36",
                      "--slo", "e2e p99 < 1us"));
    proc_expect(&r, 1);
    assert_non_null(strstr(r.out, "\ncost       for the window 0.1 USD\n"
                                  "           the SLO is missed: these "
                                  "costs are not deliverable\n"));
}

/* Answers take 1 ms, and 5 of 1000 fail. */
TEST(a_curve_has_the_limits_of_the_slo)
{
    struct proc_result r =
        proc_run(ARGS("report", recording, "--format", "json", "--curve", "e2e",
                      "--slo", "e2e p99 < 1100us"));
    json_t *json = json_loads(r.out, 0, NULL);
    const json_t *points =
        json_object_get(json_object_get(json, "curve"), "points");
    const json_t *last = json_array_get(points, json_array_size(points) - 1);

    proc_expect(&r, 0);
    assert_int_equal(json_array_size(points), 2); /* 1 ms and 1.1 ms */
    assert_true(number_at(json_array_get(points, 0), "within") == 0);
    assert_true(number_at(last, "limit_ms") == 1.1);
    assert_true(number_at(last, "within") == N - 5);
    assert_true(json_is_true(json_object_get(last, "slo")));
    json_decref(json);
}

TEST(what_does_not_go_together_is_refused)
{
    static const struct {
        const char *flag;
        const char *value;
        const char *says;
    } cases[] = {
        {"--slo", "chat/errors < 1%", "the recording has no class 'chat'"},
        {"--slo", "gold: errors < 1%, gold: errors < 2%",
         "a tier can have only one of them"},
        {"--curve", "query", "query has no curve"},
        {"--curve", "tfft",
         "unknown measure 'tfft'; did you mean 'ttft'? The measures are e2e, "},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct proc_result r =
            proc_run(ARGS("report", recording, cases[i].flag, cases[i].value));

        proc_expect(&r, 2);
        assert_non_null(strstr(r.err, cases[i].says));
    }
}

GROUP_FIXTURE(make_recording, tmpdir_teardown)
