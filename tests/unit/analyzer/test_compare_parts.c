/* The pure parts of a comparison: quantities, conditions, ranks, fairness. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare/compare.h"
#include "analyzer/compare/compare_history.h"
#include "analyzer/compare/fairness.h"
#include "analyzer/compare/matched.h"
#include "analyzer/compare/quantity.h"
#include "analyzer/compare/window_slices.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"

static void assert_near(double value, double expected, double within)
{
    if (!(fabs(value - expected) <= within))
        fail_msg("%.10g is not %.10g", value, expected);
}

/* ---- quantities ---- */

TEST(quantities_are_written_as_in_an_slo)
{
    struct quantity q;
    struct err err = {0};

    assert_int_equal(quantity_parse("ttft p99.9", &q, &err), 0);
    assert_int_equal(q.measure, MEASURE_TTFT);
    assert_near(q.q, 0.999, 1e-12);
    assert_string_equal(q.name, "ttft p99.9");
    assert_false(quantity_more_is_better(&q));
    assert_int_equal(quantity_parse("goodput", &q, &err), 0);
    assert_true(quantity_more_is_better(&q));
    assert_int_equal(quantity_parse("errors", &q, &err), 0);
    assert_false(quantity_more_is_better(&q));
    assert_int_equal(quantity_parse("e2e", &q, &err), -1);
    assert_int_equal(err.code, ERR_USAGE);
    err = (struct err){0};
    assert_int_equal(quantity_parse("throughput", &q, &err), 0);
    assert_string_equal(q.name, "throughput");
    assert_string_equal(quantity_label(&q), "finished in the window");
    assert_int_equal(quantity_parse("tfft p99", &q, &err), -1);
    assert_int_equal(err.code, ERR_USAGE);
    assert_non_null(
        strstr(err.msg, "did you mean 'ttft'? The measures are e2e, "));
}

TEST(asked_for_are_flags_then_the_slo_then_the_usual)
{
    struct slo slo = slo_of("ttft p99 < 200ms, errors < 1%, good >= 90%");
    struct slo none = {0};
    struct strlist on = {0};
    struct quantities qs;
    struct err err = {0};

    assert_int_equal(quantities_make(&qs, &on, &slo, true, &err), 0);
    assert_int_equal(qs.asked, 3);
    assert_string_equal(qs.list[0].name, "ttft p99");
    assert_string_equal(qs.list[1].name, "errors");
    assert_string_equal(qs.list[2].name, "attainment");
    assert_int_equal(qs.shown, 8 + 9); /* none twice */
    assert_int_equal(quantities_make(&qs, &on, &none, true, &err), 0);
    assert_int_equal(qs.asked, 1);
    assert_string_equal(qs.list[0].name, "e2e p99");
    assert_int_equal(quantities_make(&qs, &on, &none, false, &err), 0);
    assert_int_equal(qs.asked, 2); /* of a closed loop */
    assert_string_equal(qs.list[0].name, "e2e p99");
    assert_string_equal(qs.list[1].name, "throughput");
    strlist_add(&on, "stall p95");
    assert_int_equal(quantities_make(&qs, &on, &slo, true, &err), 0);
    assert_int_equal(qs.asked, 1);
    assert_string_equal(qs.list[0].name, "stall p95");
    assert_int_equal(qs.shown, 8 + 9 + 1);
    strlist_fini(&on);
}

/* ---- blocks ---- */

