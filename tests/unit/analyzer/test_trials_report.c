/* What is said of a trial set, worked out from made trials. */
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/study_doc.h"
#include "analyzer/studies/trials.h"
#include "cli/exit_status.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/base/xalloc.h"
#include "common/stats/hist.h"
#include "tests/support/golden.h"
#include "tests/support/proc.h"
#include "tests/support/strangers.h"
#include "tests/support/test.h"

#define P50 0
#define P99 3

/* n trials with throughputs and e2e p99 of these, in ms, judged by a limit.  Of
 * 1000 requests, worth 400 independent ones, 50 miss it or none. */
static struct trials_summary made(const double *p99_ms, size_t n,
                                  double limit_ms)
{
    struct trials_summary s = {.dir = "d",
                               .title = xstrdup("made\n"),
                               .trials = xcalloc(n, sizeof(struct trial)),
                               .n = n,
                               .terms = xcalloc(1, sizeof(struct set_term)),
                               .n_terms = 1};
    struct err err = {0};

    s.set.asked = (int64_t)n;
    s.set.recorded = (int64_t)n;
    assert_int_equal(slo_parse_term("e2e p99 < 100ms", &s.terms[0].term, &err),
                     0);
    for (size_t i = 0; i < n; i++) {
        struct trial *t = &s.trials[i];
        bool is_kept = p99_ms[i] < limit_ms;

        t->number = (int64_t)i + 1;
        t->scheduled = 1000;
        for (int m = 0; m < MEASURE_COUNT; m++) {
            for (int q = 0; q < SUMMARY_QUANTILES; q++)
                t->quantile_ns[m][q] = HIST_EMPTY;
        }
        t->rate[TRIAL_COMPLETED] = 10 * p99_ms[i];
        t->rate[TRIAL_THROUGHPUT] = 10 * p99_ms[i];
        t->quantile_ns[MEASURE_E2E][P50] = 1e6;
        t->quantile_ns[MEASURE_E2E][P99] = p99_ms[i] * 1e6;
        t->terms[0].verdict = is_kept ? VERDICT_PASS : VERDICT_FAIL;
        t->terms[0].measured = p99_ms[i] * 1e6;
        t->terms[0].is_judgeable = true;
        t->terms[0].sample = (struct share_sample){
            .n = 1000, .misses = is_kept ? 0 : 50, .n_effective = 400};
        t->verdict = t->terms[0].verdict;
    }
    return s;
}

TEST(medians_and_spreads)
{
    static const double p99_ms[] = {5, 1, 4, 2, 3};
    struct trials_summary s = made(p99_ms, 5, 100);
    const struct over_trials *o = &s.quantile[MEASURE_E2E][P99];

    trials_work_out(&s);
    assert_int_equal(s.counted, 5);
    assert_true(o->is_known);
    assert_true(o->median.median.value == 3e6);
    assert_true(o->least == 1e6 && o->greatest == 5e6);
    assert_true(o->median.median.range.low == 1e6);
    assert_true(o->median.median.range.high == 5e6);
    assert_true(s.confidence == 0.9375 && o->median.confidence == 0.9375);
    assert_false(o->median.is_reached);
    assert_true(fabs(o->mean.value - 3e6) < 1);
    /* t(0.975, 4) = 2.776, s = 1.5811, n = 5 */
    assert_true(fabs(o->mean.range.high - 3e6 - 1.9632e6) < 1e3);
    assert_true(s.rate[TRIAL_THROUGHPUT].median.median.value == 30);
    assert_false(s.quantile[MEASURE_TTFT][P50].is_known);
    trials_summary_fini(&s);
}

/* The verdict is that of all requests together; whether it is shown depends on
 * how many independent ones they are worth and on how the trials differ. */
