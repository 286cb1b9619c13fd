/* Truncation, trend and memory of a series, against brute force, theory and
 * numbers worked out elsewhere. */
#include <math.h>

#include "analyzer/stats/order_stats.h"
#include "analyzer/stats/steady_tests.h"
#include "common/base/rng.h"
#include "common/stats/stats.h"
#include "tests/support/mm1.h"
#include "tests/support/near.h"
#include "tests/support/test.h"

/* ---- order ---- */

/* Values with many ties, in all kinds of order. */
static double made(struct rng *rng, int kind, size_t i)
{
    switch (kind) {
    case 0:
        return rng_normal(rng);
    case 1:
        return (double)(rng_next(rng) % 4);
    case 2:
        return (double)i;
    case 3:
        return -(double)i;
    default:
        return i % 7 == 0 ? INFINITY : 1;
    }
}

TEST(every_rank_is_that_of_the_sorted)
{
    struct rng rng = {.state = 1};

    for (int kind = 0; kind < 5; kind++) {
        for (size_t n = 1; n <= 40; n++) {
            double x[40];
            double sorted[40];

            for (size_t i = 0; i < n; i++)
                x[i] = sorted[i] = made(&rng, kind, i);
            order_sort(sorted, n);
            for (size_t rank = 1; rank <= n; rank++)
                assert_true(order_select(x, n, rank) == sorted[rank - 1]);
            assert_true(order_quantile(x, n, 0.5) == sorted[(n + 1) / 2 - 1]);
        }
    }
}

TEST(the_median_lies_in_the_middle)
{
    double odd[] = {5, 1, 9};
    double even[] = {4, 1, 9, 6};
    double one[] = {3};

    assert_true(order_median(odd, 3) == 5);
    assert_true(order_median(even, 4) == 5);
    assert_true(order_median(one, 1) == 3);
}

/* ---- MSER-5 ---- */

static double mean_of(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

/* The definition, written out. */
static size_t drop_by_definition(const double *x, size_t n)
{
    double y[100];
    size_t batches = n / 5;
    double least = INFINITY;
    size_t drop = 0;

    for (size_t i = 0; i < batches; i++)
        y[i] = mean_of(x + 5 * i, 5);
    for (size_t d = 0; d + 5 <= batches; d++) {
        double left = (double)(batches - d);
        double mean = mean_of(y + d, batches - d);
        double squares = 0;

        for (size_t i = d; i < batches; i++)
            squares += (y[i] - mean) * (y[i] - mean);
        if (squares / (left * left) < least) {
            least = squares / (left * left);
            drop = 5 * d;
        }
    }
    return drop;
}

TEST(mser_is_as_defined)
{
    struct rng rng = {.state = 3};

    for (int run = 0; run < 200; run++) {
        double x[403];
        struct mser m;

        for (size_t i = 0; i < COUNT(x); i++)
            x[i] = (run % 20) * exp(-(double)i / 50) + rng_normal(&rng);
        m = mser_truncate(x, COUNT(x));
        assert_int_equal(m.drop, drop_by_definition(x, COUNT(x)));
        assert_int_equal(m.is_found, m.drop <= 200);
    }
}

TEST(a_step_is_cut_off_where_it_is)
{
    double x[200];
    struct mser m;

    for (size_t i = 0; i < COUNT(x); i++)
        x[i] = (i < 35 ? 10 : 0) + (i % 10 < 5 ? 1 : -1);
    m = mser_truncate(x, COUNT(x));
    assert_true(m.is_found);
    assert_int_equal(m.drop, 35);
}

/* Of a slope the last five batches scatter least. */
TEST(what_never_settles_is_not_found)
{
    double x[200];

    for (size_t i = 0; i < COUNT(x); i++)
        x[i] = (double)i;
    assert_false(mser_truncate(x, COUNT(x)).is_found);
    for (size_t i = 0; i < COUNT(x); i++)
        x[i] = i < 120 ? 10 : (double)(i % 3);
    assert_false(mser_truncate(x, COUNT(x)).is_found);
}

TEST(nothing_is_dropped_without_reason)
{
    double x[100] = {0};

    assert_true(mser_truncate(x, COUNT(x)).is_found);
    assert_int_equal(mser_truncate(x, COUNT(x)).drop, 0);
    assert_true(mser_truncate(x, MSER_MIN_N).is_found);
    assert_false(mser_truncate(x, MSER_MIN_N - 1).is_found);
    assert_false(mser_truncate(x, 0).is_found);
}

/* From 10 down to 0 with a time constant of 50, in noise of deviation 1.  Up to
 * 60 a single value is 3 deviations off, a batch 6.7: no cut before that can be
 * best. */
TEST(a_slow_start_is_cut_off)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct rng rng = rng_stream(seed, RNG_SERVICE);
        double x[2000];
        struct mser m;

        for (size_t i = 0; i < COUNT(x); i++)
            x[i] = 10 * exp(-(double)i / 50) + rng_normal(&rng);
        m = mser_truncate(x, COUNT(x));
        assert_true(m.is_found);
        assert_true(m.drop >= 60);
    }
}

