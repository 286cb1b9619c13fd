/* The share of misses over several trials, as one sample. */
#include <math.h>

#include "analyzer/stats/share_trials.h"
#include "tests/support/test.h"

static struct share_sample trial(double misses, double n_effective)
{
    return (struct share_sample){
        .n = 1000, .misses = misses, .n_effective = n_effective};
}

/* As many independent requests as all trials together. */
TEST(equal_trials_are_one_sample)
{
    const struct share_sample trials[] = {trial(5, 200), trial(5, 200),
                                          trial(5, 200)};
    struct share_sample all = share_trials(trials, 3);

    assert_true(all.n == 3000);
    assert_true(all.misses == 15);
    assert_true(fabs(all.n_effective - 600) < 1e-9);
}

/* Inflations of 2 and 10: 6 on average, not 600 of 2000 effective samples. */
TEST(the_inflation_is_averaged)
{
    const struct share_sample trials[] = {trial(0, 500), trial(0, 100)};
    struct share_sample all = share_trials(trials, 2);

    assert_true(fabs(all.n_effective - 2000.0 / 6) < 1e-9);
}

/* Shares of 0 and 10 %, 5 % on average.  Of 2000 independent requests the
 * variance would be 5 % * 95 % / 1000; it is 0.5 %, 105 times as much. */
TEST(trials_that_differ_are_worth_less)
{
    const struct share_sample trials[] = {trial(0, 1000), trial(100, 1000)};
    struct share_sample all = share_trials(trials, 2);

    assert_true(fabs(all.n_effective - 2000 / (0.005 * 1000 / 0.0475)) < 1e-6);
}

TEST(nothing_is_no_sample)
{
    const struct share_sample none = {0};
    const struct share_sample trials[] = {trial(5, 200), none};

    assert_true(share_trials(&none, 1).n_effective == 0);
    assert_true(share_trials(NULL, 0).n == 0);
    assert_true(fabs(share_trials(trials, 2).n_effective - 200) < 1e-9);
}

/* Clopper and Pearson's bounds: without a miss 1 - 0.05^(1/n) from above and 0
 * from below; of 10 in 100 5.53 % and 16.37 %. */
TEST(bounds)
{
    const struct share_sample none = trial(0, 299);
    const struct share_sample some = {
        .n = 100, .misses = 10, .n_effective = 100};
    struct interval b = share_bounds(&none);

    assert_true(b.low == 0);
    assert_true(fabs(b.high - (1 - pow(0.05, 1.0 / 299))) < 1e-9);
    b = share_bounds(&some);
    assert_true(fabs(b.low - 0.0553) < 5e-4);
    assert_true(fabs(b.high - 0.1637) < 5e-4);
}