TEST(verdicts)
{
    static const struct {
        double p99_ms[9];
        size_t n;
        enum verdict verdict;
        bool is_shown;
        int code;
        int code_if_required; /* to be shown */
    } cases[] = {
        {{1, 2, 3}, 3, VERDICT_PASS, true, 0, 0},
        {{101, 102, 103}, 3, VERDICT_FAIL, true, 1, 1},
        /* 1.67 % of all miss it, but they are all of one trial */
        {{1, 2, 101}, 3, VERDICT_FAIL, false, 1, 4},
        {{101, 102, 3}, 3, VERDICT_FAIL, true, 1, 1},
        {{1}, 1, VERDICT_PASS, true, 0, 0},
        /* 0.56 % of all */
        {{1, 2, 3, 4, 5, 6, 7, 8, 101}, 9, VERDICT_PASS, false, 0, 4},
        {{1, 2, 3, 4, 5, 6, 7, 101, 102}, 9, VERDICT_FAIL, false, 1, 4},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct trials_summary s = made(cases[i].p99_ms, cases[i].n, 100);

        trials_work_out(&s);
        assert_int_equal(s.verdict, cases[i].verdict);
        assert_int_equal(s.is_shown, cases[i].is_shown);
        assert_int_equal(s.terms[0].is_shown, cases[i].is_shown);
        assert_int_equal(s.needed == 0, cases[i].is_shown);
        assert_int_equal(exit_status_of_trials(&s), cases[i].code);
        s.require_shown = true;
        assert_int_equal(exit_status_of_trials(&s), cases[i].code_if_required);
        trials_summary_fini(&s);
    }
}

/* Without a miss the bound follows from the effective samples: 0.95 = 1 - (1 -
 * u)^n.  p99 needs 299 of them; two trials of 100 have too few, three do. */
TEST(how_many_trials_are_needed)
{
    static const double p99_ms[] = {1, 2, 3};

    for (size_t n = 2; n <= 3; n++) {
        struct trials_summary s = made(p99_ms, n, 100);
        double effective = 100 * (double)n;

        for (size_t i = 0; i < n; i++)
            s.trials[i].terms[0].sample.n_effective = 100;
        trials_work_out(&s);
        assert_int_equal(s.verdict, VERDICT_PASS);
        assert_int_equal(s.is_shown, n == 3);
        assert_int_equal(s.needed, n == 3 ? 0 : 3);
        assert_true(fabs(s.terms[0].all.n_effective - effective) < 1e-6);
        assert_true(fabs(s.terms[0].bounds.high -
                         (1 - pow(0.05, 1 / effective))) < 1e-9);
        trials_summary_fini(&s);
    }
}

/* Requests that may have kept their limit or not are judged both ways, and with
 * fewer than the quantile needs there is no verdict. */
TEST(samples_that_decide_nothing)
{
    static const double p99_ms[] = {1, 2, 3};
    struct trials_summary s = made(p99_ms, 3, 100);

    s.trials[1].terms[0].open = 30; /* of 3000: exactly what is allowed */
    trials_work_out(&s);
    assert_int_equal(s.verdict, VERDICT_PASS);
    trials_summary_fini(&s);

    s = made(p99_ms, 3, 100);
    s.trials[1].terms[0].open = 31;
    trials_work_out(&s);
    assert_int_equal(s.verdict, VERDICT_UNDECIDED);
    assert_int_equal(exit_status_of_trials(&s), 4);
    trials_summary_fini(&s);

    s = made(p99_ms, 3, 100);
    for (size_t i = 0; i < 3; i++)
        s.trials[i].terms[0].sample.n =
            s.trials[i].terms[0].sample.n_effective = 90;
    trials_work_out(&s);
    assert_int_equal(s.verdict, VERDICT_UNDECIDED);
    assert_int_equal(s.needed, 4); /* 299 of 90 each */
    trials_summary_fini(&s);

    s = made(p99_ms, 3, 100);
    s.trials[2].terms[0].sample.n = 0; /* nothing of it is known */
    s.trials[2].terms[0].open = 1000;
    trials_work_out(&s);
    assert_int_equal(s.verdict, VERDICT_UNDECIDED);
    trials_summary_fini(&s);

    s = made(p99_ms, 3, 100);
    s.trials[2].terms[0].is_judgeable = false;
    trials_work_out(&s);
    assert_int_equal(s.verdict, VERDICT_UNDECIDED);
    trials_summary_fini(&s);
}

