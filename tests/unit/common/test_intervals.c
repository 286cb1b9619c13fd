/* The statistics, against integers, recurrences and published values. */
#include <math.h>

#include "common/base/rng.h"
#include "common/stats/stats.h"
#include "tests/support/test.h"

/* Hahn & Meeker: n from which the largest of n is above the quantile with
 * 95 %. */
TEST(fewest_samples_that_bound_a_quantile)
{
    assert_int_equal(stats_min_n(0.5), 5);
    assert_int_equal(stats_min_n(0.9), 29);
    assert_int_equal(stats_min_n(0.95), 59);
    assert_int_equal(stats_min_n(0.99), 299);
    assert_int_equal(stats_min_n(0.999), 2995);
    assert_int_equal(stats_min_n(0.9999), 29956);
}

static void check_rank(int64_t part, int64_t whole, int64_t n)
{
    int64_t want = (part * n + whole - 1) / whole;

    assert_int_equal(stats_rank((double)part / (double)whole, n), want);
}

/* ceil(q n) in integers, with q = part / whole as people write it. */
TEST(ranks_are_exact)
{
    static const struct {
        int64_t part;
        int64_t whole;
    } q[] = {{1, 2},        {9, 10},         {19, 20}, {99, 100}, {999, 1000},
             {9999, 10000}, {99999, 100000}, {7, 100}, {29, 100}, {333, 1000}};
    struct rng rng = {.state = 2};

    for (size_t i = 0; i < COUNT(q); i++) {
        for (int64_t n = 1; n <= 3000; n++)
            check_rank(q[i].part, q[i].whole, n);
        for (int64_t n = q[i].whole; n <= 1000000000; n *= 10) {
            check_rank(q[i].part, q[i].whole, n - 1);
            check_rank(q[i].part, q[i].whole, n);
            check_rank(q[i].part, q[i].whole, n + 1);
        }
        for (int k = 0; k < 10000; k++)
            check_rank(q[i].part, q[i].whole,
                       (int64_t)(rng_next(&rng) % 1000000000) + 1);
    }
    assert_int_equal(stats_rank(0.99, 100), 99);
    assert_int_equal(stats_rank(0.999, 999999), 999000);
    assert_int_equal(stats_rank(0.5, 0), 1);
    assert_int_equal(stats_rank(0.001, 1), 1);
}

/* P(X >= k) from the distribution built up one trial at a time. */
static double tail_by_recurrence(int n, double p, int k)
{
    double mass[65] = {1};
    double sum = 0;

    for (int trial = 1; trial <= n; trial++) {
        for (int i = trial; i > 0; i--)
            mass[i] = mass[i] * (1 - p) + mass[i - 1] * p;
        mass[0] *= 1 - p;
    }
    for (int i = k < 0 ? 0 : k; i <= n; i++)
        sum += mass[i];
    return sum;
}

static void check_tails(int n, double p)
{
    for (int k = 0; k <= n + 1; k++) {
        double want = tail_by_recurrence(n, p, k);
        double got = stats_binomial_upper_tail(n, p, k);

        assert_true(fabs(got - want) <= 1e-10 * want + 1e-300);
    }
}

TEST(binomial_tail_is_exact)
{
    static const double p[] = {0.001, 0.01, 0.1, 0.5, 0.9, 0.999};

    for (size_t i = 0; i < COUNT(p); i++) {
        for (int n = 0; n <= 64; n++)
            check_tails(n, p[i]);
    }
}

