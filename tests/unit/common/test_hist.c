/* Percentiles are nearest rank over everything, failures included. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/rng.h"
#include "common/base/xalloc.h"
#include "common/stats/hist.h"
#include "tests/support/test.h"

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* From 1 ns to 22 minutes, as many in each octave. */
static int64_t draw_ns(struct rng *rng)
{
    return llround(exp2(rng_uniform(rng) * 40.3));
}

/* Three digits: within 1 in 1000 of the sample at rank ceil(q n). */
static void check_quantiles(const struct hist *h, const int64_t *sorted,
                            int64_t n)
{
    for (int64_t permille = 1; permille <= 1000;
         permille += permille < 985 ? 12 : 1) {
        int64_t rank = (permille * n + 999) / 1000;
        double want = (double)sorted[rank - 1];
        double got = (double)hist_rank_quantile(h, (double)permille / 1000);

        assert_true(fabs(got - want) <= want / 1000);
    }
}

TEST(quantiles_are_those_of_the_sorted_samples)
{
    static const int64_t sizes[] = {1, 2, 3, 10, 99, 100, 101, 1000, 20000};
    struct rng rng = {.state = 11};

    for (size_t i = 0; i < COUNT(sizes); i++) {
        int64_t n = sizes[i];
        int64_t *samples = xcalloc((size_t)n, sizeof(*samples));
        double sum = 0;
        struct hist h = {0};

        for (int64_t k = 0; k < n; k++) {
            samples[k] = draw_ns(&rng);
            sum += (double)samples[k];
            hist_add(&h, samples[k]);
        }
        qsort(samples, (size_t)n, sizeof(*samples), compare);
        check_quantiles(&h, samples, n);
        assert_int_equal(h.max_ns, samples[n - 1]);
        assert_true(fabs(hist_mean_ns(&h) - sum / (double)n) <= 1e-9 * sum);
        hist_fini(&h);
        free(samples);
    }
}

/* 19 of 10 ms and one of 1000 ms, on which tools differ. */
TEST(the_example_of_the_definitions)
{
    struct hist h = {0};

    for (int i = 0; i < 19; i++)
        hist_add(&h, 10 * NS_PER_MS);
    hist_add(&h, 1000 * NS_PER_MS);
    assert_true(fabs((double)hist_rank_quantile(&h, 0.95) / 1e6 - 10) < 0.01);
    assert_true(fabs((double)hist_rank_quantile(&h, 0.99) / 1e6 - 1000) < 1);
    assert_int_equal(hist_quantile(&h, 0.95), HIST_TOO_FEW);
    assert_true(hist_quantile(&h, 0.5) > 0);
    assert_int_equal(h.max_ns, 1000 * NS_PER_MS);
    assert_true(hist_mean_ns(&h) == 59.5e6);
    hist_fini(&h);
}

/* 7 of 10 failed: the ranks above 3 are among them. */
TEST(failures_are_beyond_every_value)
{
    static const struct {
        double q;
        bool is_beyond;
    } cases[] = {{0.1, false}, {0.3, false}, {0.31, true}, {1, true}};
    struct hist h = {0};

    for (int64_t i = 1; i <= 3; i++)
        hist_add(&h, i);
    hist_add_beyond(&h, 4);
    hist_add_beyond(&h, 3);
    assert_int_equal(h.n, 10);
    assert_int_equal(h.beyond, 7);
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(hist_rank_quantile(&h, cases[i].q) == HIST_BEYOND,
                         cases[i].is_beyond);
    assert_int_equal(hist_rank_quantile(&h, 0.3), 3);
    assert_int_equal(h.max_ns, 3);
    assert_int_equal(h.out_of_range, 0);
    assert_true(hist_mean_ns(&h) == HIST_BEYOND);
    assert_int_equal(hist_max_ns(&h), HIST_BEYOND);
    assert_int_equal(hist_at_rank(&h, 3), 3);
    assert_int_equal(hist_at_rank(&h, 4), HIST_BEYOND);
    assert_int_equal(hist_at_rank(&h, 11), HIST_BEYOND); /* more than n */
    hist_fini(&h);
}

