/* bootstrap.h - the bootstrap interval for the contrast of a statistic of two
 * samples of trials, or of blocks.  Pure but for the random numbers, which are
 * the caller's.
 *
 * Whole trials are drawn again with replacement, never requests.  The interval
 * is the percentile one, expanded (Hesterberg 2015): with 5 to 20 trials plain
 * percentiles are too narrow, since resampling knows no degrees of freedom and
 * scatters by (n - 1) / n too little; so the tails are taken further out, where
 * a normal distribution would put Student's quantile with Welch's freedom.  It
 * needs no standard error of the statistic, which for a median could not be had
 * from so few; it cannot leave what the trials span.
 */
#ifndef TESTS_SUPPORT_BOOTSTRAP_H
#define TESTS_SUPPORT_BOOTSTRAP_H

#include <stddef.h>

#include "analyzer/stats/trial_stats.h"

struct rng;

#define BOOT_LEAST_TRIALS 5    /* a side */
#define BOOT_LEAST_PAIRS  6    /* five span 94 % at most */
#define BOOT_RESAMPLES    9999 /* enough for 95 % of BOOT_LEAST_TRIALS */

struct boot {
    /* Of n values, at least 1, which it may move about. */
    double (*statistic)(double *x, size_t n);
    enum contrast contrast;
    double confidence;
    size_t resamples;
    struct rng *rng; /* the same stream gives the same interval */
    double *scratch; /* boot_scratch() values */
};

/* Statistics: mean and median. */
double boot_mean(double *x, size_t n);
double boot_median(double *x, size_t n);

size_t boot_scratch(size_t resamples, size_t n_a, size_t n_b);

/* Two samples on their own.  Without range if there are too few trials, too few
 * resamples for the tails, or values that the contrast cannot take. */
struct uncertain boot_contrast(const struct boot *s, const double *a,
                               size_t n_a, const double *b, size_t n_b);

/* n pairs, measured next to each other, drawn as pairs. */
struct uncertain boot_paired(const struct boot *s, const double *a,
                             const double *b, size_t n);

#endif
