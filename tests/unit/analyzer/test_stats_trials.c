/* Intervals over trials and sections, against published examples and numbers
 * worked out elsewhere. */
#include <math.h>

#include "analyzer/stats/sectioning.h"
#include "analyzer/stats/trial_stats.h"
#include "common/stats/stats.h"
#include "tests/support/near.h"
#include "tests/support/test.h"

/* ---- Student's distribution ---- */

/* Tables, and for 2.5 degrees of freedom numerical integration. */
TEST(quantiles_are_those_of_the_tables)
{
    static const struct {
        double p;
        double freedom;
        double want;
    } cases[] = {
        {0.975, 1, 12.706204736},  {0.975, 4, 2.776445105},
        {0.975, 19, 2.093024054},  {0.975, 2.5, 3.574654842},
        {0.9995, 10, 4.586893859}, {0.975, 1000, 1.962339081},
        {0.025, 4, -2.776445105},  {0.5, 4, 0},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        double t = student_quantile(cases[i].p, cases[i].freedom);

        assert_near(t, cases[i].want, 1e-8);
        assert_near(student_upper_tail(t, cases[i].freedom), 1 - cases[i].p,
                    1e-11);
    }
    assert_near(student_reach(0.95, 4), 2.776445105, 1e-8);
    assert_near(normal_quantile(0.975), 1.959963985, 1e-8);
    assert_near(normal_quantile(0.001), -3.090232306, 1e-8);
    assert_near(normal_upper_tail(1.959963985), 0.025, 1e-10);
}

/* ---- one sample ---- */

/* 3 +- 2.776445 sqrt(2.5 / 5) */
TEST(student_by_hand)
{
    static const double x[] = {1, 2, 3, 4, 5};
    static const double same[] = {7, 7, 7};
    struct uncertain u = trials_mean(x, COUNT(x), 0.95);

    assert_true(u.value == 3);
    assert_range(&u, 1.0367568385, 4.9632431615, 1e-9);
    u = trials_mean(same, COUNT(same), 0.95);
    assert_range(&u, 7, 7, 0);
}

/* Of two that are far apart the interval reaches below 0, which no latency
 * does: 2 +- 12.7062 sqrt(2 / 2) */
TEST(amounts_are_not_below_0)
{
    static const double x[] = {1, 3};
    struct uncertain u = trials_mean(x, COUNT(x), 0.95);

    assert_range(&u, -10.7062047, 14.7062047, 1e-6);
    u = trials_mean_amount(x, COUNT(x), 0.95);
    assert_range(&u, 0, 14.7062047, 1e-6);
    assert_false(trials_mean_amount(x, 1, 0.95).has_range);
}

TEST(no_range_where_there_can_be_none)
{
    static const double x[] = {1, INFINITY, 3};

    assert_false(trials_mean(x, 0, 0.95).has_range);
    assert_false(trials_mean(x, 1, 0.95).has_range);
    assert_true(trials_mean(x, 1, 0.95).value == 1);
    assert_false(trials_mean(x, 3, 0.95).has_range);
}

/* Ranks and confidences from sums of binomial coefficients. */
TEST(median_by_order_statistics)
{
    static const struct {
        size_t n;
        size_t rank;
        double confidence;
    } cases[] = {
        {2, 1, 0.5},          {5, 1, 0.9375},
        {6, 1, 0.96875},      {7, 1, 0.984375},
        {8, 1, 0.9921875},    {9, 2, 0.9609375},
        {10, 2, 0.978515625}, {20, 6, 0.9586105346679688},
    };
    double x[20];
    double scratch[20];

    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t n = cases[i].n;
        struct trials_median t;

        for (size_t k = 0; k < n; k++)
            x[k] = (double)(10 * (n - k));
        t = trials_median(x, n, 0.95, scratch);
        assert_near(t.confidence, cases[i].confidence, 1e-12);
        assert_int_equal(t.is_reached, n >= 6);
        assert_near(t.median.value, 5 * (double)(n + 1), 1e-12);
        assert_range(&t.median, 10 * (double)cases[i].rank,
                     10 * (double)(n - cases[i].rank + 1), 0);
    }
}

TEST(a_failed_trial_does_not_hide_the_median)
{
    static const double x[] = {3, INFINITY, 1, 2, 5, 4, 6};
    double scratch[7];
    struct trials_median t = trials_median(x, 7, 0.95, scratch);

    assert_true(t.median.value == 4);
    assert_true(t.median.range.low == 1 && isinf(t.median.range.high));
    t = trials_median(x, 1, 0.95, scratch);
    assert_false(t.median.has_range);
    assert_false(t.is_reached);
    t = trials_median(x + 1, 1, 0.95, scratch);
    assert_true(isinf(t.median.value));
}

/* ---- two samples ---- */

static const double welch_a[] = {27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1,
                                 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4};
static const double welch_b[] = {27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0,
                                 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4};

/* A usual example of Welch's test: t = 2.46, 25.0 degrees of freedom, p =
 * 0.021, so an interval of 97.9 % just reaches 0. */
