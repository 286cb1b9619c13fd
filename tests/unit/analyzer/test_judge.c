/* Verdicts on counts made by hand. */
#include <math.h>

#include "analyzer/verdict/judge.h"
#include "common/base/clk.h"
#include "tests/support/keep.h"
#include "tests/support/mm1.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"

#define WINDOW_MS 10000

/* How many requests of each kind, spread evenly over a window of 10 s. */
struct workload {
    int64_t fast; /* 5 ms */
    int64_t slow; /* 50 ms */
    int64_t failed;
    int64_t open;    /* unfinished, after 1 ms ... */
    int64_t overdue; /* ... and after 20 */
    int64_t unsent;
};

static struct facts row_of(const struct workload *m, int64_t i, int64_t due_ms)
{
    if (i < m->fast)
        return row_ok(i, due_ms, 5);
    i -= m->fast;
    if (i < m->slow)
        return row_ok(i, due_ms, 50);
    i -= m->slow;
    if (i < m->failed)
        return row_failed(i, due_ms, 1, OUTCOME_STATUS);
    i -= m->failed;
    if (i < m->open)
        return row_failed(i, due_ms, 1, OUTCOME_UNFINISHED);
    i -= m->open;
    if (i < m->overdue)
        return row_failed(i, due_ms, 20, OUTCOME_UNFINISHED);
    return row_unsent(i, due_ms);
}

/* Each kind is spread over the window, so that nothing is clustered. */
static void add_spread(struct tally *t, const struct workload *m)
{
    const int64_t counts[] = {m->fast, m->slow,    m->failed,
                              m->open, m->overdue, m->unsent};
    int64_t first = 0;

    for (size_t k = 0; k < COUNT(counts); k++) {
        for (int64_t i = 0; i < counts[k]; i++) {
            int64_t due_ms = (2 * i + 1) * WINDOW_MS / (2 * counts[k]);
            struct facts f = row_of(m, first + i, due_ms);

            tally_add(t, &f);
        }
        first += counts[k];
    }
}

static struct judgement judge_mix(const char *terms, const struct workload *m)
{
    static struct slo slo; /* the judgement points into it */
    const struct window w = {.end_ns = WINDOW_MS * NS_PER_MS};
    struct judgement j;
    struct tally t;

    slo = slo_of(terms);
    tally_init(&t, w, &slo);
    add_spread(&t, m);
    judge(&t, WINDOW_MS / 1e3, &j);
    tally_fini(&t);
    return j;
}

struct verdict_case {
    const char *slo;
    struct workload workload;
    enum verdict want;
};

static void check_verdicts(const struct verdict_case *cases, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        struct judgement j = judge_mix(cases[i].slo, &cases[i].workload);

        if (j.verdict != cases[i].want)
            print_error("case %zu: %s, want %s\n", i, verdict_name(j.verdict),
                        verdict_name(cases[i].want));
        assert_int_equal(j.verdict, cases[i].want);
    }
}

/* Exactly ceil(q n) must keep the limit; failed and unsent ones do not. */
TEST(quantiles_are_judged_by_rank)
{
    static const struct verdict_case cases[] = {
        {"e2e p99 < 10ms", {.fast = 990, .slow = 10}, VERDICT_PASS},
        {"e2e p99 < 10ms", {.fast = 989, .slow = 11}, VERDICT_FAIL},
        {"e2e p99 < 10ms", {.fast = 990, .failed = 10}, VERDICT_PASS},
        {"e2e p99 < 10ms", {.fast = 989, .failed = 11}, VERDICT_FAIL},
        {"e2e p99 < 10ms", {.fast = 989, .unsent = 11}, VERDICT_FAIL},
        {"e2e p99 < 10ms",
         {.fast = 989, .slow = 4, .failed = 4, .unsent = 3},
         VERDICT_FAIL},
        {"e2e p99 < 5ms", {.fast = 1000}, VERDICT_FAIL}, /* strictly below */
        {"e2e p99 < 50.1ms", {.slow = 1000}, VERDICT_PASS},
        {"e2e p50 < 10ms", {.fast = 500, .slow = 500}, VERDICT_PASS},
        {"e2e p50 < 10ms", {.fast = 499, .slow = 501}, VERDICT_FAIL},
        {"e2e p99.9 < 10ms", {.fast = 9990, .slow = 10}, VERDICT_PASS},
        {"e2e p99.9 < 10ms", {.fast = 9989, .slow = 11}, VERDICT_FAIL},
    };

    check_verdicts(cases, COUNT(cases));
}

