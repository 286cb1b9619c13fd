/* Two samples: how far apart they are, and what that shows. */
#include <math.h>
#include <string.h>

#include "analyzer/compare/finding.h"
#include "tests/support/test.h"

#define BLOCKS 20

static void assert_near(double value, double expected, double within)
{
    if (!(fabs(value - expected) <= within))
        fail_msg("%.10g is not %.10g", value, expected);
}

static struct sample sample_of(const double *units, size_t n, double whole)
{
    return (struct sample){.whole = whole,
                           .has_whole = true,
                           .units = units,
                           .n = n,
                           .has_all = true,
                           .min_in_slice = 300};
}

static struct finding over(enum basis basis, bool more_is_better, double q,
                           const struct sample *a, const struct sample *b)
{
    const struct finding_rule rule = {.basis = basis,
                                      .more_is_better = more_is_better,
                                      .quantile = q,
                                      .confidence = 0.95};

    return finding_make(&rule, a, b);
}

/* Blocks that alternate by `by` around `mean`: the deviation from it is by. */
static void alternate(double *x, double mean, double by)
{
    for (int i = 0; i < BLOCKS; i++)
        x[i] = mean + (i % 2 ? by : -by);
}

/* S^2 = 20 by^2 / 19 a side, half = t S / sqrt(20) = 2.093 by / sqrt(19), and
 * sqrt(2) of that for both. */
TEST(blocks_have_the_interval_of_sectioning)
{
    const double half = 2.0930 * 1 / sqrt(19) * sqrt(2);
    double x[BLOCKS];
    double y[BLOCKS];
    struct sample a = sample_of(x, BLOCKS, 100);
    struct sample b = sample_of(y, BLOCKS, 110);
    struct finding f;

    alternate(x, 100, 1);
    alternate(y, 110, 1);
    f = over(BASIS_SLICES, true, 0, &a, &b);
    assert_true(f.difference.has_range && f.ratio.has_range);
    assert_near(f.difference.value, 10, 1e-9);
    assert_near(f.difference.range.low, 10 - half, 1e-3);
    assert_near(f.difference.range.high, 10 + half, 1e-3);
    assert_near(f.ratio.value, 1.1, 1e-9);
    assert_true(f.ratio.range.low > 1.08 && f.ratio.range.high < 1.12);
    assert_near(f.visible, 2.0930 / sqrt(19) * hypot(1.0 / 100, 1.0 / 110),
                1e-4);
    assert_int_equal(f.verdict, FINDING_BETTER);
}

TEST(better_depends_on_the_measure)
{
    double x[BLOCKS];
    double y[BLOCKS];
    struct sample a = sample_of(x, BLOCKS, 100);
    struct sample b = sample_of(y, BLOCKS, 110);

    alternate(x, 100, 1);
    alternate(y, 110, 1);
    assert_int_equal(over(BASIS_SLICES, false, 0.5, &a, &b).verdict,
                     FINDING_WORSE);
    assert_int_equal(over(BASIS_SLICES, false, 0.5, &b, &a).verdict,
                     FINDING_BETTER);
    assert_int_equal(over(BASIS_SLICES, true, 0, &b, &a).verdict,
                     FINDING_WORSE);
}

TEST(what_is_within_the_scatter_is_not_shown)
{
    double x[BLOCKS];
    double y[BLOCKS];
    struct sample a = sample_of(x, BLOCKS, 100);
    struct sample b = sample_of(y, BLOCKS, 101);
    struct finding f;

    alternate(x, 100, 10);
    alternate(y, 101, 10);
    f = over(BASIS_SLICES, true, 0, &a, &b);
    assert_int_equal(f.verdict, FINDING_NO_DIFFERENCE);
    assert_null(f.why);
    assert_true(f.visible > 0.06 && f.visible < 0.08);
}

