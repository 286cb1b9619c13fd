/* Change points that were put there, and where there are none. */
#include <math.h>

#include "analyzer/stats/change_points.h"
#include "common/base/rng.h"
#include "tests/support/test.h"

#define MOST 300

struct outcome_of {
    size_t len;
    struct change found[8];
};

static struct outcome_of find(const double *x, size_t n, double level,
                              size_t max)
{
    static double scratch[MOST];
    struct rng rng = {.state = 6};
    struct changes c = {
        .level = level, .permutations = 199, .min_len = 3, .rng = &rng};
    struct outcome_of o;

    o.len = changes_find(&c, x, n, o.found, max, scratch);
    return o;
}

TEST(a_step_is_found_where_it_is)
{
    double x[60];
    struct outcome_of o;

    for (size_t i = 0; i < COUNT(x); i++)
        x[i] = i < 23 ? 5 : 4;
    o = find(x, COUNT(x), 0.01, 8);
    assert_int_equal(o.len, 1);
    assert_int_equal(o.found[0].at, 23);
    assert_true(o.found[0].p == 1.0 / 200); /* as small as 199 can show */
}

/* Levels 0, 4, 1, 6 in noise of deviation 1: each edge is told apart from its
 * neighbours by at least 3 deviations a value; three of them in a row on the
 * wrong side have a chance of (7 %)^3. */
TEST(several_are_found_in_their_order)
{
    static const double levels[] = {0, 4, 1, 6};
    struct rng rng = {.state = 2};
    double x[200];

    for (int run = 0; run < 5; run++) {
        struct outcome_of o;

        for (size_t i = 0; i < COUNT(x); i++)
            x[i] = levels[i / 50] + rng_normal(&rng);
        o = find(x, COUNT(x), 0.01, 8);
        assert_in_range(o.len, 3, 4); /* one more by chance, at 1 % */
        if (o.len == 3) {
            for (size_t i = 0; i < 3; i++)
                assert_in_range(o.found[i].at, 50 * (i + 1) - 2,
                                50 * (i + 1) + 2);
        }
        o = find(x, COUNT(x), 0.01, 2);
        assert_int_equal(o.len, 2); /* no more than there is room for */
        assert_true(o.found[0].at < o.found[1].at);
    }
}

/* The mean stays, the deviation grows from 1 to 5. */
TEST(not_the_mean_alone_counts)
{
    struct rng rng = {.state = 5};
    double x[200];
    struct outcome_of o;

    for (size_t i = 0; i < COUNT(x); i++)
        x[i] = (i < 100 ? 1 : 5) * rng_normal(&rng);
    o = find(x, COUNT(x), 0.01, 1);
    assert_int_equal(o.len, 1);
    assert_in_range(o.found[0].at, 80, 120);
}

TEST(nothing_is_found_in_nothing)
{
    static const double alike[50] = {0};
    static const double few[] = {1, 2, 3, 9, 9};

    assert_int_equal(find(alike, COUNT(alike), 0.05, 8).len, 0);
    assert_int_equal(find(alike, 0, 0.05, 8).len, 0);
    assert_int_equal(find(few, COUNT(few), 0.05, 8).len, 0);
    assert_int_equal(find(few, COUNT(few), 0.05, 0).len, 0);
}

/* A permutation test keeps its level whatever the distribution: of 300 at 5 %
 * there are 15 with a deviation of 3.8; four of these are allowed. */
TEST(the_level_is_kept)
{
    struct rng rng = {.state = 7};
    int alarms = 0;

    for (int run = 0; run < 300; run++) {
        double x[40];

        for (size_t i = 0; i < COUNT(x); i++)
            x[i] = exp(rng_normal(&rng));
        alarms += find(x, COUNT(x), 0.05, 8).len > 0;
    }
    print_message("%d of 300 at 5 %%\n", alarms);
    assert_in_range(alarms, 0, 15 + 15);
    assert_true(alarms > 0);
}

/* 5 % slower in results that scatter by 2 %: 2.5 deviations, of which ten after
 * the change are enough. */
TEST(a_small_step_is_found_in_a_history)
{
    struct rng rng = {.state = 9};
    int found = 0;

    for (int run = 0; run < 50; run++) {
        double x[60];
        struct outcome_of o;

        for (size_t i = 0; i < COUNT(x); i++)
            x[i] = (i < 50 ? 100 : 105) * (1 + 0.02 * rng_normal(&rng));
        o = find(x, COUNT(x), 0.01, 1);
        found += o.len == 1 && o.found[0].at >= 46 && o.found[0].at <= 54;
    }
    print_message("%d of 50 found\n", found);
    assert_in_range(found, 45, 50);
}