TEST(unfinished_are_judged_both_ways)
{
    static const struct verdict_case cases[] = {
        {"e2e p99 < 10ms", {.fast = 990, .open = 10}, VERDICT_PASS},
        {"e2e p99 < 10ms", {.fast = 989, .open = 11}, VERDICT_UNDECIDED},
        {"e2e p99 < 10ms",
         {.fast = 980, .slow = 10, .open = 10},
         VERDICT_UNDECIDED},
        {"e2e p99 < 10ms", {.fast = 979, .slow = 11, .open = 10}, VERDICT_FAIL},
        {"e2e p99 < 10ms", {.fast = 980, .overdue = 20}, VERDICT_FAIL},
        {"ttft p99 < 10ms", {.fast = 980, .overdue = 20}, VERDICT_FAIL},
        {"ttfb p99 < 10ms", {.fast = 980, .overdue = 20}, VERDICT_FAIL},
        {"e2e p99 < 30ms", {.fast = 980, .overdue = 20}, VERDICT_UNDECIDED},
        {"errors < 1%", {.fast = 980, .overdue = 20}, VERDICT_UNDECIDED},
        {"errors < 1%", {.fast = 991, .open = 9}, VERDICT_PASS},
        {"errors < 1%", {.fast = 990, .open = 10}, VERDICT_UNDECIDED},
        {"errors < 1%", {.fast = 989, .failed = 10, .open = 1}, VERDICT_FAIL},
        {"good >= 90%", {.fast = 900, .open = 100}, VERDICT_PASS},
        {"good >= 90%", {.fast = 899, .open = 101}, VERDICT_UNDECIDED},
        {"good >= 90%", {.fast = 800, .failed = 101, .open = 99}, VERDICT_FAIL},
        {"goodput >= 90/s", {.fast = 899, .open = 1}, VERDICT_UNDECIDED},
        {"goodput >= 90/s", {.fast = 898, .open = 1}, VERDICT_FAIL},
    };

    check_verdicts(cases, COUNT(cases));
}

/* What a set of trials and a search count: open ones are apart, and an overdue
 * one is not open where its limit has passed. */
TEST(open_samples_are_counted_apart)
{
    static const struct {
        const char *slo;
        int64_t n;
        int64_t misses;
        int64_t open;
    } cases[] = {
        {"e2e p99 < 10ms", 860, 60, 140}, {"e2e p99 < 30ms", 850, 50, 150},
        {"errors < 1%", 850, 50, 150},    {"good >= 90%", 850, 50, 150},
        {"quality >= 0.9", 0, 0, 150},    {"goodput >= 40/s", 0, 0, 150},
    };
    const struct workload workload = {
        .fast = 800, .failed = 50, .open = 140, .overdue = 10};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct judgement j = judge_mix(cases[i].slo, &workload);
        const struct term_counts *c = &j.terms[0].counts;
        int64_t misses = 0;

        for (size_t k = 0; k < TALLY_SLICES; k++)
            misses += c->slices[k].hits;
        assert_int_equal(c->n, cases[i].n);
        assert_int_equal(c->misses, cases[i].misses);
        assert_int_equal(c->open, cases[i].open);
        assert_int_equal(misses, cases[i].misses);
    }
}

/* Shares whose product with n is not what it seems in binary: 0.07 * 100 is
 * above 7, 0.29 * 100 below 29. */