TEST(blocks_count_as_a_summary_does)
{
    struct window_slices *b = xcalloc(1, sizeof(*b));
    struct slo slo = slo_of("e2e p50 < 20ms");
    struct window window = {.start_ns = 0, .end_ns = 20 * NS_PER_S};
    struct strlist on = {0};
    struct quantities qs;
    struct err err = {0};
    struct good_table good = {0};
    struct quantity q;

    quantities_make(&qs, &on, &slo, true, &err);
    good_limits(&slo, good.run);
    window_slices_init(b, window, &good, &qs);
    /* one second a block, a hundred in each; in the last all are slow */
    for (int64_t i = 0; i < 2000; i++) {
        struct facts f = row_ok(i, 10 * i, i < 1900 ? 5 : 50);

        if (i % 100 == 99)
            f = row_failed(i, 10 * i, 5, OUTCOME_RESET);
        window_slices_add(b, &f);
    }
    quantity_parse("attainment", &q, &err);
    assert_near(window_slices_reading(b, &q, 0).value, 0.99, 1e-9);
    assert_near(window_slices_reading(b, &q, SLICES - 1).value, 0, 1e-9);
    assert_near(window_slices_reading(b, &q, SLICES_ALL).value, 1881.0 / 2000,
                1e-9);
    quantity_parse("goodput", &q, &err);
    assert_near(window_slices_reading(b, &q, 3).value, 99, 1e-9);
    quantity_parse("completed", &q, &err);
    assert_near(window_slices_reading(b, &q, SLICES - 1).value, 99, 1e-9);
    quantity_parse("errors", &q, &err);
    assert_near(window_slices_reading(b, &q, SLICES_ALL).value, 0.01, 1e-9);
    quantity_parse("e2e p50", &q, &err);
    assert_near(window_slices_reading(b, &q, 0).value, 5e6, 5e3);
    assert_near(window_slices_reading(b, &q, SLICES - 1).value, 50e6, 5e4);
    quantity_parse("e2e p99", &q, &err);
    assert_true(window_slices_reading(b, &q, 0).is_too_few);
    assert_false(window_slices_reading(b, &q, SLICES_ALL).is_too_few);
    quantity_parse("quality", &q, &err);
    assert_int_equal(window_slices_reading(b, &q, SLICES_ALL).n, 0);
    window_slices_fini(b);
    free(b);
}

/* One a second; of a stream evenly from its first event to its last, of an
 * answer in one piece at its end. */
TEST(tokens_fall_into_their_blocks)
{
    struct window_slices *b = xcalloc(1, sizeof(*b));
    struct good_table good = {0};
    struct window window = {.start_ns = 0, .end_ns = 20 * NS_PER_S};
    struct quantities qs = {0};
    struct facts stream = row_ok(0, 0, 4000);
    struct facts whole = row_ok(1, 0, 5500);
    struct facts late = row_ok(2, 19000, 4000); /* one half is outside */
    struct quantity q;
    struct err err = {0};

    window_slices_init(b, window, &good, &qs);
    stream.first = 2 * NS_PER_S;
    stream.last = 4 * NS_PER_S;
    stream.events = 5;
    stream.event_tokens = 100;
    whole.events = TIME_ABSENT;
    whole.output_tokens = 30;
    late.first = 19 * NS_PER_S;
    late.last = 21 * NS_PER_S;
    late.events = 5;
    late.event_tokens = 40;
    window_slices_add(b, &stream);
    window_slices_add(b, &whole);
    window_slices_add(b, &late);
    quantity_parse("tokens", &q, &err);
    assert_near(window_slices_reading(b, &q, 1).value, 0, 1e-9);
    assert_near(window_slices_reading(b, &q, 2).value, 50, 1e-9);
    assert_near(window_slices_reading(b, &q, 3).value, 50, 1e-9);
    assert_near(window_slices_reading(b, &q, 5).value, 30, 1e-9);
    assert_near(window_slices_reading(b, &q, 19).value, 20, 1e-9);
    assert_near(window_slices_reading(b, &q, SLICES_ALL).value, 150.0 / 20,
                1e-9);
    window_slices_fini(b);
    free(b);
}

/* 2000 requests, of which one in ten is slow: spread over all blocks those are
 * worth what they are, all in two blocks next to nothing. */
static double worth_of_slow(bool is_clustered)
{
    struct window_slices *b = xcalloc(1, sizeof(*b));
    struct good_table good = {0};
    struct window window = {.start_ns = 0, .end_ns = 20 * NS_PER_S};
    struct quantities qs = {.len = 1};
    struct slice_readings r;
    struct err err = {0};

    quantity_parse("e2e p90", &qs.list[0], &err);
    window_slices_init(b, window, &good, &qs);
    for (int64_t i = 0; i < 2000; i++) {
        bool is_slow = is_clustered ? i >= 500 && i < 700 : i % 10 == 0;
        struct facts f = row_ok(i, 10 * i, is_slow ? 50 : 5);

        window_slices_add(b, &f);
    }
    window_slices_readings(b, &qs.list[0], &r);
    assert_true(r.has_all);
    assert_int_equal(r.min_n, 100);
    window_slices_fini(b);
    free(b);
    return r.beyond;
}