/* Of histograms with three digits nothing follows that is finer. */
TEST(a_step_of_the_histogram_is_no_difference)
{
    double x[BLOCKS];
    double y[BLOCKS];
    struct sample a = sample_of(x, BLOCKS, 1000);
    struct sample b = sample_of(y, BLOCKS, 1001);

    alternate(x, 1000, 0);
    alternate(y, 1001, 0);
    assert_int_equal(over(BASIS_SLICES, false, 0.5, &a, &b).verdict,
                     FINDING_NO_DIFFERENCE);
    assert_int_equal(over(BASIS_SLICES, true, 0, &a, &b).verdict,
                     FINDING_BETTER);
}

TEST(too_few_are_not_told)
{
    static const double five[] = {100, 101, 99, 100.5, 99.5};
    static const double other[] = {200, 201, 199, 200.5, 199.5};
    struct sample a = sample_of(five, 5, 100);
    struct sample b = sample_of(other, 5, 200);
    struct sample four = sample_of(five, 4, 100);
    struct finding f;

    f = over(BASIS_TRIALS, false, 0.99, &four, &b);
    assert_int_equal(f.verdict, FINDING_CANNOT_TELL);
    assert_string_equal(f.why,
                        "n too small: at least 5 trials per side are needed");
    assert_near(f.b, 200, 0); /* the sides stay, no ratio is made of them */
    assert_false(f.ratio.has_range);
    assert_near(f.ratio.value, 0, 0);
    f = over(BASIS_NONE, false, 0.99, &a, &b);
    assert_int_equal(f.verdict, FINDING_CANNOT_TELL);
    a.has_all = false;
    f = over(BASIS_TRIALS, false, 0.99, &a, &b);
    assert_int_equal(f.verdict, FINDING_CANNOT_TELL);
    assert_string_equal(f.why,
                        "n too small: a trial has too few samples for it");
    a.n = 0;
    f = over(BASIS_TRIALS, false, 0.99, &a, &b);
    assert_string_equal(f.why, "not measured");
}

/* A section of p99 needs 299. */
TEST(a_small_block_cannot_bound_its_percentile)
{
    double x[BLOCKS];
    struct sample a = sample_of(x, BLOCKS, 100);
    struct sample b = sample_of(x, BLOCKS, 100);

    alternate(x, 100, 1);
    b.min_in_slice = 298;
    assert_int_equal(over(BASIS_SLICES, false, 0.99, &a, &b).verdict,
                     FINDING_CANNOT_TELL);
    b.min_in_slice = 299;
    assert_int_equal(over(BASIS_SLICES, false, 0.99, &a, &b).verdict,
                     FINDING_NO_DIFFERENCE);
}

TEST(trials_that_lie_apart_differ)
{
    static const double x[] = {100, 101, 99, 100.5, 99.5};
    static const double y[] = {200, 201, 199, 200.5, 199.5};
    struct sample a = sample_of(x, 5, 100);
    struct sample b = sample_of(y, 5, 200);
    struct finding f = over(BASIS_TRIALS, false, 0.99, &a, &b);

    assert_int_equal(f.verdict, FINDING_WORSE);
    assert_near(f.ratio.value, 2, 1e-3); /* of geometric means */
    assert_true(f.ratio.range.low > 1.9 && f.ratio.range.high < 2.1);
    assert_int_equal(over(BASIS_TRIALS, false, 0.99, &a, &a).verdict,
                     FINDING_NO_DIFFERENCE);
}

/* Welch: means 100 and 130, variances 0.625 and 250, errors of the means 0.125
 * and 50; 4.02 degrees of freedom, t = 2.7717. */
TEST(trials_have_the_interval_of_welch)
{
    static const double x[] = {100, 101, 99, 100.5, 99.5};
    static const double y[] = {120, 150, 110, 130, 140};
    struct sample a = sample_of(x, 5, 100);
    struct sample b = sample_of(y, 5, 130);
    const double half = 2.7717 * sqrt(50.125);
    struct finding f = over(BASIS_TRIALS, true, 0, &a, &b);

    assert_int_equal(f.verdict, FINDING_BETTER);
    assert_near(f.difference.value, 30, 1e-9);
    assert_near(f.difference.range.low, 30 - half, 0.01);
    assert_near(f.difference.range.high, 30 + half, 0.01);
}