TEST(shares_are_judged_at_their_exact_boundary)
{
    static const struct verdict_case cases[] = {
        {"errors < 1%", {.fast = 990, .failed = 10}, VERDICT_FAIL},
        {"errors < 1.1%", {.fast = 990, .failed = 10}, VERDICT_PASS},
        {"errors < 0.1%", {.fast = 3996, .failed = 4}, VERDICT_FAIL},
        {"errors < 0.1%", {.fast = 3997, .failed = 4}, VERDICT_PASS},
        {"errors < 7%", {.fast = 93, .failed = 7}, VERDICT_FAIL},
        {"errors < 7%", {.fast = 94, .failed = 6}, VERDICT_PASS},
        {"errors < 1%", {.fast = 990, .unsent = 10}, VERDICT_FAIL},
        {"good >= 90%", {.fast = 90, .failed = 10}, VERDICT_PASS},
        {"good >= 90%", {.fast = 89, .failed = 11}, VERDICT_FAIL},
        {"good >= 90%", {.fast = 89, .unsent = 11}, VERDICT_FAIL},
        {"good >= 7%", {.fast = 7, .failed = 93}, VERDICT_PASS},
        {"good >= 7%", {.fast = 6, .failed = 94}, VERDICT_FAIL},
        {"good >= 29%", {.fast = 29, .failed = 71}, VERDICT_PASS},
        {"good >= 29%", {.fast = 28, .failed = 72}, VERDICT_FAIL},
        {"good >= 100%", {.fast = 1000}, VERDICT_PASS},
        {"goodput >= 40/s", {.fast = 400}, VERDICT_PASS},
        {"goodput >= 40/s", {.fast = 399}, VERDICT_FAIL},
        {"goodput >= 0.7/s", {.fast = 7}, VERDICT_PASS},
        {"goodput >= 0.7/s", {.fast = 6, .slow = 0}, VERDICT_FAIL},
        /* slow ones are not good where a limit says so */
        {"good >= 90%,e2e p1 < 10ms", {.fast = 900, .slow = 100}, VERDICT_PASS},
        {"good >= 90%,e2e p1 < 10ms", {.fast = 899, .slow = 101}, VERDICT_FAIL},
    };

    check_verdicts(cases, COUNT(cases));
}

/* Windows in which seconds are no binary fraction. */
TEST(goodput_is_exact_in_odd_windows)
{
    for (int64_t ms = 1; ms < 2000; ms++) {
        struct slo slo = slo_of("goodput >= 1000/s");
        const struct window w = {.end_ns = ms * NS_PER_MS};
        struct judgement j;
        struct tally t;

        tally_init(&t, w, &slo);
        t.due = ms;
        t.good = ms;
        judge(&t, (double)w.end_ns / 1e9, &j);
        assert_int_equal(j.verdict, VERDICT_PASS);
        t.good--;
        judge(&t, (double)w.end_ns / 1e9, &j);
        assert_int_equal(j.verdict, VERDICT_FAIL);
        tally_fini(&t);
        ms += ms / 10;
    }
}

/* ---- few samples ---- */

TEST(a_pass_needs_enough_samples)
{
    static const struct {
        int64_t n;
        enum verdict want;
        int64_t more_needed;
    } cases[] = {
        {0, VERDICT_UNDECIDED, 299},   {1, VERDICT_UNDECIDED, 298},
        {100, VERDICT_UNDECIDED, 199}, {298, VERDICT_UNDECIDED, 1},
        {299, VERDICT_PASS, 0},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct workload workload = {.fast = cases[i].n};
        struct judgement j = judge_mix("e2e p99 < 10ms", &workload);

        assert_int_equal(j.verdict, cases[i].want);
        assert_int_equal(j.terms[0].more_needed, cases[i].more_needed);
        assert_true(j.terms[0].n_effective == (double)cases[i].n);
        assert_null(j.terms[0].why);
    }
}

/* P(X >= misses) for Binomial(n, 0.01): n = 100: 2 0.264, 3 0.079, 4 0.018;
 * n = 10: 1 0.096, 2 0.0043, 3 0.0001. */
