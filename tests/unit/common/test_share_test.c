#include "common/stats/share_test.h"

#include <math.h>

#include "tests/support/near.h"
#include "tests/support/test.h"

static struct share_sample independent(double n, double misses)
{
    return (struct share_sample){.n = n, .misses = misses, .n_effective = n};
}

/* Tails of the binomial distribution, from tables. */
TEST(whole_counts_have_binomial_tails)
{
    static const struct {
        double n;
        double misses;
        double allowed;
        double pass_p;
        double fail_p;
    } rows[] = {
        {10, 0, 0.5, 0.0009765625, 1},
        {10, 3, 0.5, 0.171875, 0.9453125},
        {10, 10, 0.5, 1, 0.0009765625},
        {299, 0, 0.01, 0.0495363, 1},
        {298, 0, 0.01, 0.0500366, 1},
        {1500, 8, 0.01, 0.0367668, 0.9824111},
        {1500, 25, 0.01, 0.9940620, 0.0107933},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct share_sample s = independent(rows[i].n, rows[i].misses);

        assert_near(share_pass_p(&s, rows[i].allowed), rows[i].pass_p, 1e-6);
        assert_near(share_fail_p(&s, rows[i].allowed), rows[i].fail_p, 1e-6);
    }
}

/* 3000 requests worth 300 are 300 requests. */
TEST(clusters_count_as_what_they_are_worth)
{
    struct share_sample clustered = {
        .n = 3000, .misses = 20, .n_effective = 300};
    struct share_sample same = independent(300, 2);

    assert_near(share_pass_p(&clustered, 0.01), share_pass_p(&same, 0.01),
                1e-12);
    assert_near(share_fail_p(&clustered, 0.01), share_fail_p(&same, 0.01),
                1e-12);
}

TEST(without_samples_nothing_is_shown)
{
    struct share_sample none = independent(0, 0);

    assert_true(share_pass_p(&none, 0.01) == 1);
    assert_true(share_fail_p(&none, 0.01) == 1);
}

TEST(the_number_needed_just_shows_it)
{
    static const struct {
        double share;
        double allowed;
    } rows[] = {
        {0, 0.01}, {0.002, 0.01}, {0.005, 0.01}, {0.03, 0.01}, {0.2, 0.1}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        double share = rows[i].share;
        double allowed = rows[i].allowed;
        double n = share_needed(share, allowed, SHARE_LEVEL);
        struct share_sample s = independent(n, share * n);
        double p = share < allowed ? share_pass_p(&s, allowed)
                                   : share_fail_p(&s, allowed);

        assert_near(p, SHARE_LEVEL, 1e-4);
    }
    assert_near(share_needed(0, 0.01, SHARE_LEVEL), 298.07, 0.01);
    assert_true(isinf(share_needed(0.01, 0.01, SHARE_LEVEL)));
}
