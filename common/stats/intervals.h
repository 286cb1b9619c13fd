/* intervals.h - the few statistics that a verdict rests on.  Pure. */
#ifndef COMMON_STATS_INTERVALS_H
#define COMMON_STATS_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

/* Nearest rank: ceil(q n), at least 1. */
int64_t stats_rank(double q, int64_t n);

/* Fewest independent samples that can bound quantile q from above at 95 %:
 * p90 29, p99 299, p99.9 2995. */
int64_t stats_least_n(double q);

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
