/* near.h - numbers that are right to a number of digits. */
#ifndef TESTS_SUPPORT_NEAR_H
#define TESTS_SUPPORT_NEAR_H

#include <math.h>

#include "analyzer/stats/trial_stats.h"
#include "tests/support/test.h"

static inline void assert_near(double got, double want, double within)
{
    if (!(fabs(got - want) <= within))
        print_message("%.12g instead of %.12g\n", got, want);
    assert_true(fabs(got - want) <= within);
}

static inline void assert_range(const struct uncertain *u, double low,
                                double high, double within)
{
    assert_true(u->has_range);
    assert_near(u->range.low, low, within);
    assert_near(u->range.high, high, within);
}

#endif
