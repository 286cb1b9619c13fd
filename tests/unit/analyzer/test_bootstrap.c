/* The bootstrap, on samples of which the truth is known. */
#include <math.h>

#include "common/base/rng.h"
#include "tests/support/bootstrap.h"
#include "tests/support/near.h"
#include "tests/support/test.h"

#define MOST_TRIALS 20

static double scratch[BOOT_RESAMPLES + 2 * MOST_TRIALS];

static struct boot boot_of(enum contrast contrast, struct rng *rng)
{
    assert_true(boot_scratch(BOOT_RESAMPLES, MOST_TRIALS, MOST_TRIALS) <=
                COUNT(scratch));
    return (struct boot){.statistic = boot_mean,
                         .contrast = contrast,
                         .confidence = 0.95,
                         .resamples = BOOT_RESAMPLES,
                         .rng = rng,
                         .scratch = scratch};
}

static const double some_a[] = {101, 99, 104, 98, 103, 100, 97, 102, 105, 96};
static const double some_b[] = {108, 104, 111, 103, 109,
                                107, 102, 110, 106, 105};

/* Of means it comes to what Welch's interval says, within a fifth of its half
 * width: one end is the 60th of 9,999 with a relative error of 1 / sqrt(60) in
 * its tail, 4 % of the width; the rest is that so few trials are not normal. */
TEST(of_means_it_agrees_with_welch)
{
    static const enum contrast contrasts[] = {CONTRAST_DIFFERENCE,
                                              CONTRAST_RATIO};

    for (size_t i = 0; i < COUNT(contrasts); i++) {
        struct rng rng = {.state = 4};
        struct boot s = boot_of(contrasts[i], &rng);
        struct uncertain u = boot_contrast(&s, some_a, 10, some_b, 10);
        struct uncertain welch =
            trials_contrast(contrasts[i], some_a, 10, some_b, 10, 0.95);
        double half = (welch.range.high - welch.range.low) / 2;

        assert_near(u.value, welch.value, 0.001 * half + 1e-4);
        assert_range(&u, welch.range.low, welch.range.high, half / 5);
        u = boot_paired(&s, some_a, some_b, 10);
        welch = trials_paired(contrasts[i], some_a, some_b, 10, 0.95);
        half = (welch.range.high - welch.range.low) / 2;
        assert_range(&u, welch.range.low, welch.range.high, half / 5);
    }
}

TEST(the_same_stream_gives_the_same)
{
    struct uncertain first = {0};

    for (int i = 0; i < 2; i++) {
        struct rng rng = {.state = 4};
        struct boot s = boot_of(CONTRAST_RATIO, &rng);
        struct uncertain u;

        s.statistic = boot_median;
        u = boot_contrast(&s, some_a, 10, some_b, 10);
        if (i == 0)
            first = u;
        assert_true(u.range.low == first.range.low);
        assert_true(u.range.high == first.range.high);
        assert_near(u.value, 106.5 / 100.5, 1e-12);
    }
}

TEST(too_little_has_no_range)
{
    static const double bad[] = {1, 2, -3, 4, 5, -6, -7};
    struct rng rng = {.state = 4};
    struct boot s = boot_of(CONTRAST_RATIO, &rng);
    struct uncertain u = boot_contrast(&s, some_a, 4, some_b, 10);

    assert_false(u.has_range);
    assert_near(u.value, 106.5 / 100.5, 1e-12);
    assert_false(boot_contrast(&s, some_a, 10, some_b, 4).has_range);
    assert_false(boot_contrast(&s, some_a, 0, some_b, 4).has_range);
    assert_false(boot_paired(&s, some_a, some_b, 5).has_range);
    assert_true(boot_paired(&s, some_a, some_b, 6).has_range);
    assert_true(boot_contrast(&s, some_a, 5, some_b, 5).has_range);
    assert_false(boot_contrast(&s, bad, 7, some_b, 10).has_range);
    s.resamples = 99; /* the tail is below 1 in 100 */
    assert_false(boot_contrast(&s, some_a, 5, some_b, 5).has_range);
}

TEST(what_is_alike_has_no_width)
{
    static const double x[] = {3, 3, 3, 3, 3, 3};
    static const double y[] = {6, 6, 6, 6, 6, 6};
    struct rng rng = {.state = 4};
    struct boot s = boot_of(CONTRAST_RATIO, &rng);
    struct uncertain u = boot_contrast(&s, x, 6, y, 6);

    assert_range(&u, 2, 2, 1e-12);
    u = boot_paired(&s, x, y, 6);
    assert_range(&u, 2, 2, 1e-12);
}

/* A server that drifts by half while it is compared with itself and with one
 * that is 3 % slower: pairs see it, samples on their own do not. */
TEST(pairs_see_through_a_drift)
{
    struct rng noise = {.state = 8};
    struct rng rng = {.state = 4};
    struct boot s = boot_of(CONTRAST_RATIO, &rng);
    double a[12];
    double b[12];
    struct uncertain u;

    for (size_t i = 0; i < COUNT(a); i++) {
        double level = 100 * (1 + (double)i / 24);

        a[i] = level * (1 + 0.005 * rng_normal(&noise));
        b[i] = level * 1.03 * (1 + 0.005 * rng_normal(&noise));
    }
    u = boot_paired(&s, a, b, COUNT(a));
    assert_true(u.has_range && u.range.low > 1 && u.range.high < 1.06);
    u = boot_contrast(&s, a, COUNT(a), b, COUNT(b));
    assert_true(u.has_range && u.range.low < 1);
}

static int covers(const struct uncertain *u, double truth)
{
    return u->has_range && u->range.low <= truth && truth <= u->range.high;
}

/* Lognormal trials with a deviation of 30 %, the truth a ratio of 1: of 1,000
 * intervals of 95 % the count that covers has a deviation of 7; four of these
 * and, as the method is approximate, 1 % more are allowed. */
TEST(it_covers_what_it_says)
{
    static const size_t trials[] = {5, 10, 20};
    struct rng noise = {.state = 21};
    struct rng rng = {.state = 4};
    struct boot s = boot_of(CONTRAST_RATIO, &rng);

    s.resamples = 999;
    for (size_t k = 0; k < COUNT(trials); k++) {
        int on_their_own = 0;
        int as_pairs = 0;

        for (int run = 0; run < 1000; run++) {
            double x[2][MOST_TRIALS];
            struct uncertain u;

            for (size_t i = 0; i < 2 * trials[k]; i++)
                x[i % 2][i / 2] = exp(0.3 * rng_normal(&noise));
            u = boot_contrast(&s, x[0], trials[k], x[1], trials[k]);
            on_their_own += covers(&u, 1);
            u = boot_paired(&s, x[0], x[1], trials[k]);
            as_pairs += covers(&u, 1);
        }
        print_message("%zu trials: %d of 1000, as pairs %d\n", trials[k],
                      on_their_own, as_pairs);
        assert_in_range(on_their_own, 950 - 38, 950 + 38);
        if (trials[k] >= BOOT_LEAST_PAIRS)
            assert_in_range(as_pairs, 950 - 38, 950 + 38);
    }
}
