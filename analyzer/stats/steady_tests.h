/* steady_tests.h - two questions to a window that should be steady.  Pure. */
#ifndef ANALYZER_STATS_STEADY_TESTS_H
#define ANALYZER_STATS_STEADY_TESTS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/stats/trial_stats.h"

#define LITTLE_LIMIT 0.05

/* Little's law: requests in flight = rate x time in flight, of any system that
 * neither fills nor drains.  All three are of one window and of the same
 * requests: those in flight on average, those that ended in it by the second,
 * the mean time of these. */
struct little {
    double expected; /* rate x time */
    double off;      /* in flight / expected - 1; INFINITY if nothing was
                        expected, 0 if nothing was there either */
    bool holds;      /* within the limit, either way */
};

struct little little_check(double in_flight, double rate_rps, double time_s,
                           double limit);

/* What the second half of the window has more than the first. */
struct drift {
    double first; /* mean of its blocks */
    double second;
    struct uncertain difference; /* second - first, with Welch's interval */
    double relative;             /* to the mean of both; 0 if that is 0 */
};

/* Of blocks that are long against what the series remembers (autocorr.h), so
 * that they may count as independent.  Of an odd number the one in the middle
 * is left out.  Without range below four blocks. */
struct drift drift_of(const double *blocks, size_t n, double confidence);

#endif