TEST(binomial_tail_by_hand)
{
    static const struct {
        int64_t n;
        double p;
        int64_t k;
        double want;
    } cases[] = {
        {2, 0.5, 1, 0.75},
        {2, 0.5, 2, 0.25},
        {10, 0.5, 8, 56.0 / 1024}, /* 45 + 10 + 1 */
        {299, 0.01, 1, 0.95046},   /* 1 - 0.99^299 */
        {10, 0, 0, 1},
        {10, 0, 1, 0},
        {10, 1, 10, 1},
        {10, 0.3, 11, 0},
        {10, 0.3, -1, 1},
        {1000000, 0.01, 9000, 1}, /* its first terms are too small to see */
        {1000000, 0.01, 11000, 0},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_true(
            fabs(stats_binomial_upper_tail(cases[i].n, cases[i].p, cases[i].k) -
                 cases[i].want) < 1e-5);
}

/* ---- inflation ---- */

/* Independent hits with 1 %: inflation is chi-square over its 19 degrees of
 * freedom, or 1 if that is below.  Over 200 such runs its mean is 1.13 with a
 * standard error of 0.014 (half of a normal of deviation 0.32), and one value
 * in 300,000 passes 3.2. */
TEST(independent_hits_are_not_inflated)
{
    struct rng rng = {.state = 17};
    double sum = 0;

    for (int run = 0; run < 200; run++) {
        struct batch batches[20];
        double inflation;

        for (size_t b = 0; b < COUNT(batches); b++) {
            batches[b] = (struct batch){.n = 1000};
            for (int i = 0; i < 1000; i++)
                batches[b].hits += rng_uniform(&rng) < 0.01;
        }
        inflation = stats_inflation(batches, COUNT(batches));
        assert_true(inflation >= 1 && inflation < 3.2);
        sum += inflation;
    }
    assert_true(fabs(sum / 200 - 1.13) < 4 * 0.014 + 0.01);
}

/* All hits in one batch: squares are 190^2 + 19 * 10^2 = 38,000 over 19, which
 * makes 2000, against 200 * 0.99 * ... of independent ones. */
TEST(clustered_hits_are_inflated)
{
    struct batch batches[20];
    double independent = 20000 * 0.01 * 0.99 / 20;

    for (size_t b = 0; b < COUNT(batches); b++)
        batches[b] = (struct batch){.n = 1000};
    batches[7].hits = 200;
    assert_true(fabs(stats_inflation(batches, COUNT(batches)) -
                     2000 / independent) < 1e-9);
}

TEST(no_inflation_without_evidence)
{
    static const struct batch cases[][3] = {
        {{0, 0}, {0, 0}, {0, 0}},    /* nothing */
        {{10, 0}, {10, 0}, {10, 0}}, /* no hits */
        {{10, 10}, {5, 5}, {1, 1}},  /* nothing but hits */
        {{10, 3}, {0, 0}, {0, 0}},   /* one batch */
        {{10, 2}, {10, 2}, {10, 2}}, /* too even */
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_true(stats_inflation(cases[i], 3) == 1);
}

/* ---- interval of a share ---- */

/* Wilson's formula by hand, with t = 2.093: n = 100, share 0.9: centre
 * (0.9 + 0.0219031) / 1.0438065 = 0.8832130; half width
 * 2.093 / 1.0438065 sqrt(0.0009 + 0.0001095162) = 0.0637094. */
TEST(share_interval_is_wilsons)
{
    struct interval i = stats_share_interval(0.9, 100);

    assert_true(fabs(i.low - 0.8195) < 1e-4);
    assert_true(fabs(i.high - 0.9469) < 1e-4);
}

TEST(share_interval_stays_within_bounds)
{
    static const double shares[] = {0, 0.001, 0.5, 0.999, 1};
    static const double sizes[] = {0.5, 1, 20, 1e6};

    for (size_t s = 0; s < COUNT(shares); s++) {
        double width = 2;

        for (size_t n = 0; n < COUNT(sizes); n++) {
            struct interval i = stats_share_interval(shares[s], sizes[n]);

            assert_true(i.low >= 0 && i.low <= shares[s]);
            assert_true(i.high <= 1 && i.high >= shares[s]);
            assert_true(i.high - i.low < width); /* more samples, narrower */
            width = i.high - i.low;
        }
    }
    assert_true(stats_share_interval(1, 1000).low < 1);
    assert_true(stats_share_interval(0, 1000).high > 0);
}
