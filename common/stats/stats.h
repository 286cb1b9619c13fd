/* stats.h - the statistics behind verdicts: tails and quantiles of the normal
 * and Student's t distribution, autocorrelation, ranks, and intervals of
 * shares. Pure.
 *
 * Quantiles are found by bisection: for a handful of intervals, not for a hot
 * path.  Accurate to ten digits with up to some thousand degrees of freedom, to
 * six with 10^9. */
#ifndef COMMON_STATS_STATS_H
#define COMMON_STATS_STATS_H

#include <stddef.h>
#include <stdint.h>

/* P(Z >= z) for a normal variable. */
double normal_upper_tail(double z);

/* z with P(Z <= z) = p; p above 0 and below 1. */
double normal_quantile(double p);

/* P(T >= t); `freedom` above 0, whole or not. */
double student_upper_tail(double t, double freedom);

/* t with P(T <= t) = p; p above 0 and below 1.  NAN, here and below, if freedom
 * is not above 0. */
double student_quantile(double p, double freedom);

/* Half-width of a confidence interval, in standard deviations: 2.776 for 0.95
 * and 4 degrees of freedom. */
double student_reach(double confidence, double freedom);

/* The integrated autocorrelation time tau of a series, in steps: 1/2 plus the
 * sum of the correlations at all lags.  The mean of n values varies like that
 * of n / (2 tau) independent ones.  The sum is cut where a pair of neighbouring
 * lags is no longer positive (Geyer 1992, initial positive sequence): beyond,
 * there is only noise.
 *
 * At least 0.5, which means independent, constant or too short.  The estimate
 * is too low if the series is shorter than about a hundred tau, and meaningless
 * if it has a trend.  Takes n steps for each lag up to the cut. */
double autocorr_time(const double *x, size_t n);

/* The same, and the lag at which the sum was cut. */
double autocorr_time_cut(const double *x, size_t n, size_t *cut);

/* Nearest rank: ceil(q n), at least 1. */
int64_t stats_rank(double q, int64_t n);

/* Minimum number of independent samples that can bound quantile q from above
 * with 95 % confidence: p90 29, p99 299, p99.9 2995. */
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

/* How much more the hits vary between batches than independent ones would; at
 * least 1.  n / inflation is the effective sample size. */
double stats_inflation(const struct batch *batches, size_t len);

struct interval {
    double low;
    double high;
};

/* 95 % Wilson interval of a share with an effective sample size. */
struct interval stats_share_interval(double share, double n_effective);

#endif
