/* steady_tests.h - tests of a series of time: where its warm-up ends, whether
 * it has a trend, whether its halves differ, and Little's law.  Pure.
 */
#ifndef ANALYZER_STATS_STEADY_TESTS_H
#define ANALYZER_STATS_STEADY_TESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/trial_stats.h"
#include "common/stats/stats.h"

/* ---- where the warm-up ends: MSER-5 (White 1997) ----
 *
 * The series is cut into batches of five.  Dropping the first d of k batches
 * leaves a mean whose squared standard error, if they were independent, is
 * proportional to sum((y - mean)^2) / (k - d)^2; the d that minimises it drops
 * what differs from the rest and nothing more.
 *
 * A few of the last batches that happen to be equal would always win, so at
 * least five must be left.  A minimum in the second half means that the series
 * has not settled, or not for long enough. */

#define MSER_BATCH 5
#define MSER_MIN_N 50 /* fewer values are not tested */

struct mser {
    bool is_found; /* false: in the second half, or fewer than MSER_MIN_N */
    size_t drop;   /* values at the beginning; at most half of them if found */
};

/* Values after the last whole batch are ignored. */
struct mser mser_truncate(const double *x, size_t n);

/* ---- trend ----
 *
 * Mann and Kendall's test compares the number of pairs that rise with those
 * that fall; Theil and Sen's slope is the median over all pairs.  Both are
 * robust against outliers and any distribution.  Both assume independent
 * values: use blocks that are some ten times as long as the autocorrelation
 * time (common/stats/stats.h), or every queue will seem to have a trend. */

/* The normal approximation is good from about here; fewer are not tested. */
#define TREND_MIN_N 10

struct trend_test {
    int64_t s;       /* pairs that rise minus pairs that fall */
    double variance; /* of s without a trend, allowing for ties */
    double z;        /* with continuity correction; 0 if all are equal */
    double p;        /* two-sided; 1 with fewer than TREND_MIN_N values */
};

/* `scratch` holds n values. */
struct trend_test trend_test(const double *x, size_t n, double *scratch);

struct trend_slope {
    double slope; /* per step of the series; 0 with fewer than 2 values */
    struct interval range;
    bool has_range; /* false: too few values for that confidence */
};

/* Number of values that the scratch of trend_slope() holds. */
#define TREND_PAIRS(n) ((n) < 2 ? 1 : (n) * ((n)-1) / 2)

/* The range is Sen's, by the normal approximation, with ranks rounded outwards.
 */
struct trend_slope trend_slope(const double *x, size_t n, double confidence,
                               double *scratch);

enum trend { TREND_NONE, TREND_RISING, TREND_FALLING };

/* At this two-sided level: 0.001 if many runs are tested. */
enum trend trend_verdict(const struct trend_test *t, double level);

/* ---- Little's law ---- */

#define LITTLE_LIMIT 0.05

/* Requests in flight = rate x time in flight, in any system that neither fills
 * nor drains.  All three are of the same window and requests: the mean number
 * in flight, requests that ended per second, and their mean time. */
struct little {
    double expected; /* rate x time */
    double off;      /* in flight / expected - 1; INFINITY if 0 was expected, 0
                        if nothing was in flight either */
    bool holds;      /* |off| is within the limit */
};

struct little little_check(double in_flight, double rate_rps, double time_s,
                           double limit);

/* ---- drift ---- */

/* The second half of the window compared with the first. */
struct drift {
    double first; /* mean of its blocks */
    double second;
    struct uncertain difference; /* second - first, with Welch's interval */
    double relative;             /* to the mean of both; 0 if that is 0 */
};

/* Blocks must be long compared with the autocorrelation time, so that they are
 * nearly independent.  If n is odd, the middle one is ignored.  There is no
 * range below four blocks. */
struct drift drift_of(const double *blocks, size_t n, double confidence);

#endif