TEST(welch_as_published)
{
    struct uncertain u =
        trials_contrast(CONTRAST_DIFFERENCE, welch_a, 15, welch_b, 15, 0.95);

    assert_near(u.value, 2.1666666667, 1e-9);
    assert_range(&u, 0.3492370662, 3.9840962671, 1e-8);
    u = trials_contrast(CONTRAST_DIFFERENCE, welch_a, 15, welch_b, 15,
                        1 - 0.0214);
    assert_near(u.range.low, 0, 0.005);
}

TEST(ratios_work_both_ways)
{
    struct uncertain u =
        trials_contrast(CONTRAST_RATIO, welch_a, 15, welch_b, 15, 0.95);
    struct uncertain back =
        trials_contrast(CONTRAST_RATIO, welch_b, 15, welch_a, 15, 0.95);

    assert_near(u.value, 1.1095095820, 1e-9);
    assert_range(&u, 1.0207761128, 1.2059564257, 1e-9);
    assert_near(back.value, 1 / u.value, 1e-12);
    assert_range(&back, 1 / u.range.high, 1 / u.range.low, 1e-12);
}

/* Student 1908, hours of sleep gained by ten patients. */
TEST(pairs_as_published)
{
    static const double a[] = {0.7, -1.6, -0.2, -1.2, -0.1,
                               3.4, 3.7,  0.8,  0.0,  2.0};
    static const double b[] = {1.9, 0.8, 1.1, 0.1, -0.1,
                               4.4, 5.5, 1.6, 4.6, 3.4};
    struct uncertain u = trials_paired(CONTRAST_DIFFERENCE, a, b, 10, 0.95);

    assert_near(u.value, 1.58, 1e-12);
    assert_range(&u, 0.7001142, 2.4598858, 1e-6);
    u = trials_paired(CONTRAST_RATIO, a, b, 10, 0.95);
    assert_false(u.has_range); /* no logarithm */
}

TEST(contrasts_need_two_of_each)
{
    static const double x[] = {1, 2, 3};
    static const double same[] = {4, 4};

    assert_false(
        trials_contrast(CONTRAST_DIFFERENCE, x, 1, x, 3, 0.95).has_range);
    assert_false(
        trials_contrast(CONTRAST_DIFFERENCE, x, 3, x, 0, 0.95).has_range);
    assert_false(trials_paired(CONTRAST_RATIO, x, x, 1, 0.95).has_range);
    assert_true(
        trials_contrast(CONTRAST_RATIO, same, 2, same, 2, 0.95).has_range);
    assert_true(trials_contrast(CONTRAST_RATIO, same, 2, same, 2, 0.95).value ==
                1);
}

/* ---- sections ---- */

/* S^2 = (2.25 + 0.25 + 0.25 + 6.25 + 6.25) / 4, half width
 * 2.776445 S / sqrt(5). */
TEST(sections_by_hand)
{
    static const double q[] = {10, 12, 11, 9, 14};
    struct section_quantile s = section_combine(q, 5, 11.5, 0.5, 100, 0.95);

    assert_int_equal(s.verdict, SECTION_KNOWN);
    assert_true(s.quantile.value == 11.5);
    assert_range(&s.quantile, 11.5 - 2.4244264599, 11.5 + 2.4244264599, 1e-9);
}

#define MANY 6000

TEST(sections_that_are_too_small_say_so)
{
    static double x[MANY];
    static double scratch[MANY + SECTION_COUNT];
    struct section_quantile s;

    for (size_t i = 0; i < MANY; i++)
        x[i] = (double)(i % 299);
    s = section_quantile(x, 5979, 0.99, 20, 0.95, scratch);
    assert_int_equal(s.verdict, SECTION_TOO_FEW);
    assert_false(s.quantile.has_range);
    s = section_quantile(x, 5980, 0.99, 20, 0.95, scratch);
    assert_int_equal(s.verdict, SECTION_KNOWN);
    assert_true(s.quantile.value == 296); /* rank 5921 of 299 values 20 times */
    assert_range(&s.quantile, 296, 296, 1e-9);
    s = section_quantile(x, 3, 0.5, 20, 0.95, scratch);
    assert_int_equal(s.verdict, SECTION_TOO_FEW);
    s = section_quantile(x, 100, 0.5, 20, 0.95, scratch);
    assert_int_equal(s.verdict, SECTION_KNOWN);
}

/* One section of failures: p99 of it is beyond, p50 of all is not. */
TEST(failures_are_beyond)
{
    static double x[MANY];
    static double scratch[MANY + SECTION_COUNT];
    struct section_quantile s;

    for (size_t i = 0; i < MANY; i++)
        x[i] = i < 4 ? INFINITY : (double)(i % 100);
    s = section_quantile(x, MANY, 0.99, 20, 0.95, scratch);
    assert_int_equal(s.verdict, SECTION_BEYOND);
    assert_false(s.quantile.has_range);
    assert_true(isfinite(s.quantile.value));
    s = section_quantile(x, MANY, 0.5, 20, 0.95, scratch);
    assert_int_equal(s.verdict, SECTION_KNOWN);
    for (size_t i = 0; i < MANY; i++)
        x[i] = INFINITY;
    s = section_quantile(x, MANY, 0.5, 20, 0.95, scratch);
    assert_int_equal(s.verdict, SECTION_BEYOND);
}
