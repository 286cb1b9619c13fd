/* trial_stats.h - estimates with intervals from a few independent trials, one
 * value of each.  Pure.
 *
 * Trials are independent of each other, unlike requests of one run, so these
 * intervals are honest.  Student's assumes that a trial's value is nearly
 * normal, which for p99 of a queue takes some 30,000 requests per trial
 * (docs/statistics-trials.md).  Order statistics assume nothing and need six
 * trials for 95 %.
 *
 * Confidences are shares, such as 0.95.
 */
#ifndef ANALYZER_STATS_TRIAL_STATS_H
#define ANALYZER_STATS_TRIAL_STATS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/stats/stats.h"

struct uncertain {
    double value;
    struct interval range;
    bool has_range; /* false: the range is unknown */
};

/* Mean and Student's interval.  No range with fewer than two trials or a value
 * that is not finite. */
struct uncertain trials_mean(const double *x, size_t n, double confidence);

/* The same for values that are never negative: neither is the range. */
struct uncertain trials_mean_amount(const double *x, size_t n,
                                    double confidence);

/* The median lies between the rank-th smallest and the rank-th largest of n
 * values, with at least the requested confidence or the maximum that n values
 * can give. */
struct median_rank {
    size_t rank;       /* from 1 */
    double confidence; /* 0 if n = 0 */
};

struct median_rank trials_median_rank(size_t n, double confidence);

struct trials_median {
    struct uncertain median; /* the ends of the range are values of trials */
    double confidence;       /* of the range: at least as requested, or the
                                maximum that n trials can give */
    bool is_reached;         /* false: less than requested */
};

/* Distribution-free.  With five trials the range is from minimum to maximum and
 * has 93.75 %: 95 % cannot be reached.  `scratch` holds n, at least 1.  Values
 * may be infinite. */
struct trials_median trials_median(const double *x, size_t n, double confidence,
                                   double *scratch);

/* How two values are compared: b - a, or b / a.  Ratios are computed on
 * logarithms, so that a / b has the reciprocal interval, and need values above
 * 0.
 */
enum contrast { CONTRAST_DIFFERENCE, CONTRAST_RATIO };

/* Welch's interval for the contrast of the means, or of the geometric means. No
 * range with fewer than two trials on a side, or with a value that has no
 * finite logarithm if one is needed. */
struct uncertain trials_contrast(enum contrast contrast, const double *a,
                                 size_t n_a, const double *b, size_t n_b,
                                 double confidence);

/* The same for n pairs a[i], b[i] that were measured next to each other, so
 * that slow drift affects both: Student's interval of the contrasts. */
struct uncertain trials_paired(enum contrast contrast, const double *a,
                               const double *b, size_t n, double confidence);

/* To the scale on which contrasts are computed, and back. */
double contrast_scale(enum contrast contrast, double x);
double contrast_back(enum contrast contrast, double x);

#endif
