#include "study/launch/rank_clock.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/clk.h"
#include "tests/support/test.h"

/* An exchange at `at_ns` with a clock that is off by offset_ns; the ways take
 * there_ns and back_ns. */
static void exchange(struct rank_clock *c, int64_t at_ns, int64_t offset_ns,
                     int64_t there_ns, int64_t back_ns)
{
    const struct rank_stamps stamps = {
        .asked_ns = at_ns,
        .got_ns = at_ns + there_ns + offset_ns,
        .told_ns = at_ns + there_ns + offset_ns + 100,
        .back_ns = at_ns + there_ns + 100 + back_ns};

    rank_clock_add(c, &stamps);
}

TEST(the_offset_is_within_its_bound)
{
    static const struct {
        int64_t offset_ns;
        int64_t there_ns;
        int64_t back_ns;
    } cases[] = {
        {0, 1000, 1000},
        {50 * NS_PER_MS, 5 * NS_PER_MS, 5 * NS_PER_MS},
        {-3 * NS_PER_S, 9 * NS_PER_MS, NS_PER_MS}, /* all on one way */
        {NS_PER_MS, 0, 10 * NS_PER_MS},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rank_clock c;
        struct rank_offset found;

        rank_clock_begin(&c, RANK_CLOCK_BEFORE);
        assert_int_equal(rank_clock_found(&c).error_ns, 0);
        /* A long exchange does not spoil a short one. */
        exchange(&c, 0, cases[i].offset_ns, NS_PER_S, 0);
        exchange(&c, NS_PER_S, cases[i].offset_ns, cases[i].there_ns,
                 cases[i].back_ns);
        found = rank_clock_found(&c);
        assert_true(llabs(found.offset_ns - cases[i].offset_ns) <=
                    found.error_ns);
        assert_int_equal(found.error_ns,
                         (cases[i].there_ns + cases[i].back_ns) / 2 + 1);
        assert_int_equal(found.exchanges, 2);
    }
}

/* A clock that is 50 ppm fast, for ten minutes; the line follows it. */
TEST(drift_is_found_and_does_not_widen_the_bound)
{
    struct rank_clock c;
    struct rank_offset found;

    rank_clock_begin(&c, RANK_CLOCK_BEFORE);
    exchange(&c, 0, NS_PER_MS, 1000, 1000);
    rank_clock_begin(&c, RANK_CLOCK_DURING);
    for (int64_t s = 1; s < 600; s++)
        exchange(&c, s * NS_PER_S, NS_PER_MS + s * 50000, 2 * NS_PER_MS, 0);
    rank_clock_begin(&c, RANK_CLOCK_AFTER);
    exchange(&c, 600 * NS_PER_S, NS_PER_MS + 30 * NS_PER_MS, 1000, 1000);
    found = rank_clock_found(&c);
    assert_true(fabs(found.drift_ppm - 50) < 0.01);
    assert_int_equal(found.offset_ns, NS_PER_MS);
    assert_in_range(found.error_ns, 1000, 1100);
}

/* Somebody sets the clock while the run goes on, and back: the ends do not show
 * it. */
TEST(a_step_during_the_run_widens_the_bound)
{
    struct rank_clock c;

    rank_clock_begin(&c, RANK_CLOCK_BEFORE);
    exchange(&c, 0, 0, 1000, 1000);
    rank_clock_begin(&c, RANK_CLOCK_DURING);
    exchange(&c, NS_PER_S, 0, 1000, 1000);
    exchange(&c, 2 * NS_PER_S, 20 * NS_PER_MS, 1000, 1000);
    rank_clock_begin(&c, RANK_CLOCK_AFTER);
    exchange(&c, 3 * NS_PER_S, 0, 1000, 1000);
    assert_in_range(rank_clock_found(&c).error_ns, 20 * NS_PER_MS - 2000,
                    20 * NS_PER_MS + 2000);
}