/* A rate is judged by the mean of the trials. */
TEST(goodput)
{
    static const double p99_ms[] = {1, 2, 3, 4, 5};
    static const struct {
        double rates[5];
        double open; /* of 10 s */
        enum verdict verdict;
        bool is_shown;
    } cases[] = {
        {{40.9, 41, 41.1, 41, 41}, 0, VERDICT_PASS, true},
        {{40.9, 41, 41.1, 41, 41}, 100, VERDICT_PASS, true},
        {{30, 41, 52, 41, 41}, 0, VERDICT_PASS, false},
        {{39, 39.1, 38.9, 39, 39}, 0, VERDICT_FAIL, true},
        {{39, 39.1, 38.9, 39, 39}, 8, VERDICT_FAIL, true},
        {{39, 39.1, 38.9, 39, 39}, 20, VERDICT_UNDECIDED, false},
    };
    struct err err = {0};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct trials_summary s = made(p99_ms, 5, 100);

        assert_int_equal(
            slo_parse_term("goodput >= 40/s", &s.terms[0].term, &err), 0);
        for (size_t k = 0; k < 5; k++) {
            s.trials[k].terms[0].measured = cases[i].rates[k];
            s.trials[k].terms[0].open = cases[i].open;
            s.trials[k].window_s = 10;
        }
        trials_work_out(&s);
        assert_int_equal(s.verdict, cases[i].verdict);
        assert_int_equal(s.is_shown, cases[i].is_shown);
        trials_summary_fini(&s);
    }
}

/* Killed after a number of the trials that were asked for: a verdict that is
 * shown by at least half of them stands. */