/* Two blocks of 100 that are all slow, 18 without: the squares sum to 18000, /
 * 19, against 9 of independent ones; 200 / 105.3. */
TEST(clusters_are_worth_less)
{
    assert_near(worth_of_slow(false), 200, 1e-6);
    assert_near(worth_of_slow(true), 1.9, 0.01);
}

/* ---- conditions ---- */

static struct strmap conditions_of(const char *rate, const char *batching,
                                   const char *seed, const char *host)
{
    struct strmap card = {0};

    strmap_put(&card, "load.rate", rate);
    if (batching)
        strmap_put(&card, "conditions.batching", batching);
    strmap_put(&card, "load.seed", seed);
    strmap_put(&card, "environment.host", host);
    strmap_put(&card, "slo", "e2e p99 < 1s");
    return card;
}

TEST(differences_are_of_three_kinds)
{
    struct strmap a = conditions_of("50", "none", "1", "here");
    struct strmap b = conditions_of("60", NULL, "2", "there");
    struct match match = {.side = 1};
    struct differences d = {0};

    matched_find(&d, &a, &b, &match);
    assert_int_equal(d.len, 4);
    assert_int_equal(d.must, 2);
    assert_string_equal(d.list[0].key, "load.rate");
    assert_string_equal(d.list[0].a, "50");
    assert_string_equal(d.list[0].b, "60");
    assert_int_equal(d.list[0].kind, DIFFERENCE_MUST);
    assert_string_equal(d.list[1].key, "conditions.batching");
    assert_string_equal(d.list[1].b, "(none)");
    assert_int_equal(d.list[2].kind, DIFFERENCE_NOTED);
    assert_int_equal(d.list[3].kind, DIFFERENCE_WARNS);
    matched_find(&d, &a, &b, &match); /* nothing twice */
    assert_int_equal(d.len, 4);
    differences_fini(&d);
    match.is_must = true;
    matched_find(&d, &b, &a, &match);
    assert_int_equal(d.len, 2);
    differences_fini(&d);
    strmap_fini(&a);
    strmap_fini(&b);
}

TEST(the_declared_variable_may_differ)
{
    struct strmap a = conditions_of("50", "none", "1", "here");
    struct strmap b = conditions_of("50", "dynamic", "1", "here");
    const struct strmap *cards[] = {&a, &b};
    char *key = matched_key(cards, 2, "batching");
    struct match match = {.vary = key, .side = 1};
    struct differences d = {0};
    char *rate = matched_key(cards, 2, "load.rate");

    assert_string_equal(key, "conditions.batching");
    assert_string_equal(rate, "load.rate");
    assert_null(matched_key(cards, 2, "precision"));
    matched_find(&d, &a, &b, &match);
    assert_int_equal(d.len, 1);
    assert_int_equal(d.must, 0);
    assert_true(d.list[0].is_declared);
    differences_fini(&d);
    free(key);
    free(rate);
    strmap_fini(&a);
    strmap_fini(&b);
}

TEST(what_nobody_knows_must_match)
{
    static const struct {
        const char *key;
        enum difference_kind kind;
    } cases[] = {
        {"classes", DIFFERENCE_MUST},
        {"sessions.turns", DIFFERENCE_MUST},
        {"load.arrival", DIFFERENCE_MUST},
        {"load.warmup", DIFFERENCE_MUST},
        {"load.drain", DIFFERENCE_MUST},
        {"data.sha256", DIFFERENCE_MUST},
        {"trace.hash", DIFFERENCE_MUST},
        {"target.model", DIFFERENCE_MUST},
        {"target.stream", DIFFERENCE_MUST},
        {"conditions.anything", DIFFERENCE_MUST},
        {"stub.service", DIFFERENCE_MUST},
        {"target.url", DIFFERENCE_NOTED},
        {"data.nonce", DIFFERENCE_NOTED},
        {"noise.steal", DIFFERENCE_NOTED},
        {"clock.utc", DIFFERENCE_NOTED},
        {"tailgate", DIFFERENCE_WARNS},
        {"client.threads", DIFFERENCE_WARNS},
        {"environment.cpus", DIFFERENCE_WARNS},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *why = NULL;

        if (matched_kind(cases[i].key, &why) != cases[i].kind)
            fail_msg("%s", cases[i].key);
        assert_non_null(why);
    }
}