TEST(what_is_out_of_range_is_counted)
{
    static const int64_t outside[] = {3600 * NS_PER_S + 1, INT64_MAX, -1,
                                      INT64_MIN};
    struct hist h = {0};

    hist_add(&h, 0);
    hist_add(&h, 3600 * NS_PER_S);
    assert_int_equal(h.out_of_range, 0);
    assert_int_equal(h.max_ns, 3600 * NS_PER_S);
    assert_int_equal(hist_rank_quantile(&h, 0.5), 0);
    assert_int_equal(hist_rank_quantile(&h, 1), 3600 * NS_PER_S);
    for (size_t i = 0; i < COUNT(outside); i++)
        hist_add(&h, outside[i]);
    assert_int_equal(h.out_of_range, COUNT(outside));
    assert_int_equal(h.beyond, COUNT(outside));
    assert_int_equal(h.n, 2 + COUNT(outside));
    assert_int_equal(h.max_ns, 3600 * NS_PER_S);
    assert_int_equal(hist_rank_quantile(&h, 0.5), HIST_OUT_OF_RANGE);
    assert_int_equal(hist_max_ns(&h), HIST_OUT_OF_RANGE);
    assert_true(hist_mean_ns(&h) == HIST_OUT_OF_RANGE);
    hist_add_beyond(&h, 1); /* what failed is further out */
    assert_int_equal(hist_rank_quantile(&h, 0.5), HIST_OUT_OF_RANGE);
    assert_int_equal(hist_rank_quantile(&h, 1), HIST_BEYOND);
    assert_true(hist_mean_ns(&h) == HIST_BEYOND);
    hist_fini(&h);
}

TEST(too_few_cannot_bound_a_quantile)
{
    static const struct {
        double q;
        int64_t least;
    } cases[] = {{0.5, 5}, {0.9, 29}, {0.95, 59}, {0.99, 299}, {0.999, 2995}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct hist h = {0};

        assert_int_equal(hist_quantile(&h, cases[i].q), HIST_EMPTY);
        assert_int_equal(hist_rank_quantile(&h, cases[i].q), HIST_EMPTY);
        assert_true(hist_mean_ns(&h) == HIST_EMPTY);
        for (int64_t k = 1; k < cases[i].least; k++)
            hist_add(&h, 7);
        assert_int_equal(hist_quantile(&h, cases[i].q), HIST_TOO_FEW);
        assert_int_equal(hist_rank_quantile(&h, cases[i].q), 7);
        hist_add(&h, 7);
        assert_int_equal(hist_quantile(&h, cases[i].q), 7);
        hist_fini(&h);
    }
}

TEST(a_reset_forgets_everything)
{
    struct hist h = {0};

    hist_add(&h, NS_PER_S);
    hist_add(&h, INT64_MAX);
    hist_add_beyond(&h, 2);
    hist_reset(&h);
    assert_int_equal(h.n + h.beyond + h.out_of_range, 0);
    assert_int_equal(hist_rank_quantile(&h, 0.5), HIST_EMPTY);
    assert_int_equal(hist_max_ns(&h), HIST_EMPTY);
    hist_add(&h, 7);
    assert_int_equal(hist_rank_quantile(&h, 1), 7);
    assert_true(hist_mean_ns(&h) == 7);
    hist_fini(&h);
}

TEST(one_may_be_added_to_another)
{
    struct hist a = {0};
    struct hist b = {0};

    hist_add_all(&a, &b); /* nothing to nothing */
    assert_int_equal(hist_rank_quantile(&a, 0.5), HIST_EMPTY);
    hist_add(&b, 5);
    hist_add(&b, 7);
    hist_add_all(&a, &b);
    hist_add_all(&a, &b);
    assert_int_equal(a.n, 4);
    assert_true(hist_mean_ns(&a) == 6);
    assert_int_equal(hist_max_ns(&a), 7);
    assert_int_equal(hist_rank_quantile(&a, 0.5), 5);
    hist_add_beyond(&b, 4);
    hist_add(&b, INT64_MAX);
    hist_add_all(&a, &b);
    assert_int_equal(a.n, 11);
    assert_int_equal(a.beyond, 5);
    assert_int_equal(a.out_of_range, 1);
    assert_int_equal(hist_rank_quantile(&a, 1), HIST_BEYOND);
    hist_fini(&a);
    hist_fini(&b);
}
