/* A sweep: what it plans, keeps on disk, and makes of its runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/study_doc.h"
#include "analyzer/studies/sweep.h"
#include "cli/exit_status.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/study_set.h"
#include "common/settings/settings.h"
#include "study/study.h"
#include "tests/support/golden.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static struct sweep_settings rates(const char *text, int64_t repeats, int order)
{
    return (struct sweep_settings){
        .rates = (char *)text, .repeats = repeats, .order = order};
}

static size_t places_of(const struct study_set *set, double value)
{
    size_t n = 0;

    for (size_t i = 0; i < set->len; i++)
        n += set->points[i].value == value;
    return n;
}

TEST(every_value_is_planned_as_often)
{
    struct sweep_settings s = rates("10,20..80", 3, ORDER_RANDOM);
    struct study_set a = {.kind = STUDY_SWEEP};
    struct study_set b = {.kind = STUDY_SWEEP};
    struct study_set c = {.kind = STUDY_SWEEP};
    struct err err = {0};
    bool is_other = false;

    assert_int_equal(sweep_plan(&a, &s, 1, &err), 0);
    assert_int_equal(sweep_plan(&b, &s, 1, &err), 0);
    assert_int_equal(sweep_plan(&c, &s, 2, &err), 0);
    assert_int_equal(a.len, 24);
    assert_string_equal(a.key, "load.rate");
    for (size_t i = 0; i < a.len; i++) {
        assert_int_equal(places_of(&a, a.points[i].value), 3);
        assert_int_equal(a.points[i].number, i + 1);
        assert_true(a.points[i].value == b.points[i].value);
        is_other |= a.points[i].value != c.points[i].value;
    }
    assert_true(is_other); /* by chance the same once in 24!/3!^8 */
    study_set_fini(&a);
    study_set_fini(&b);
    study_set_fini(&c);
}

TEST(any_setting_may_be_varied)
{
    struct sweep_settings s = {.vary = (char *)"target.timeout=1s,2s",
                               .repeats = 1,
                               .order = ORDER_GIVEN};
    struct sweep_settings none = {.repeats = 1};
    struct study_set set = {.kind = STUDY_SWEEP};
    struct err err = {0};

    assert_int_equal(sweep_plan(&set, &s, 1, &err), 0);
    assert_string_equal(set.key, "target.timeout");
    assert_string_equal(set.unit, "s");
    assert_true(set.points[0].value == 1 && set.points[1].value == 2);
    study_set_fini(&set);
    assert_int_equal(sweep_plan(&set, &none, 1, &err), -1);
    assert_int_equal(err.code, ERR_USAGE);
    study_set_fini(&set);
}

TEST(what_was_saved_is_loaded)
{
    struct study_set set = {.kind = STUDY_SEARCH,
                            .key = "load.rate",
                            .settings_hash = "0123456789abcdef",
                            .launched_by = LAUNCHED_STUB,
                            .stopped_by = 2};
    struct study_set read;
    struct err err = {0};
    char *path;

    study_set_add(&set, POINT_PROBE, 12.5)->is_recorded = true;
    study_set_add(&set, POINT_CONFIRM, 10)->took_s = 3.25;
    study_set_add(&set, POINT_PROBE, 11);
    assert_int_equal(study_set_save(&set, tmpdir_root(), &err), 0);
    assert_int_equal(study_set_load(&read, tmpdir_root(), &err), 0);
    assert_int_equal(read.len, 3);
    assert_int_equal(study_set_recorded(&read), 1);
    assert_true(read.points[0].value == 12.5);
    assert_true(read.points[1].took_s == 3.25);
    assert_int_equal(read.stopped_by, 2);
    assert_string_equal(read.settings_hash, set.settings_hash);
    assert_int_equal(read.launched_by, LAUNCHED_STUB);
    path = study_point_path("d", &read.points[2]);
    assert_string_equal(path, "d/probe-2");
    free(path);
    path = study_point_path("d", &read.points[1]);
    assert_string_equal(path, "d/confirm-1");
    free(path);
    study_set_fini(&set);
    study_set_fini(&read);
}

TEST(damaged_ones_are_refused)
{
    static const char *const texts[] = {
        "{",
        "{}",
        "{\"version\": 2, \"kind\": \"sweep\"}",
        "{\"version\": 1, \"kind\": \"trials\"}",
        "{\"version\": 1, \"kind\": \"sweep\", \"points\": [{}]}",
        "{\"version\": 1, \"kind\": \"sweep\", \"points\": [{\"role\": "
        "\"probe\", \"number\": 1, \"value\": 1}]}",
        "{\"version\": 1, \"kind\": \"search\", \"points\": [{\"role\": "
        "\"probe\", \"number\": 7, \"value\": 1}]}",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct study_set set;
        struct err err = {0};

        tmpdir_write("study.json", texts[i], strlen(texts[i]));
        assert_int_equal(study_set_load(&set, tmpdir_root(), &err), -1);
        assert_true(err.msg[0]);
        study_set_fini(&set);
    }
}