TEST(an_obvious_failure_needs_few)
{
    static const struct verdict_case cases[] = {
        {"e2e p99 < 10ms", {.fast = 98, .slow = 2}, VERDICT_UNDECIDED},
        {"e2e p99 < 10ms", {.fast = 97, .slow = 3}, VERDICT_UNDECIDED},
        {"e2e p99 < 10ms", {.fast = 96, .slow = 4}, VERDICT_FAIL},
        {"e2e p99 < 10ms", {.fast = 96, .unsent = 4}, VERDICT_FAIL},
        {"e2e p99 < 10ms", {.fast = 9, .slow = 1}, VERDICT_UNDECIDED},
        {"e2e p99 < 10ms", {.fast = 7, .slow = 3}, VERDICT_FAIL},
        {"e2e p99 < 10ms", {.failed = 20}, VERDICT_FAIL},
        /* it is not known whether two or seven missed */
        {"e2e p99 < 10ms",
         {.fast = 93, .slow = 2, .open = 5},
         VERDICT_UNDECIDED},
        {"e2e p99 < 10ms", {.fast = 91, .slow = 4, .open = 5}, VERDICT_FAIL},
    };

    check_verdicts(cases, COUNT(cases));
}

/* 10 misses of 1000, all in one of 20 batches: squares are 9.5^2 + 19 * 0.5^2
 * = 95 over 19, which is 5, against 0.495 of independent ones: 10.1 times.  So
 * 1000 are worth at most 99, which show nothing.  As many misses, spread
 * evenly, do not show a pass either, but 3 of 1000 do. */
TEST(clustered_misses_count_for_less)
{
    struct slo slo = slo_of("e2e p99 < 10ms");
    const struct window w = {.end_ns = WINDOW_MS * NS_PER_MS};
    struct judgement j;
    struct tally t;

    tally_init(&t, w, &slo);
    for (int64_t i = 0; i < 1000; i++) {
        struct facts f = row_ok(i, i * 10 + 5, i / 10 == 51 ? 50 : 5);

        tally_add(&t, &f);
    }
    judge(&t, WINDOW_MS / 1e3, &j);
    assert_true(j.terms[0].n_effective <= 99 + 1e-6);
    assert_int_equal(j.verdict, VERDICT_PASS);
    assert_false(j.is_shown);
    assert_true(isinf(j.decide_in_s)); /* exactly as many as allowed */
    tally_fini(&t);
}

/* With 1000 independent requests and 1 % allowed, chance alone gives up to 3
 * misses in 1 %, up to 5 in 7 %, 15 and more in 8 %, and 20 and more in 0.3 %
 * of all runs.  The test is a little stricter, since it cannot know that they
 * are independent. */
