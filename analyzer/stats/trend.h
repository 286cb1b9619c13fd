/* trend.h - does a series rise or fall, and how fast?  Pure.
 *
 * Mann and Kendall's test counts the pairs that rise against those that fall;
 * Theil and Sen's slope is the median over all pairs.  Neither minds outliers
 * or what the distribution is.  Both take the values for independent: give them
 * blocks that are long against the time that the series remembers (autocorr.h),
 * some ten times it, or every queue will seem to have a trend.
 */
#ifndef ANALYZER_STATS_TREND_H
#define ANALYZER_STATS_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/stats/stats.h"

/* The normal approximation is good from about here; fewer are not tested. */
#define TREND_LEAST_N 10

struct trend_test {
    int64_t s;       /* pairs that rise, less those that fall */
    double variance; /* of s without a trend, ties allowed for */
    double z;        /* with continuity correction; 0 if all are alike */
    double p;        /* two-sided; 1 with fewer than TREND_LEAST_N values */
};

/* `scratch` holds n values. */
struct trend_test trend_test(const double *x, size_t n, double *scratch);

struct trend_slope {
    double slope; /* a step of the series; 0 with fewer than 2 values */
    struct interval range;
    bool has_range; /* false: too few values for that confidence */
};

/* How many values the scratch of trend_slope() holds. */
size_t trend_pairs(size_t n);

/* The range is Sen's, by the normal approximation, its ranks rounded outwards.
 */
struct trend_slope trend_slope(const double *x, size_t n, double confidence,
                               double *scratch);

enum trend { TREND_NONE, TREND_RISING, TREND_FALLING };

/* At this level, two-sided: 0.001 where many runs are looked at. */
enum trend trend_verdict(const struct trend_test *t, double level);

#endif