TEST(sets_that_were_killed)
{
    static const struct {
        double p99_ms[9];
        size_t n;
        int64_t asked;
        enum verdict verdict;
        int code;
        const char *says;
    } cases[] = {
        {{1, 2}, 2, 5, VERDICT_UNDECIDED, 4, "the set was interrupted"},
        {{101, 102}, 2, 5, VERDICT_UNDECIDED, 4, "the set was interrupted"},
        {{1, 2, 3}, 3, 5, VERDICT_PASS, 0, "PASS, shown: the SLO is met"},
        {{101, 102, 103}, 3, 5, VERDICT_FAIL, 1, "FAIL, shown: the SLO is mi"},
        {{1, 2, 101}, 3, 5, VERDICT_UNDECIDED, 4, "the set was interrupted"},
        {{1}, 1, 2, VERDICT_UNDECIDED, 4, "fewer than two trials count"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct trials_summary s = made(cases[i].p99_ms, cases[i].n, 100);
        struct buf text;

        s.set.asked = cases[i].asked;
        trials_work_out(&s);
        assert_int_equal(s.verdict, cases[i].verdict);
        assert_int_equal(exit_status_of_trials(&s), cases[i].code);
        buf_init(&text, (size_t)1 << 20);
        doc_put(trials_doc(&s), DOC_AS_TEXT, &text);
        if (!strstr(buf_text(&text), cases[i].says))
            fail_msg("no '%s' in: %s", cases[i].says, buf_text(&text));
        buf_fini(&text);
        trials_summary_fini(&s);
    }
}

/* Of five that were asked for, three must be valid.  Those that are not are
 * listed, and no number is taken from them. */
/* If too few others are valid, trials whose client was only late count. */
TEST(late_trials)
{
    static const double p99_ms[] = {1, 2, 3, 4, 5};

    for (size_t late = 2; late <= 5; late++) {
        struct trials_summary s = made(p99_ms, 5, 100);
        bool is_used = 5 - late < 3;

        for (size_t k = 0; k < late; k++) {
            s.trials[k].is_late = true;
            snprintf(s.trials[k].discarded, sizeof(s.trials[k].discarded),
                     "invalid: lag p99: 9 ms, limit 1");
        }
        trials_work_out(&s);
        assert_int_equal(s.late, is_used ? late : 0);
        assert_int_equal(s.counted, is_used ? 5 : 3);
        assert_int_equal(s.verdict, VERDICT_PASS);
        trials_summary_fini(&s);
    }
}

TEST(discarded_trials)
{
    static const double p99_ms[] = {1, 2, 3, 400, 500, 600};
    static const struct {
        size_t n;
        size_t discarded;
        enum verdict verdict;
        int code;
    } cases[] = {
        {6, 3, VERDICT_PASS, 0},
        {6, 4, VERDICT_INVALID, 4},
        {5, 3, VERDICT_INVALID, 4},
        {3, 0, VERDICT_PASS, 0}, /* killed, not invalid */
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t n = cases[i].n;
        struct trials_summary s = made(p99_ms, n, 100);

        s.set.asked = 5;
        for (size_t k = n - cases[i].discarded; k < n; k++) {
            s.trials[k].verdict = VERDICT_INVALID;
            snprintf(s.trials[k].discarded, sizeof(s.trials[k].discarded),
                     "invalid: lag p99: 9 ms, limit 1");
        }
        trials_work_out(&s);
        assert_int_equal(s.counted, n - cases[i].discarded);
        assert_int_equal(s.discarded, cases[i].discarded);
        assert_int_equal(s.verdict, cases[i].verdict);
        assert_int_equal(exit_status_of_trials(&s), cases[i].code);
        assert_true(s.quantile[MEASURE_E2E][P99].greatest <= 3e6);
        assert_int_equal(s.terms[0].missed, 0);
        trials_summary_fini(&s);
    }
}

/* An undecided trial is neither kept nor missed, and an aborted one fails the
 * set. */
TEST(doubtful_trials)
{
    static const double p99_ms[] = {1, 2, 3};
    struct trials_summary s = made(p99_ms, 3, 100);

    s.trials[1].terms[0].verdict = VERDICT_UNDECIDED;
    trials_work_out(&s);
    assert_int_equal(s.verdict, VERDICT_PASS);
    assert_int_equal(s.terms[0].kept, 2);
    assert_int_equal(s.terms[0].missed, 0);
    trials_summary_fini(&s);

    s = made(p99_ms, 3, 100);
    s.trials[0].was_aborted = true;
    trials_work_out(&s);
    assert_int_equal(exit_status_of_trials(&s), 1);
    trials_summary_fini(&s);
}

TEST(an_interrupted_trial_is_not_counted)
{
    static const double p99_ms[] = {1, 2, 300};
    struct trials_summary s = made(p99_ms, 3, 100);

    s.trials[2].stopped_by = SIGTERM;
    trials_work_out(&s);
    assert_int_equal(s.counted, 2);
    assert_true(s.quantile[MEASURE_E2E][P99].greatest == 2e6);
    assert_int_equal(s.terms[0].missed, 0);
    assert_int_equal(exit_status_of_trials(&s), 143);
    trials_summary_fini(&s);
}

/* Whichever it is: the others are reported. */
TEST(a_lost_trial_is_not_counted)
{
    static const double p99_ms[] = {1, 2, 3};

    for (size_t lost = 0; lost < 3; lost++) {
        struct trials_summary s = made(p99_ms, 3, 100);
        struct buf out;
        char want[100];

        for (size_t i = 0; i < 3; i++)
            s.trials[i].is_streamed = true;
        s.trials[lost] = (struct trial){.number = (int64_t)lost + 1};
        trial_take_lost(&s.trials[lost], "is empty");
        trials_work_out(&s);
        assert_int_equal(s.counted, 2);
        assert_true(s.quantile[MEASURE_E2E][P99].is_known);
        assert_int_equal(s.terms[0].kept, 2);
        assert_int_equal(s.verdict, VERDICT_PASS);
        assert_int_equal(exit_status_of_trials(&s), 0);
        assert_int_equal(trials_first(&s)->number, lost == 0 ? 2 : 1);
        buf_init(&out, 1 << 16);
        doc_put(trials_doc(&s), DOC_AS_TEXT, &out);
        snprintf(want, sizeof(want),
                 "lost: manifest.json is empty, not counted: tailgate report "
                 "d/trial-%zu\n",
                 lost + 1);
        assert_non_null(strstr(buf_text(&out), want));
        buf_reset(&out);
        doc_put(trials_doc(&s), DOC_AS_JSON, &out);
        assert_non_null(
            strstr(buf_text(&out), "\"manifest_lost\": \"is empty\""));
        buf_fini(&out);
        trials_summary_fini(&s);
    }
}

TEST(without_an_slo)
{
    static const double p99_ms[] = {1, 2};
    struct trials_summary s = made(p99_ms, 2, 100);
    char *brief;

    s.n_terms = 0;
    trials_work_out(&s);
    assert_int_equal(s.verdict, VERDICT_NONE);
    brief = doc_brief_of(trials_doc(&s));
    assert_non_null(strstr(brief, "\ncompleted  median 15/s"));
    assert_null(strstr(brief, "goodput"));
    free(brief);
    assert_int_equal(exit_status_of_trials(&s), 0);
    s.trials[1].conclusion = CONCLUSION_NO; /* nothing succeeded in it */
    assert_int_equal(exit_status_of_trials(&s), 1);
    s.trials[1].conclusion = CONCLUSION_YES;
    s.set.asked = 3; /* it was killed in the third */
    assert_int_equal(exit_status_of_trials(&s), 4);
    trials_summary_fini(&s);
}

/* Failures are beyond every value, and too few samples are no value. */
TEST(values_that_are_none)
{
    static const double p99_ms[] = {1, 2, 3};
    struct trials_summary s = made(p99_ms, 3, 100);

    s.trials[0].quantile_ns[MEASURE_E2E][P99] = HIST_BEYOND;
    s.trials[1].quantile_ns[MEASURE_E2E][P50] = HIST_TOO_FEW;
    trials_work_out(&s);
    assert_true(s.quantile[MEASURE_E2E][P99].median.median.value == 3e6);
    assert_true(isinf(s.quantile[MEASURE_E2E][P99].greatest));
    assert_false(s.quantile[MEASURE_E2E][P99].mean.has_range);
    assert_false(s.quantile[MEASURE_E2E][P50].is_known);
    assert_int_equal(s.quantile[MEASURE_E2E][P50].n_missing, 1);
    assert_true(s.quantile[MEASURE_E2E][P50].missing == HIST_TOO_FEW);
    trials_summary_fini(&s);
}

TEST(the_odd_one_is_shown)
{
    static const double steady[] = {10, 10.1, 9.9, 10.2, 9.8};
    static const double odd[] = {10, 10.1, 9.9, 50, 10.2, 9.8};
    static const double near[] = {10, 10, 10, 10, 10.4};
    struct trials_summary s = made(steady, 5, 100);

    trials_work_out(&s);
    assert_int_equal(s.n_odd, 0);
    trials_summary_fini(&s);
    s = made(near, 5, 100);
    trials_work_out(&s);
    assert_int_equal(s.n_odd, 0);
    trials_summary_fini(&s);
    s = made(odd, 6, 100);
    trials_work_out(&s);
    assert_int_equal(s.n_odd, 1);
    assert_int_equal(s.odd[0].number, 4);
    assert_string_equal(s.odd[0].what, "e2e p99");
    assert_true(s.odd[0].is_ns && s.odd[0].value == 50e6);
    assert_int_equal(s.counted, 6);
    trials_summary_fini(&s);
}

/* By chance, less than one set in a hundred; of 2000 that are 20, with three
 * standard deviations 34. */
TEST(few_are_odd_by_chance)
{
    static const size_t sizes[] = {5, 6, 7, 10, 20};
    struct rng rng = rng_stream(1, RNG_DEMAND);

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        int alarms = 0;

        for (int k = 0; k < 2000; k++) {
            double p99_ms[20];
            struct trials_summary s;

            for (size_t t = 0; t < sizes[i]; t++)
                p99_ms[t] = 1000 + 100 * rng_normal(&rng);
            s = made(p99_ms, sizes[i], 1e9);
            trials_work_out(&s);
            alarms += s.n_odd > 0;
            trials_summary_fini(&s);
        }
        assert_true(alarms <= 34);
    }
}