TEST(a_verdict_is_shown_if_chance_does_not_explain_it)
{
    static const struct {
        const char *slo;
        struct workload workload;
        enum verdict verdict;
        bool is_shown;
    } cases[] = {
        {"e2e p99 < 10ms", {.fast = 1000}, VERDICT_PASS, true},
        {"e2e p99 < 10ms", {.fast = 997, .slow = 3}, VERDICT_PASS, true},
        {"e2e p99 < 10ms", {.fast = 995, .slow = 5}, VERDICT_PASS, false},
        {"e2e p99 < 10ms", {.fast = 985, .slow = 15}, VERDICT_FAIL, false},
        {"e2e p99 < 10ms", {.fast = 980, .slow = 20}, VERDICT_FAIL, true},
        {"errors < 1%", {.fast = 997, .failed = 3}, VERDICT_PASS, true},
        {"errors < 1%", {.fast = 995, .failed = 5}, VERDICT_PASS, false},
        {"good >= 99%", {.fast = 980, .failed = 20}, VERDICT_FAIL, true},
        {"good >= 99%", {.fast = 985, .failed = 15}, VERDICT_FAIL, false},
        /* unknown requests: the worse of both ways counts */
        {"e2e p99 < 10ms",
         {.fast = 995, .slow = 3, .open = 2},
         VERDICT_PASS,
         false},
        {"e2e p99 < 10ms",
         {.fast = 981, .slow = 15, .open = 4},
         VERDICT_FAIL,
         false},
        /* both must pass; of two, one fails by chance more easily */
        {"e2e p99 < 10ms,errors < 1%", {.fast = 1000}, VERDICT_PASS, true},
        {"e2e p99 < 10ms,e2e p99 < 1s",
         {.fast = 984, .slow = 16},
         VERDICT_FAIL,
         false},
        {"e2e p99 < 10ms,e2e p99 < 1s",
         {.fast = 970, .slow = 30},
         VERDICT_FAIL,
         true},
        {"good >= 100%", {.fast = 1000}, VERDICT_PASS, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct judgement j = judge_mix(cases[i].slo, &cases[i].workload);

        if (j.verdict != cases[i].verdict || j.is_shown != cases[i].is_shown)
            print_error("case %zu: %s, %s shown\n", i, verdict_name(j.verdict),
                        j.is_shown ? "is" : "not");
        assert_int_equal(j.verdict, cases[i].verdict);
        assert_int_equal(j.is_shown, cases[i].is_shown);
        assert_true(j.is_shown == (j.decide_in_s == 0) || j.len > 1);
    }
}

/* 0.5 % take 1145 independent requests to show. */
TEST(how_much_longer_is_told)
{
    struct workload workload = {.fast = 995, .slow = 5};
    struct judgement j = judge_mix("e2e p99 < 10ms", &workload);

    double n = j.terms[0].n_effective;

    assert_true(n > 800 && n <= 1000);
    assert_true(fabs(j.decide_in_s - 10 * (1145.2 / n - 1)) < 0.01);
    assert_true(j.terms[0].missed == 0.005);
}

/* The limit is outside the interval exactly if the verdict is shown. */
TEST(the_interval_agrees_with_the_verdict)
{
    for (int64_t slow = 0; slow < 40; slow++) {
        struct workload workload = {.fast = 1000 - slow, .slow = slow};
        struct judgement j = judge_mix("e2e p99 < 10ms", &workload);
        const struct term_judgement *t = &j.terms[0];
        bool is_outside = (t->high_ns >= 0 && t->high_ns <= 10 * NS_PER_MS) ||
                          t->low_ns >= 10 * NS_PER_MS;

        assert_int_equal(is_outside, t->is_shown);
        assert_true(t->low_ns <= 50 * NS_PER_MS && t->high_ns > 5 * NS_PER_MS);
    }
}

/* Where the limit is: inside the interval, or on which side of it. */
enum place { ALL_WITHIN, ACROSS, ALL_BEYOND };

static enum place place_of(const struct term_judgement *t, double offered_rps)
{
    double limit = t->term->limit;

    switch (t->term->kind) {
    case SLO_QUANTILE:
        return t->high_ns >= 0 && t->high_ns <= t->term->limit_ns ? ALL_WITHIN
               : t->low_ns >= t->term->limit_ns                   ? ALL_BEYOND
                                                                  : ACROSS;
    case SLO_ERRORS:
        return t->ci90.high <= limit  ? ALL_WITHIN
               : t->ci90.low >= limit ? ALL_BEYOND
                                      : ACROSS;
    default:
        if (t->term->kind == SLO_GOODPUT)
            limit /= offered_rps;
        return t->ci90.low >= limit    ? ALL_WITHIN
               : t->ci90.high <= limit ? ALL_BEYOND
                                       : ACROSS;
    }
}

static void check_place(const struct term_judgement *t, enum place place)
{
    enum place want = !t->is_shown                 ? ACROSS
                      : t->verdict == VERDICT_PASS ? ALL_WITHIN
                                                   : ALL_BEYOND;

    if (place != want)
        print_error("%s: %s, %s, %lld to %lld ns, %g to %g\n", t->term->text,
                    verdict_name(t->verdict),
                    t->is_shown ? "shown" : "observed", (long long)t->low_ns,
                    (long long)t->high_ns, t->ci90.low, t->ci90.high);
    assert_int_equal(place, want);
}

/* Simulated runs: an M/M/1 queue at some load, some failures, limits anywhere.
 * PASS that is shown never stands next to an interval that reaches the limit,
 * and what is not shown always does. */
TEST(no_verdict_contradicts_its_interval)
{
    struct rng r = rng_stream(7, RNG_FAULT);
    size_t seen[3][2] = {{0}};

    for (uint64_t run = 0; run < 400; run++) {
        double load = 0.3 + 0.6 * rng_uniform(&r);
        int64_t n = 100 + (int64_t)(3000 * rng_uniform(&r));
        double failing = 0.03 * rng_uniform(&r);
        double gap_ms = (double)WINDOW_MS / (double)n;
        struct mm1 q = mm1_start(run + 1, gap_ms, load * gap_ms);
        double limit = mm1_quantile(&q, 0.95) * (0.3 + 2 * rng_uniform(&r));
        double offered_rps = (double)n / (WINDOW_MS / 1e3);
        struct slo slo = slo_of(keepf(
            "e2e p95 < %.4gms,e2e p50 < %.4gms,errors < %.3g%%,good >= "
            "%.3g%%,goodput >= %.4g",
            1 + limit, 1 + limit / 3, 100 * failing * (0.2 + rng_uniform(&r)),
            100 - 20 * rng_uniform(&r),
            offered_rps * (1 - 0.2 * rng_uniform(&r))));
        struct judgement j;
        struct tally t;

        tally_init(&t, (struct window){.end_ns = WINDOW_MS * NS_PER_MS}, &slo);
        for (int64_t i = 0; i < n; i++) {
            double due_ms = 0;
            double ms = mm1_next(&q, &due_ms);
            struct facts f =
                rng_uniform(&r) < failing
                    ? row_failed(i, i * WINDOW_MS / n, 1, OUTCOME_STATUS)
                    : row_ok(i, i * WINDOW_MS / n, 1 + (int64_t)ms);

            tally_add(&t, &f);
        }
        judge(&t, WINDOW_MS / 1e3, &j);
        for (size_t i = 0; i < j.len; i++) {
            const struct term_judgement *term = &j.terms[i];
            enum place place = place_of(term, offered_rps);

            if (term->verdict != VERDICT_PASS && term->verdict != VERDICT_FAIL)
                continue;
            check_place(term, place);
            seen[place][term->verdict == VERDICT_PASS]++;
        }
        tally_fini(&t);
    }
    assert_true(seen[ALL_WITHIN][1] > 50 && seen[ALL_BEYOND][0] > 50);
    assert_true(seen[ACROSS][0] > 50 && seen[ACROSS][1] > 50);
}

/* ---- together ---- */

TEST(one_missed_term_decides)
{
    static const struct verdict_case cases[] = {
        {"", {.fast = 1}, VERDICT_NONE},
        {"errors < 1%,e2e p50 < 10ms", {.fast = 300}, VERDICT_PASS},
        {"errors < 1%,e2e p50 < 1ms", {.fast = 100}, VERDICT_FAIL},
        {"errors < 1%,e2e p99 < 10ms", {.fast = 100}, VERDICT_UNDECIDED},
        {"e2e p99 < 10ms,e2e p50 < 1ms", {.fast = 100}, VERDICT_FAIL},
        {"e2e p50 < 1ms,e2e p99 < 10ms", {.fast = 100}, VERDICT_FAIL},
    };

    check_verdicts(cases, COUNT(cases));
}

TEST(nothing_due_is_undecided)
{
    static const char *const slos[] = {"errors < 1%", "good >= 90%",
                                       "goodput >= 1/s", "e2e p99 < 1s"};
    struct workload none = {0};

    for (size_t i = 0; i < COUNT(slos); i++)
        assert_int_equal(judge_mix(slos[i], &none).verdict, VERDICT_UNDECIDED);
    assert_string_equal(judge_mix("goodput >= 1/s", &none).terms[0].why,
                        "no request was due in the window");
    assert_int_equal(judge_mix("errors < 1%", &none).terms[0].more_needed, 299);
}

TEST(what_was_measured_stands_beside)
{
    struct workload workload = {
        .fast = 60, .slow = 20, .failed = 12, .unsent = 8};
    struct judgement j = judge_mix("e2e p70 < 10ms,e2e p90 < 1s,errors < 1%,"
                                   "good >= 90%,goodput >= 40/s",
                                   &workload);

    assert_int_equal(j.len, 5);
    assert_true(fabs((double)j.terms[0].measured_ns - 50e6) < 50e3);
    assert_int_equal(j.terms[1].measured_ns, HIST_BEYOND);
    assert_true(j.terms[2].measured == 0.2);
    assert_true(j.terms[3].measured == 0.8); /* by the limit of p90 */
    assert_true(j.terms[4].measured == 8);
}

/* The unsent have no lag, and are among the n of a term on it. */
TEST(unsent_requests_miss_a_limit_on_lag)
{
    const struct workload few = {.fast = 995, .unsent = 5};
    const struct workload many = {.fast = 985, .unsent = 15};
    struct judgement j = judge_mix("lag p99 < 1ms", &few);

    assert_int_equal(j.verdict, VERDICT_PASS);
    assert_int_equal(j.terms[0].measured_ns, 0);
    j = judge_mix("lag p99 < 1ms", &many);
    assert_int_equal(j.verdict, VERDICT_FAIL);
    assert_int_equal(j.terms[0].measured_ns, HIST_BEYOND);
}

/* With a limit of 100 ms and lags of 0 to 99 ms: requests with a lag of at
 * least 10 ms that would have met the limit if twice the lag is subtracted.
 * Other terms count none. */
TEST(misses_of_a_late_client_are_counted)
{
    static const struct {
        int64_t took_ms;
        int64_t client_late;
    } rows[] = {{99, 0}, {100, 90}, {140, 79}, {250, 24}, {400, 0}};
    const struct window w = {.end_ns = WINDOW_MS * NS_PER_MS};
    struct slo slo = slo_of("e2e p99 < 100ms,errors < 1%");

    for (size_t k = 0; k < COUNT(rows); k++) {
        struct judgement j;
        struct tally t;

        tally_init(&t, w, &slo);
        for (int64_t i = 0; i < 100; i++) {
            struct facts f = row_ok(i, 10 * i, rows[k].took_ms);

            f.issued += i * NS_PER_MS;
            tally_add(&t, &f);
        }
        judge(&t, WINDOW_MS / 1e3, &j);
        assert_int_equal(j.terms[0].counts.client_late, rows[k].client_late);
        assert_int_equal(j.terms[1].counts.client_late, 0);
        tally_fini(&t);
    }
}

/* Of 1000 answers that take 5 ms, `late` were sent 100 ms late, and `slow` took
 * 200 ms without being late. */
static struct judgement judge_late(const char *terms, int64_t late,
                                   int64_t slow)
{
    static struct slo slo;
    const struct window w = {.end_ns = WINDOW_MS * NS_PER_MS};
    struct judgement j;
    struct tally t;

    slo = slo_of(terms);
    tally_init(&t, w, &slo);
    for (int64_t i = 0; i < 1000; i++) {
        bool is_late = i * late / 1000 != (i + 1) * late / 1000;
        bool is_slow = i * slow / 1000 != (i + 1) * slow / 1000;
        struct facts f = row_ok(i, i * 10, is_slow ? 200 : is_late ? 105 : 5);

        if (is_late && !is_slow)
            f.issued += 100 * NS_PER_MS;
        tally_add(&t, &f);
    }
    judge(&t, WINDOW_MS / 1e3, &j);
    judge_late_client(&t, &j);
    tally_fini(&t);
    return j;
}

/* Lateness makes e2e longer: a pass stands, and a fail stands if it does not
 * depend on it.  Late reads distort pauses either way. */
TEST(a_late_client_can_only_make_a_server_look_worse)
{
    static const struct {
        const char *slo;
        int64_t late;
        int64_t slow;
        enum verdict want;
    } cases[] = {
        {"e2e p99 < 150ms", 500, 0, VERDICT_PASS},
        {"e2e p99 < 50ms", 5, 0, VERDICT_PASS},
        {"e2e p99 < 50ms", 500, 0, VERDICT_UNDECIDED},
        {"e2e p99 < 50ms", 500, 5, VERDICT_UNDECIDED},
        {"e2e p99 < 50ms", 500, 50, VERDICT_FAIL},
        {"good >= 99%, e2e:50", 500, 0, VERDICT_UNDECIDED},
        {"good >= 99%, e2e:50", 500, 50, VERDICT_FAIL},
        {"good >= 99%, tpot:50", 5, 0, VERDICT_INVALID},
        {"errors < 1%", 500, 0, VERDICT_PASS},
        {"errors < 1%, e2e p99 < 50ms", 500, 0, VERDICT_UNDECIDED},
        {"service p99 < 150ms", 5, 0, VERDICT_INVALID},
        {"stall p99 < 1s, e2e p99 < 1s", 5, 0, VERDICT_INVALID},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct judgement j =
            judge_late(cases[i].slo, cases[i].late, cases[i].slow);

        if (j.verdict != cases[i].want)
            print_error("case %zu: %s\n", i, verdict_name(j.verdict));
        assert_int_equal(j.verdict, cases[i].want);
        if (j.verdict == VERDICT_UNDECIDED)
            assert_false(j.is_shown);
        for (size_t k = 0; k < j.len; k++)
            if (j.terms[k].verdict != VERDICT_NONE)
                check_place(&j.terms[k], place_of(&j.terms[k], 100));
    }
}

/* Every hundredth answer and one more has a single token, and no tpot. */
TEST(a_term_that_cannot_be_judged_has_no_interval)
{
    struct slo slo = slo_of("tpot p99 < 10ms");
    const struct window w = {.end_ns = WINDOW_MS * NS_PER_MS};
    struct judgement j;
    struct tally t;

    tally_init(&t, w, &slo);
    for (int64_t i = 0; i < 1000; i++) {
        struct facts f = row_ok(i, i * 10, 5);

        f.first -= NS_PER_MS;
        f.first_tokens = 1;
        f.event_tokens = i % 100 == 0 || i == 1 ? 1 : 2;
        tally_add(&t, &f);
    }
    judge(&t, WINDOW_MS / 1e3, &j);
    assert_int_equal(j.verdict, VERDICT_UNDECIDED);
    assert_string_equal(j.terms[0].why,
                        "too many streams are too short to have this measure");
    assert_true(j.terms[0].is_unjudgeable);
    check_place(&j.terms[0], place_of(&j.terms[0], 100));
    tally_fini(&t);
}

/* 1 % may miss, 51 % do, most of them because of the client. */
TEST(a_late_client_is_no_evidence_against_a_server)
{
    struct judgement j = judge_late("e2e p99 < 50ms", 500, 12);

    assert_int_equal(j.verdict, VERDICT_FAIL);
    assert_false(j.is_shown);
    assert_false(j.terms[0].is_shown);
    assert_true(j.decide_in_s > 1e9);
    j = judge_late("e2e p99 < 50ms", 500, 50);
    assert_int_equal(j.verdict, VERDICT_FAIL);
    assert_true(j.is_shown && j.terms[0].is_shown);
}

TEST(the_reason_is_named)
{
    struct workload workload = {.fast = 899, .open = 101};
    struct judgement j = judge_mix("good >= 90%", &workload);

    assert_string_equal(j.terms[0].why, "depends on unfinished requests");
    assert_int_equal(j.terms[0].more_needed, 0);
}

TEST(verdicts_have_names)
{
    assert_string_equal(verdict_name(VERDICT_NONE), "none");
    assert_string_equal(verdict_name(VERDICT_PASS), "pass");
    assert_string_equal(verdict_name(VERDICT_FAIL), "fail");
    assert_string_equal(verdict_name(VERDICT_UNDECIDED), "undecided");
    assert_string_equal(verdict_name(VERDICT_INVALID), "invalid");
}