TEST(another_objective_takes_the_place_of_both)
{
    struct strmap a = {0};
    struct strmap b = {0};
    struct match match = {.ignores_slo = true};
    struct differences d = {0};

    strmap_put(&a, "slo", "e2e p99 < 1s");
    strmap_put(&b, "slo", "e2e p99 < 2s");
    matched_find(&d, &a, &b, &match);
    assert_int_equal(d.len, 0);
    match.ignores_slo = false;
    matched_find(&d, &a, &b, &match);
    assert_int_equal(d.must, 1);
    differences_fini(&d);
    strmap_fini(&a);
    strmap_fini(&b);
}

/* ---- ranks ---- */

TEST(what_is_not_shown_to_be_worse_shares_a_rank)
{
    enum { N = 4 };
    struct placed list[N] = {
        {.side = 0, .value = 30, .has_value = true},
        {.side = 1, .value = 10, .has_value = true},
        {.side = 2},
        {.side = 3, .value = 11, .has_value = true},
    };
    enum finding_verdict verdicts[N * N] = {0};

    verdicts[1 * N + 0] = FINDING_WORSE; /* 0 against 1 */
    rank_sort(list, N, false);
    rank_group(list, N, verdicts);
    assert_int_equal(list[0].side, 1);
    assert_int_equal(list[0].rank, 1);
    assert_int_equal(list[1].side, 3);
    assert_int_equal(list[1].rank, 1);
    assert_int_equal(list[2].side, 0);
    assert_int_equal(list[2].rank, 3);
    assert_int_equal(list[3].side, 2);
    assert_int_equal(list[3].rank, 0);
    rank_sort(list, N, true);
    assert_int_equal(list[0].side, 0);
    assert_int_equal(list[3].side, 2);
}

/* ---- fairness ---- */

static const struct fairness_facts fair = {
    .is_declared = true,
    .min_trials = 5,
    .baseline_trials = 5,
    .max_trials = 5,
    .baseline_is_trusted = true,
    .has_tail = true,
    .has_slo = true,
    .has_warmup = true,
    .quality = QUALITY_ALIKE,
};

static struct fairness_check answer_to(const struct fairness_facts *f,
                                       const char *name)
{
    struct fairness out;

    fairness_make(&out, f);
    for (size_t i = 0; i < FAIRNESS_CHECKS; i++) {
        const struct fairness_check *k = &out.checks[i];

        assert_true((k->answer == FAIRNESS_PASSED) == (k->mend[0] == '\0'));
        assert_true(k->says[0] != '\0');
        if (strcmp(k->name, name) == 0)
            return *k;
    }
    fail_msg("no check %s", name);
    return out.checks[0];
}

TEST(a_fair_comparison_passes_everything)
{
    struct fairness out;

    fairness_make(&out, &fair);
    assert_int_equal(out.failed, 0);
    assert_int_equal(out.unknown, 0);
}

/* Each of a check's ways to fail has a mend of its own. */
static void assert_answer(const struct fairness_facts *f, const char *name,
                          enum fairness_answer answer, const char *mend)
{
    struct fairness_check k = answer_to(f, name);

    assert_int_equal(k.answer, answer);
    if (!strstr(k.mend, mend))
        fail_msg("%s: '%s' has no '%s'", name, k.mend, mend);
}