/* What drifts touches both of a pair, and drops out: b is 1 more each time. */
TEST(pairs_are_taken_as_such)
{
    static const double x[] = {100, 110, 120, 130, 140};
    static const double y[] = {101.1, 110.9, 121, 131.1, 140.9};
    struct sample a = sample_of(x, 5, 120);
    struct sample b = sample_of(y, 5, 121);
    struct finding f = over(BASIS_PAIRS, true, 0, &a, &b);

    assert_int_equal(f.verdict, FINDING_BETTER);
    assert_near(f.difference.value, 1, 1e-9);
    assert_near(f.difference.range.high, 1 + 2.7764 * 0.1 / sqrt(5), 1e-4);
    assert_int_equal(over(BASIS_TRIALS, true, 0, &a, &b).verdict,
                     FINDING_NO_DIFFERENCE);
    b.n = a.n = 4;
    assert_int_equal(over(BASIS_PAIRS, true, 0, &a, &b).verdict,
                     FINDING_CANNOT_TELL);
}

static struct finding over_shares(bool more_is_better, const struct sample *a,
                                  const struct sample *b)
{
    const struct finding_rule rule = {.basis = BASIS_SLICES,
                                      .more_is_better = more_is_better,
                                      .is_share = true,
                                      .confidence = 0.95};

    return finding_make(&rule, a, b);
}

/* (1 - p)^n = 0.025: 0.0362 of 100, 0.003682 of 1000. */
TEST(none_is_bounded_by_what_it_is_of)
{
    static const double none[BLOCKS];
    struct sample a = sample_of(none, BLOCKS, 0);
    struct sample b = sample_of(none, BLOCKS, 0);
    struct finding f;

    a.counted = 100;
    b.counted = 1000;
    f = over_shares(false, &a, &b);
    assert_int_equal(f.verdict, FINDING_NO_DIFFERENCE);
    assert_near(f.difference.range.low, -0.0362, 1e-4);
    assert_near(f.difference.range.high, 0.003682, 1e-6);
    assert_false(f.ratio.has_range);
    assert_int_equal(finding_regression(&f, false, 0.05), REGRESSION_NO);
    assert_int_equal(finding_regression(&f, false, 0.001), REGRESSION_UNKNOWN);
    b.counted = 20; /* 16.8 % may have been missed */
    f = over_shares(false, &a, &b);
    assert_int_equal(finding_regression(&f, false, 0.05), REGRESSION_UNKNOWN);
}

TEST(all_is_bounded_too)
{
    double all[BLOCKS];
    struct sample a = sample_of(all, BLOCKS, 1);
    struct sample b = sample_of(all, BLOCKS, 1);
    struct finding f;

    alternate(all, 1, 0);
    a.counted = 1000;
    b.counted = 100;
    f = over_shares(true, &a, &b);
    assert_near(f.ratio.range.low, 1 - 0.0362, 1e-4);
    assert_near(f.ratio.range.high, 1 / (1 - 0.003682), 1e-5);
    assert_int_equal(finding_regression(&f, true, 0.05), REGRESSION_NO);
    assert_int_equal(finding_regression(&f, true, 0.01), REGRESSION_UNKNOWN);
}

/* Errors in every block, where there were none. */
TEST(some_against_none_is_any_share_worse)
{
    static const double none[BLOCKS];
    double some[BLOCKS];
    struct sample a = sample_of(none, BLOCKS, 0);
    struct sample b = sample_of(some, BLOCKS, 0.02);
    struct finding f;

    alternate(some, 0.02, 0.005);
    a.counted = b.counted = 6000;
    f = over_shares(false, &a, &b);
    assert_int_equal(f.verdict, FINDING_WORSE);
    assert_int_equal(finding_regression(&f, false, 0.5), REGRESSION_YES);
    f = over_shares(false, &b, &a);
    assert_int_equal(f.verdict, FINDING_BETTER);
    a.counted = 50; /* 7 % may have been missed */
    f = over_shares(false, &a, &b);
    assert_int_equal(f.verdict, FINDING_NO_DIFFERENCE);
    assert_int_equal(finding_regression(&f, false, 0.5), REGRESSION_UNKNOWN);
}

