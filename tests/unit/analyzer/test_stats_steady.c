/* Little's law and the halves of a window. */
#include <math.h>

#include "analyzer/stats/steady_tests.h"
#include "common/base/rng.h"
#include "tests/support/mm1.h"
#include "tests/support/near.h"
#include "tests/support/test.h"

TEST(little_by_hand)
{
    struct little l = little_check(10.4, 50, 0.2, LITTLE_LIMIT);

    assert_near(l.expected, 10, 1e-12);
    assert_near(l.off, 0.04, 1e-12);
    assert_true(l.holds);
    assert_false(little_check(10.6, 50, 0.2, LITTLE_LIMIT).holds);
    assert_false(little_check(9.4, 50, 0.2, LITTLE_LIMIT).holds);
    assert_true(little_check(0, 0, 0, LITTLE_LIMIT).holds);
    assert_false(little_check(3, 0, 0, LITTLE_LIMIT).holds);
}

#define MANY 100000

/* The mean number in an M/M/1 queue is load / (1 - load), 1 at load 0.5.  What
 * its times remember is 5 requests, so 100,000 are worth 10,000 and their mean
 * is known to 1 %. */
TEST(little_holds_of_a_queue)
{
    static double times[MANY];
    struct mm1 q = mm1_start(3, 2, 1);
    double sum = 0;

    mm1_draw(&q, times, MANY);
    for (size_t i = 0; i < MANY; i++)
        sum += times[i];
    assert_true(little_check(1, 0.5, sum / MANY, 0.03).holds);
    assert_false(little_check(1.2, 0.5, sum / MANY, LITTLE_LIMIT).holds);
}

/* Means 1.75 and 2.75, the 9 in the middle left out; Welch's interval by
 * numerical integration. */
TEST(drift_by_hand)
{
    static const double blocks[] = {1, 2, 1.5, 2.5, 9, 2, 3, 3.5, 2.5};
    struct drift d = drift_of(blocks, COUNT(blocks), 0.95);

    assert_near(d.first, 1.75, 1e-12);
    assert_near(d.second, 2.75, 1e-12);
    assert_near(d.difference.value, 1, 1e-12);
    assert_near(d.relative, 1 / 2.25, 1e-12);
    assert_range(&d.difference, -0.1168573476, 2.1168573476, 1e-8);
}

TEST(drift_needs_four_blocks)
{
    static const double blocks[] = {1, 2, 3, 4};

    assert_false(drift_of(blocks, 0, 0.95).difference.has_range);
    assert_false(drift_of(blocks, 1, 0.95).difference.has_range);
    assert_false(drift_of(blocks, 3, 0.95).difference.has_range);
    assert_true(drift_of(blocks, 4, 0.95).difference.has_range);
}

/* Independent blocks: 1,900 of 2,000 with a deviation of 9.7; four of these. */
TEST(drift_covers_what_it_says)
{
    struct rng rng = {.state = 13};
    int covered = 0;

    for (int run = 0; run < 2000; run++) {
        double blocks[20];
        struct drift d;

        for (size_t i = 0; i < COUNT(blocks); i++)
            blocks[i] = rng_normal(&rng);
        d = drift_of(blocks, COUNT(blocks), 0.95);
        covered += d.difference.range.low <= 0 && 0 <= d.difference.range.high;
    }
    print_message("%d of 2000\n", covered);
    assert_in_range(covered, 1900 - 39, 1900 + 39);
}