/* ---- what it comes to ---- */

/* An M/M/1 queue of 2 ms: e2e is exponential with mean 1 / (500 - rate). */
static struct trial run_at(double rate)
{
    double most = 500;
    bool is_over = rate >= most;
    double mean_ns = 1e9 / (most - rate);
    struct trial t = {.was_overloaded = is_over,
                      .verdict = is_over ? VERDICT_FAIL : VERDICT_PASS};

    t.is_load_judged = true;
    t.rate[TRIAL_OFFERED] = rate;
    t.rate[TRIAL_COMPLETED] = rate; /* in the end */
    t.rate[TRIAL_THROUGHPUT] = is_over ? most : rate;
    t.rate[TRIAL_GOODPUT] = is_over ? 100 : rate;
    t.e2e_p99_share = is_over ? 0.5 : 0.01;
    for (int m = 0; m < MEASURE_COUNT; m++) {
        for (int q = 0; q < SUMMARY_QUANTILES; q++)
            t.quantile_ns[m][q] = HIST_EMPTY;
    }
    for (int q = 0; q < SUMMARY_QUANTILES; q++)
        t.quantile_ns[MEASURE_E2E][q] =
            is_over ? HIST_BEYOND : -mean_ns * log(1 - summary_quantile[q]);
    return t;
}

/* As sweep_read() leaves it before it works it out. */
static void make(struct sweep_summary *s, const double *values, size_t n)
{
    *s = (struct sweep_summary){.dir = "d", .has_rate = true, .is_load = true};
    s->set.kind = STUDY_SWEEP;
    snprintf(s->set.key, sizeof(s->set.key), "load.rate");
    strlist_add(&s->terms, "e2e p99 < 1s");
    for (size_t i = 0; i < n; i++)
        study_set_add(&s->set, POINT_OF_SWEEP, values[i])->is_recorded = true;
    s->points = xcalloc(n, sizeof(*s->points));
    s->n = n;
    for (size_t i = 0; i < n; i++)
        s->points[i] = (struct sweep_point){
            .at = &s->set.points[i], .run = run_at(values[i]), .counts = true};
}

TEST(knee_and_saturation_are_found)
{
    static const double values[] = {600, 100, 400, 200, 300, 250, 700};
    struct sweep_summary s;

    make(&s, values, COUNT(values));
    sweep_work_out(&s);
    assert_int_equal(s.n_values, COUNT(values));
    for (size_t i = 1; i < s.n_values; i++)
        assert_true(s.values[i].value > s.values[i - 1].value);
    /* rate (500 - rate) is largest at half of the capacity */
    assert_true(s.knee->value == 250);
    assert_true(s.saturation->value == 600);
    assert_true(s.best->value == 400);
    assert_true(s.within->value == 400);
    assert_true(s.most_rps == 500);
    assert_int_equal(exit_status_of(sweep_conclusion(&s), 0), 0);
    sweep_summary_fini(&s);
}

/* A server that keeps up with 12/s, by the requests that finish in a window
 * that is too short for its latencies, by requests that fail, and by clients.
 */
TEST(saturation_is_not_a_matter_of_the_window)
{
    static const struct {
        const char *name;
        double share;     /* e2e p99 of the window, where it keeps up */
        double completed; /* share of the offered load at 12/s */
        double finished;  /* the same */
        bool is_over;     /* at 15/s */
        bool is_unjudged; /* at 15/s */
        double want;      /* 0: none */
        const char *why;  /* NULL: there is one */
    } cases[] = {
        {"keeps up", 0.01, 1, 1, false, false, 0, "not reached"},
        {"answers come late", 0.04, 1, 0.8, true, false, 15, NULL},
        {"answers fail", 0.01, 0.9, 0.9, true, false, 12, NULL},
        {"short window", 0.2, 1, 0.5, true, false, 0,
         "not named: the window is too short for the latency"},
        {"few requests", 0.01, 1, 1, false, true, 0,
         "not known: too few requests at the highest load to judge overload"},
    };
    static const double values[] = {3, 6, 9, 12, 15};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sweep_summary s;

        make(&s, values, COUNT(values));
        for (size_t k = 0; k < COUNT(values); k++) {
            struct trial *t = &s.points[k].run;

            t->e2e_p99_share = cases[i].share;
            t->rate[TRIAL_THROUGHPUT] = cases[i].finished * values[k];
        }
        s.points[3].run.rate[TRIAL_COMPLETED] = 12 * cases[i].completed;
        s.points[4].run.was_overloaded = cases[i].is_over;
        s.points[4].run.is_load_judged = !cases[i].is_unjudged;
        s.points[4].run.e2e_p99_share = 0.6; /* whatever it is */
        sweep_work_out(&s);
        if ((s.saturation ? s.saturation->value : 0) != cases[i].want ||
            (cases[i].why && strcmp(s.no_saturation, cases[i].why) != 0))
            fail_msg("%s: %g, %s", cases[i].name,
                     s.saturation ? s.saturation->value : 0, s.no_saturation);
        assert_int_equal(s.slow != NULL,
                         cases[i].share > 0.05 || !cases[i].is_over);
        sweep_summary_fini(&s);
    }
}

