/* trial_stats.h - what a few independent trials say: one value of each, an
 * interval for what more of them would come to.  Pure.
 *
 * Trials are independent of each other where requests of one run are not, so
 * these intervals are the honest ones.  Student's assumes that a trial's value
 * is near normal: for p99 of a queue that takes some 30,000 requests a trial
 * (docs/statistics.md).  The order statistics assume nothing, and need six
 * trials for 95 %.
 *
 * Confidences are shares: 0.95.
 */
#ifndef ANALYZER_STATS_TRIAL_STATS_H
#define ANALYZER_STATS_TRIAL_STATS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/stats/stats.h"

struct uncertain {
    double value;
    struct interval range;
    bool has_range; /* false: the range cannot be known */
};

/* Mean and Student's interval.  Without range below two trials, or where a
 * value is not finite. */
struct uncertain trials_mean(const double *x, size_t n, double confidence);

/* The same of what is never below 0, and so is its mean. */
struct uncertain trials_mean_amount(const double *x, size_t n,
                                    double confidence);

/* From the rank-th smallest of n to the rank-th greatest the median lies, with
 * at least the confidence that is asked for, or the most that n can give. */
struct median_rank {
    size_t rank;       /* from 1 */
    double confidence; /* of n = 0: none */
};

struct median_rank trials_median_rank(size_t n, double confidence);

struct trials_median {
    struct uncertain median; /* the range is that of two of the trials */
    double confidence;       /* of the range, at least what was asked for, or
                                the most that n trials can give */
    bool is_reached;         /* false: less than what was asked for */
};

/* Distribution-free.  Of five trials the range is from the least to the
 * greatest and has 93.75 %: 95 % cannot be reached.  `scratch` holds n, which
 * is at least 1.  Trials may be infinite. */
struct trials_median trials_median(const double *x, size_t n, double confidence,
                                   double *scratch);

/* How two of a kind are held against each other: b - a, or b / a.  Ratios are
 * taken on logarithms, so that a / b has the reciprocal interval, and need
 * values above 0. */
enum contrast { CONTRAST_DIFFERENCE, CONTRAST_RATIO };

/* Welch's interval for the contrast of the means, or of the geometric means.
 * Without range below two trials on either side, or with values that have no
 * finite logarithm where one is needed. */
struct uncertain trials_contrast(enum contrast contrast, const double *a,
                                 size_t n_a, const double *b, size_t n_b,
                                 double confidence);

/* The same of n pairs, a[i] and b[i] measured next to each other, so that what
 * drifts slowly touches both: Student's interval on the pairs' contrasts. */
struct uncertain trials_paired(enum contrast contrast, const double *a,
                               const double *b, size_t n, double confidence);

/* The scale on which contrasts are taken, and the way back. */
double contrast_scale(enum contrast contrast, double x);
double contrast_back(enum contrast contrast, double x);

#endif