TEST(text_and_json_say_the_same)
{
    static const char *const in_words[] = {"95% requires", "least 6", "95% con",
                                           NULL};
    static const double p99_ms[] = {10, 10.1, 9.9, 50, 10.2};
    struct trials_summary s = made(p99_ms, 5, 100);
    struct buf text;
    json_t *json;

    s.trials[4].stopped_by = SIGINT;
    s.trials[1].lost_requests = 57;
    snprintf(s.trials[1].discarded, sizeof(s.trials[1].discarded),
             "damaged: 57 requests are missing");
    s.set.recorded = 5;
    s.set.asked = 8;
    trials_work_out(&s);
    json = doc_json_of(trials_doc(&s));
    assert_true(number_at(json, "trials.asked") == 8);
    assert_true(number_at(json, "trials.counted") == 3);
    assert_true(number_at(json, "trials.discarded") == 1);
    assert_true(number_at(json, "launches") == 1);
    assert_true(fabs(number_at(json, "measures.e2e.p99_ms.median") - 10) <
                1e-9);
    assert_true(number_at(json, "throughput_rps.max") == 500);
    assert_true(json_is_null(json_object_get(json, "output_tokens_per_s")));
    buf_init(&text, (size_t)1 << 20);
    doc_put(trials_doc(&s), DOC_AS_TEXT, &text);
    assert_int_equal(
        strangers_in(strstr(buf_text(&text), "trials "), json, in_words), 0);
    assert_golden_doc("trials", trials_doc(&s));
    doc_put(trials_doc(&s), DOC_AS_FULL, &text);
    assert_int_equal(unsaid_in(buf_text(&text), json), 0);
    json_decref(json);
    buf_fini(&text);
    trials_summary_fini(&s);
}