/* Of three runs at a value one is not to be trusted, of another all. */
TEST(what_is_not_trusted_is_withdrawn)
{
    static const double values[] = {100, 100, 100, 200};
    struct sweep_summary s;

    make(&s, values, COUNT(values));
    s.title = xstrdup("t");
    s.load = xstrdup("l");
    s.points[1].counts = false;
    snprintf(s.points[1].run.distrust, sizeof(s.points[1].run.distrust),
             "lag p99");
    s.points[1].run.rate[TRIAL_THROUGHPUT] = 1e6;
    s.points[2].run.rate[TRIAL_THROUGHPUT] = 90;
    s.points[3].counts = false;
    sweep_work_out(&s);
    assert_int_equal(s.n_values, 2);
    assert_int_equal(s.values[0].counted, 2);
    assert_true(s.values[0].rate[TRIAL_THROUGHPUT] == 95);
    assert_int_equal(s.values[1].counted, 0);
    assert_int_equal(s.withdrawn, 2);
    assert_int_equal(exit_status_of(sweep_conclusion(&s), 0), 4);
    assert_golden_doc("sweep-withdrawn", sweep_doc(&s));
    sweep_summary_fini(&s);
}

TEST(nothing_is_said_of_runs_that_are_not_trusted)
{
    static const double values[] = {100, 200};
    struct sweep_summary s;
    char *text;

    make(&s, values, COUNT(values));
    s.title = xstrdup("t");
    s.load = xstrdup("l");
    s.points[0].counts = s.points[1].counts = false;
    sweep_work_out(&s);
    text = doc_text_of(sweep_doc(&s));
    assert_non_null(strstr(text, "no run can be trusted at the lowest value"));
    assert_null(strstr(text, "highest rate that finished"));
    free(text);
    sweep_summary_fini(&s);
}

/* A quantile that failed in most runs is beyond all limits; one that the
 * samples of a run cannot bound is not known. */
TEST(medians_know_what_is_beyond)
{
    static const double values[] = {100, 100, 100, 200};
    struct sweep_summary s;

    make(&s, values, COUNT(values));
    s.points[0].run.quantile_ns[MEASURE_E2E][3] = HIST_BEYOND;
    s.points[2].run.quantile_ns[MEASURE_E2E][3] = HIST_BEYOND;
    s.points[3].run.quantile_ns[MEASURE_E2E][3] = HIST_TOO_FEW;
    sweep_work_out(&s);
    assert_true(s.values[0].quantile_ns[MEASURE_E2E][3] == HIST_BEYOND);
    assert_true(s.values[1].quantile_ns[MEASURE_E2E][3] == HIST_TOO_FEW);
    sweep_summary_fini(&s);
}

/* In whatever order the runs come: one of three has no price, since nothing of
 * it was good. */
TEST(a_median_of_what_is_not_known_is_not_known)
{
    static const double values[] = {100, 100, 100};

    for (size_t without = 0; without < COUNT(values); without++) {
        struct sweep_summary s;
        struct buf text;

        make(&s, values, COUNT(values));
        for (size_t i = 0; i < COUNT(values); i++) {
            s.points[i].run.has_cost = true;
            s.points[i].run.rate[TRIAL_USD] = i == without ? NAN : 2;
            s.points[i].run.rate[TRIAL_QUALITY] = NAN;
        }
        sweep_work_out(&s);
        assert_true(isnan(s.values[0].rate[TRIAL_USD]));
        buf_init(&text, 1 << 16);
        doc_put(sweep_doc(&s), DOC_AS_JSON, &text);
        assert_non_null(strstr(buf_text(&text),
                               "\"usd_per_1000_good_requests_note\": "
                               "\"nothing was good\""));
        assert_non_null(strstr(buf_text(&text),
                               "\"quality_note\": \"no answer was checked\""));
        buf_fini(&text);
        sweep_summary_fini(&s);
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
