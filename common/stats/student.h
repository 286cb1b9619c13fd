/* student.h - tails and quantiles of the normal and of Student's t
 * distribution.  Pure.  By bisection: for a handful of intervals, not for a hot
 * path.  Good to ten digits with up to some thousand degrees of freedom, to six
 * with 10^9. */
#ifndef COMMON_STATS_STUDENT_H
#define COMMON_STATS_STUDENT_H

#include <stddef.h>
#include <stdint.h>

/* P(Z >= z), of a normal variable. */
double normal_upper_tail(double z);

/* z with P(Z <= z) = p; p above 0 and below 1. */
double normal_quantile(double p);

/* P(T >= t); `freedom` above 0, whole or not. */
double student_upper_tail(double t, double freedom);

/* t with P(T <= t) = p; p above 0 and below 1.  NAN, here and below, where
 * freedom is not above 0. */
double student_quantile(double p, double freedom);

/* How many deviations an interval of that confidence reaches to either side:
 * 2.776 for 0.95 and 4 degrees of freedom. */
double student_reach(double confidence, double freedom);

/* autocorr.h - how long a series remembers, and how many independent values it
 * is worth.  Pure.
 *
 * The integrated autocorrelation time is 1/2 plus the sum of the correlations
 * at all lags; the mean of n values scatters like that of n / (2 tau)
 * independent ones.  The sum is cut where a pair of neighbouring lags is no
 * longer positive (Geyer 1992, initial positive sequence): beyond, there is
 * noise alone.
 *
 * From a series that is not a hundred times as long as tau, the estimate is too
 * low; it says nothing of a series with a trend.
 */
/* In steps of the series; 0.5: independent, constant, or too short to tell;
 * never less.  Takes n steps for each lag up to the cut. */
double autocorr_time(const double *x, size_t n);

/* Independent values that the n are worth: n / (2 tau), at most n. */
double autocorr_effective(const double *x, size_t n);

/* intervals.h - the few statistics that a verdict rests on.  Pure. */
/* Nearest rank: ceil(q n), at least 1. */
int64_t stats_rank(double q, int64_t n);

/* Fewest independent samples that can bound quantile q from above at 95 %:
 * p90 29, p99 299, p99.9 2995. */
int64_t stats_min_n(double q);

/* The regularised incomplete beta function I_x(a, b); a and b above 0. */
double stats_beta(double x, double a, double b);

/* P(X >= k) for X ~ Binomial(n, p). */
double stats_binomial_upper_tail(int64_t n, double p, int64_t k);

/* Counts of one batch of the window. */
struct batch {
    int64_t n;
    int64_t hits;
};

/* How much wider the hits scatter over the batches than independent ones
 * would; at least 1.  n / inflation is the effective sample size. */
double stats_inflation(const struct batch *batches, size_t len);

struct interval {
    double low;
    double high;
};

/* 95 % interval of a share, Wilson's, with an effective sample size. */
struct interval stats_share_interval(double share, double n_effective);

#endif