/* ---- trend ---- */

/* Gilbert 1987: 10, 15, 14, 20 has s = 4.  The longer one is from the
 * definitions, in exact arithmetic. */
TEST(trend_by_hand)
{
    static const double few[] = {10, 15, 14, 20};
    static const double many[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9};
    double scratch[105];
    struct trend_test t = trend_test(few, COUNT(few), scratch);
    struct trend_slope s;

    assert_int_equal(t.s, 4);
    assert_near(t.variance, 4.0 * 3 * 13 / 18, 1e-12);
    assert_true(t.p == 1); /* too few */
    t = trend_test(many, COUNT(many), scratch);
    assert_int_equal(t.s, 55);
    assert_near(t.variance, 399, 1e-9);
    assert_near(t.z, 2.703381341337, 1e-11);
    assert_near(t.p, 0.006863794985, 1e-11);
    assert_int_equal(trend_verdict(&t, 0.01), TREND_RISING);
    assert_int_equal(trend_verdict(&t, 0.001), TREND_NONE);
    assert_int_equal(TREND_PAIRS(COUNT(many)), COUNT(scratch));
    s = trend_slope(many, COUNT(many), 0.95, scratch);
    assert_near(s.slope, 4.0 / 9, 1e-12);
    assert_true(s.has_range);
    assert_near(s.range.low, 1.0 / 6, 1e-12);
    assert_near(s.range.high, 8.0 / 11, 1e-12);
}

TEST(the_other_way_round_it_falls)
{
    double x[12];
    double scratch[66];
    struct trend_test t;
    struct trend_slope s;

    for (size_t i = 0; i < COUNT(x); i++)
        x[i] = -2 * (double)i;
    t = trend_test(x, COUNT(x), scratch);
    s = trend_slope(x, COUNT(x), 0.95, scratch);
    assert_int_equal(t.s, -66);
    assert_int_equal(trend_verdict(&t, 0.001), TREND_FALLING);
    assert_true(s.slope == -2 && s.range.low == -2 && s.range.high == -2);
}

TEST(no_trend_in_what_is_constant_or_too_short)
{
    double x[20] = {0};
    double scratch[190];

    for (size_t n = 0; n <= COUNT(x); n++) {
        struct trend_test t = trend_test(x, n, scratch);
        struct trend_slope s = trend_slope(x, n, 0.95, scratch);

        assert_true(t.z == 0 && t.p == 1);
        assert_true(s.slope == 0);
    }
    x[1] = 1;
    assert_false(trend_slope(x, 2, 0.95, scratch).has_range);
    assert_false(trend_slope(x, 3, 0.95, scratch).has_range);
}

/* Independent values: at 5 % of 2,000 there are 100 with a deviation of 9.7, at
 * 0.1 % of 10,000 there are 10 with 3.2; four of these are allowed.  The range
 * of the slope covers 95 % with 0.5 % of deviation, or more by its rounding. */
