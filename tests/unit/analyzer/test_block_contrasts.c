/* Contrasts within rounds: what they are, how far they reach, and how often
 * equal members are told apart. */
#include <math.h>
#include <stdbool.h>

#include "analyzer/stats/block_contrasts.h"
#include "common/base/rng.h"
#include "tests/support/near.h"
#include "tests/support/test.h"

#define STUDIES 2000

TEST(pairs_are_numbered)
{
    size_t next = 0;

    assert_int_equal(block_pairs(1), 0);
    assert_int_equal(block_pairs(5), 10);
    for (size_t a = 0; a < 5; a++) {
        for (size_t b = a + 1; b < 5; b++)
            assert_int_equal(block_pair(5, a, b), next++);
    }
}

/* Counts scatter at least as counts do. */
TEST(contrasts_are_means_with_errors)
{
    static const double d[] = {1, 2, 3};
    static const double noise[] = {0.75, 0.75, 1.5};
    struct block_contrast c = block_contrast(d, noise, 3);

    assert_int_equal(c.rounds, 3);
    assert_near(c.mean, 2, 1e-12);
    assert_near(c.error, 1 / sqrt(3), 1e-12);
    assert_near(c.noise, sqrt(3) / 3, 1e-12);
    c = block_contrast(d, NULL, 1);
    assert_near(c.mean, 1, 0);
    assert_near(c.noise, 0, 0);
    assert_true(isnan(c.error));
    assert_true(isinf(block_half_width(&c, 1, 0.95)));
    assert_int_equal(block_contrast(d, NULL, 0).rounds, 0);
}

/* Student's t at 1 - 0.05 / 2 / pairs, or the normal one of the noise. */
TEST(intervals_are_corrected_for_pairs)
{
    static const struct {
        struct block_contrast c;
        size_t pairs;
        double half;
    } rows[] = {
        {{0, 1, 0, 3}, 1, 4.3027},   {{0, 1, 0, 3}, 6, 10.8859},
        {{0, 1, 0, 10}, 15, 3.9542}, {{0, 1, 10, 3}, 1, 19.5996},
        {{0, 0, 1, 3}, 6, 2.6383},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        assert_near(block_half_width(&rows[i].c, rows[i].pairs, 0.95),
                    rows[i].half, 1e-4);
}

TEST(p_values_agree_with_intervals)
{
    static const struct block_contrast rows[] = {
        {4.3027, 1, 0, 3}, {-2.2622, 1, 0, 10}, {1.96, 0, 1, 3}};
    const struct block_contrast certain = {1, 0, 0, 3};
    const struct block_contrast none = {0, 0, 0, 3};
    const struct block_contrast one = {1, NAN, 0, 1};

    for (size_t i = 0; i < COUNT(rows); i++)
        assert_near(block_p_value(&rows[i]), 0.05, 1e-4);
    assert_near(block_p_value(&certain), 0, 0);
    assert_near(block_p_value(&none), 1, 0);
    assert_near(block_p_value(&one), 1, 0);
}

/* 0.05 / 4, 0.05 / 3, then 0.05 / 2 is less than 0.03: the rest stays. */
TEST(holm_goes_step_by_step)
{
    static const double p[] = {0.03, 0.001, 0.2, 0.0166};
    static const size_t want[] = {2, 4, 2, 3};
    static const double clear[] = {0.001, 0.001, 0.049};
    size_t corrected[4];

    holm_correct(p, 4, 0.95, corrected);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(corrected[i], want[i]);
    holm_correct(clear, 3, 0.95, corrected);
    assert_int_equal(corrected[2], 1);
    holm_correct(p, 0, 0.95, corrected);
}

/* s = 0.1, difference 0.1: the smallest n with t(0.98) + t(0.8) <= sqrt(n),
 * both with n - 1 degrees of freedom: 11 (3.24 <= 3.32), not 10 (3.28 > 3.16).
 */
TEST(rounds_that_would_show_it)
{
    const struct block_contrast c = {0.1, 0.05, 0, 4};
    const struct block_contrast none = {0, 0.05, 0, 4};
    const struct block_contrast tiny = {0.001, 0.05, 0, 4};
    const struct block_contrast one = {0.1, NAN, 0, 1};

    assert_int_equal(block_rounds_needed(&c, 1, 0.96), 11);
    assert_true(block_rounds_needed(&c, 15, 0.96) > 11);
    assert_int_equal(block_rounds_needed(&none, 1, 0.96), 0);
    assert_int_equal(block_rounds_needed(&tiny, 1, 0.96), 0);
    assert_int_equal(block_rounds_needed(&one, 1, 0.96), 0);
}

/* One study of four equal members in three rounds: are any told apart? */
static bool is_told(struct rng *rng, double scatter, double reach)
{
    double x[4 * 3];

    for (size_t k = 0; k < COUNT(x); k++)
        x[k] = (k < 3 ? scatter : 1) * (log(rng_exponential(rng)) + 0.5772);
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = i + 1; j < 4; j++) {
            const double *a = x + i * 3;
            const double *b = x + j * 3;
            const double d[] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
            struct block_contrast c = block_contrast(d, NULL, 3);

            if (fabs(c.mean) > reach * c.error)
                return true;
        }
    }
    return false;
}

/* Values are logarithms of exponential ones, and one member may scatter ten
 * times as much.  At most 5 %; the error of the count is 0.5 %. */
TEST(equal_members_are_seldom_told_apart)
{
    static const double scatters[] = {1, 10};
    const struct block_contrast one = {0, 1, 0, 3};
    double reach = block_half_width(&one, 6, 0.95);
    struct rng rng = rng_stream(1, RNG_CLASS);

    for (size_t k = 0; k < COUNT(scatters); k++) {
        int told = 0;

        for (int i = 0; i < STUDIES; i++)
            told += is_told(&rng, scatters[k], reach);
        print_message("%.2f %%\n", 100.0 * told / STUDIES);
        assert_in_range(told, STUDIES * 2 / 100, STUDIES * 6 / 100);
    }
}