TEST(pitfalls_of_the_sides_have_their_checks)
{
    struct fairness_facts f;

    f = fair;
    f.is_declared = false;
    assert_answer(&f, "baseline", FAIRNESS_UNKNOWN, "--vary");
    f = fair;
    f.baseline_is_trusted = false;
    assert_answer(&f, "baseline", FAIRNESS_FAILED, "run the baseline again");
    f = fair;
    f.baseline_breaks_slo = true;
    assert_answer(&f, "baseline", FAIRNESS_FAILED,
                  "a load at which the baseline");
    f = fair;
    f.max_trials = 6;
    assert_answer(&f, "baseline", FAIRNESS_FAILED, "as many trials");
    f = fair;
    f.mismatches = 1;
    assert_answer(&f, "conditions", FAIRNESS_FAILED, "conditions of the other");
    f.lacks_model = true; /* a difference that is known says more */
    assert_answer(&f, "conditions", FAIRNESS_FAILED, "conditions of the other");
    f = fair;
    f.lacks_precision = true;
    f.lacks_model = true;
    assert_answer(&f, "conditions", FAIRNESS_UNKNOWN, "--label precision=");
    assert_string_equal(answer_to(&f, "conditions").says,
                        "labelled on no side, so it is unknown whether these "
                        "match: precision, model");
    f.lacks_precision = false;
    f.lacks_model = false;
    f.lacks_hardware = true;
    assert_non_null(strstr(answer_to(&f, "conditions").says, ": hardware"));
    f = fair;
    f.min_trials = 4;
    assert_answer(&f, "repeats", FAIRNESS_FAILED, "--trials 5");
    f = fair;
    f.is_one_launch = true;
    assert_answer(&f, "repeats", FAIRNESS_UNKNOWN, "--restart");
    f = fair;
    f.has_tail = false;
    assert_answer(&f, "tail", FAIRNESS_FAILED, "--on 'e2e p99'");
    f = fair;
    f.breaks_slo = true;
    assert_answer(&f, "within the SLO", FAIRNESS_FAILED, "keeps its objective");
    f = fair;
    f.has_slo = false;
    assert_answer(&f, "within the SLO", FAIRNESS_UNKNOWN, "--slo");
}

TEST(pitfalls_of_the_runs_have_their_checks)
{
    struct fairness_facts f;

    f = fair;
    f.has_warmup = false;
    assert_answer(&f, "warm-up", FAIRNESS_FAILED, "--warmup 10s");
    f = fair;
    f.is_warmup_too_short = true;
    assert_answer(&f, "warm-up", FAIRNESS_FAILED, "the reports suggest");
    f = fair;
    f.quality = QUALITY_DIFFERS;
    assert_answer(&f, "quality", FAIRNESS_FAILED, "answer equally well");
    f = fair;
    f.quality = QUALITY_NOT_CHECKED;
    assert_answer(&f, "quality", FAIRNESS_UNKNOWN, "--check");
    f = fair;
    f.quality = QUALITY_CANNOT_TELL;
    assert_answer(&f, "quality", FAIRNESS_UNKNOWN, "check more answers");
    f = fair;
    f.is_mixed_loop = true;
    assert_answer(&f, "regime", FAIRNESS_FAILED, "the same scenario");
    f = fair;
    f.is_overloaded = true;
    assert_answer(&f, "regime", FAIRNESS_FAILED, "every side can take");
    f = fair;
    f.warnings = 1;
    assert_answer(&f, "client", FAIRNESS_FAILED, "one host");
    f = fair;
    f.is_untrusted = true;
    assert_answer(&f, "trust", FAIRNESS_FAILED, "run it again");
}

/* ---- histories ---- */

/* 12 values around 100 and then 12 around `then`. */
static struct segments segments_with(double then, size_t n)
{
    struct segments s;
    double x[24];

    for (size_t i = 0; i < n; i++)
        x[i] = (i < 12 ? 100 : then) + (double)(i * 7 % 5);
    segments_find(&s, x, n);
    return s;
}

TEST(a_change_cuts_a_series)
{
    struct segments s = segments_with(150, 24);

    assert_int_equal(s.len, 2);
    assert_int_equal(s.list[1].first, 12);
    assert_int_equal(s.list[0].n, 12);
    assert_near(s.list[0].median, 102, 1);
    assert_near(s.list[1].median, 152, 1);
    assert_true(s.list[1].p <= SEGMENTS_LEVEL);
    assert_near(segments_loss(&s, false), 0.49, 0.02);
    assert_near(segments_loss(&s, true), -0.49, 0.02);
}

TEST(a_series_without_change_is_one_segment)
{
    struct segments s = segments_with(100, 24);

    assert_int_equal(s.len, 1);
    assert_near(segments_loss(&s, false), 0, 0);
    s = segments_with(100, SEGMENTS_MIN - 1);
    assert_int_equal(s.len, 0);
}