TEST(levels_are_kept)
{
    struct rng rng = {.state = 11};
    int at_5 = 0;
    int at_01 = 0;
    int covered = 0;

    for (int run = 0; run < 10000; run++) {
        double x[30];
        double scratch[435];
        struct trend_test t;
        struct trend_slope s;

        for (size_t i = 0; i < COUNT(x); i++)
            x[i] = rng_normal(&rng);
        t = trend_test(x, COUNT(x), scratch);
        at_01 += trend_verdict(&t, 0.001) != TREND_NONE;
        if (run >= 2000)
            continue;
        at_5 += trend_verdict(&t, 0.05) != TREND_NONE;
        s = trend_slope(x, COUNT(x), 0.95, scratch);
        covered += s.range.low <= 0 && 0 <= s.range.high;
    }
    print_message("no trend: %d of 2000 at 5 %%, %d of 10000 at 0.1 %%; the "
                  "range covers %d of 2000\n",
                  at_5, at_01, covered);
    assert_in_range(at_5, 100 - 39, 100 + 39);
    assert_in_range(at_01, 0, 10 + 13);
    assert_in_range(covered, 1900 - 39, 1900 + 59);
}

#define BLOCKS 30
#define BLOCK  500

static enum trend trend_of_queue(uint64_t seed, double load, double level)
{
    struct mm1 q = mm1_start(seed, 1 / 0.5, 1);
    double blocks[BLOCKS];
    double scratch[BLOCKS];
    double times[BLOCK];
    struct trend_test t;

    q.gap = 1 / load;
    for (size_t i = 0; i < BLOCKS; i++) {
        mm1_draw(&q, times, BLOCK);
        blocks[i] = mean_of(times, BLOCK);
    }
    t = trend_test(blocks, BLOCKS, scratch);
    return trend_verdict(&t, level);
}

/* A queue at load 0.5 in blocks of some fifty times what it remembers, and one
 * at 1.1, which grows by 45 a block where it scatters by some 30. */
TEST(a_queue_that_is_overloaded_rises)
{
    int false_alarms = 0;

    for (uint64_t seed = 0; seed < 400; seed++)
        false_alarms += trend_of_queue(seed, 0.5, 0.05) != TREND_NONE;
    print_message("load 0.5: %d of 400 at 5 %%\n", false_alarms);
    assert_in_range(false_alarms, 0, 20 + 18); /* four deviations */
    for (uint64_t seed = 0; seed < 50; seed++)
        assert_int_equal(trend_of_queue(seed, 1.1, 0.001), TREND_RISING);
}

/* ---- memory ---- */

/* From the definition, in exact arithmetic. */
TEST(autocorrelation_by_hand)
{
    static const double x[] = {1, 3, 2, 5, 4, 6, 8, 7, 9, 8};

    assert_near(autocorr_time(x, COUNT(x)), 1.5631424375917766, 1e-12);
}

TEST(no_memory_without_evidence)
{
    double x[100] = {0};

    assert_true(autocorr_time(x, 0) == 0.5);
    assert_true(autocorr_time(x, 1) == 0.5);
    assert_true(autocorr_time(x, COUNT(x)) == 0.5);
    for (size_t i = 0; i < COUNT(x); i++)
        x[i] = i % 2 ? 1 : -1;
    assert_true(autocorr_time(x, COUNT(x)) == 0.5);
}

#define LONG 20000

static double time_of_ar1(uint64_t seed, double phi)
{
    static double x[LONG];
    struct rng rng = rng_stream(seed, RNG_SERVICE);

    x[0] = rng_normal(&rng) / sqrt(1 - phi * phi);
    for (size_t i = 1; i < LONG; i++)
        x[i] = phi * x[i - 1] + rng_normal(&rng);
    return autocorr_time(x, LONG);
}

/* x' = phi x + noise has correlations phi^k, so tau = 1/2 + phi / (1 - phi).
 * One estimate from m lags has a relative error of sqrt(2 (2 m + 1) / n), with
 * m some five to ten tau at most 14 %, the mean of 40 of them 2 %; cutting the
 * sum where noise first makes a pair negative biases it by as much again. */
TEST(memory_of_an_autoregression)
{
    static const double phi[] = {0, 0.5, 0.9};

    for (size_t k = 0; k < COUNT(phi); k++) {
        double want = 0.5 + phi[k] / (1 - phi[k]);
        double mean = 0;

        for (uint64_t seed = 0; seed < 40; seed++)
            mean += time_of_ar1(seed, phi[k]) / 40;
        print_message("phi %.1f: tau %.3f, in theory %.3f\n", phi[k], mean,
                      want);
        assert_near(mean, want, 0.08 * want);
    }
}