/* Those beyond a percentile are worth 5, where each of 20 blocks should hold
 * one: sqrt(4), on one side. */
TEST(clusters_widen_the_interval)
{
    double x[BLOCKS];
    double y[BLOCKS];
    struct sample a = sample_of(x, BLOCKS, 100);
    struct sample b = sample_of(y, BLOCKS, 102);
    struct finding f;

    alternate(x, 100, 2);
    alternate(y, 102, 2);
    a.beyond = b.beyond = 20;
    f = over(BASIS_SLICES, false, 0.99, &a, &b);
    assert_int_equal(f.verdict, FINDING_WORSE);
    assert_near(f.widened, 1, 0);
    b.beyond = 5;
    f = over(BASIS_SLICES, false, 0.99, &a, &b);
    assert_int_equal(f.verdict, FINDING_NO_DIFFERENCE);
    assert_near(f.widened, 2, 1e-9);
    assert_near(f.difference.range.high,
                102 * 0.001 + 2 + 2.0930 * 2 / sqrt(19) * sqrt(5), 1e-3);
}

TEST(failures_are_beyond_every_value)
{
    static const double x[] = {100, 101, 99, 100.5, 99.5};
    static const double y[] = {INFINITY, INFINITY, INFINITY, INFINITY,
                               INFINITY};
    static const double z[] = {100, 101, INFINITY, 100.5, 99.5};
    struct sample a = sample_of(x, 5, 100);
    struct sample b = sample_of(y, 5, INFINITY);
    struct sample c = sample_of(z, 5, 100.5);
    struct finding f = over(BASIS_TRIALS, false, 0.99, &a, &b);

    assert_int_equal(f.verdict, FINDING_WORSE);
    assert_false(f.difference.has_range);
    assert_int_equal(finding_regression(&f, false, 0.05), REGRESSION_YES);
    assert_int_equal(over(BASIS_TRIALS, false, 0.99, &b, &a).verdict,
                     FINDING_BETTER);
    f = over(BASIS_TRIALS, false, 0.99, &a, &c);
    assert_int_equal(f.verdict, FINDING_CANNOT_TELL);
    assert_string_equal(f.why, "the percentile falls among the failures");
    assert_int_equal(over(BASIS_TRIALS, false, 0.99, &b, &b).verdict,
                     FINDING_CANNOT_TELL);
}

TEST(a_regression_is_more_than_its_threshold)
{
    static const struct {
        double low;
        double high;
        bool more_is_better;
        double threshold;
        enum regression expected;
    } cases[] = {
        {1.06, 1.10, false, 0.05, REGRESSION_YES},
        {1.04, 1.10, false, 0.05, REGRESSION_UNKNOWN},
        {1.00, 1.04, false, 0.05, REGRESSION_NO},
        {0.90, 0.95, false, 0.05, REGRESSION_NO},
        {0.90, 0.94, true, 0.05, REGRESSION_YES},
        {0.90, 0.96, true, 0.05, REGRESSION_UNKNOWN},
        {0.96, 1.20, true, 0.05, REGRESSION_NO},
        {1.01, 1.02, false, 0, REGRESSION_YES},
    };
    struct finding zero = {
        .difference.has_range = true, .a_is_zero = true, .b_is_zero = true};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct finding f = {.ratio = {.has_range = true,
                                      .range = {cases[i].low, cases[i].high}}};

        if (finding_regression(&f, cases[i].more_is_better,
                               cases[i].threshold) != cases[i].expected)
            fail_msg("case %zu", i);
    }
    assert_int_equal(finding_regression(&zero, false, 0.05), REGRESSION_NO);
    zero.difference.range.high = 0.1; /* that much may have been missed */
    assert_int_equal(finding_regression(&zero, false, 0.05),
                     REGRESSION_UNKNOWN);
}
