/* share_test.h - is the share of misses below or above what an SLO term allows?
 * The two one-sided tests behind every verdict.  Pure.
 *
 * Misses come in clusters, so n requests are worth n_effective independent
 * ones.  The misses are scaled down with them, and the binomial tail of the
 * scaled counts, continued to fractions by the incomplete beta function, is the
 * significance.
 */
#ifndef COMMON_STATS_SHARE_TEST_H
#define COMMON_STATS_SHARE_TEST_H

/* A verdict is shown if its significance is at most this: 95 % confidence. */
#define SHARE_LEVEL 0.05

struct share_sample {
    double n;           /* requests, or other samples */
    double misses;      /* of those */
    double n_effective; /* independent samples worth as much; at most n */
};

/* The chance of this many misses or fewer if the true share were `allowed`,
 * which is above 0 and below 1.  A pass is shown if it is at most the level.  1
 * without samples. */
double share_pass_p(const struct share_sample *s, double allowed);

/* The chance of this many misses or more.  A fail is shown if it is at most the
 * level.  1 without misses. */
double share_fail_p(const struct share_sample *s, double allowed);

/* Effective samples that show a pass, or a fail if `share` is above `allowed`,
 * when exactly `share` of them are misses.  INFINITY if both are equal. */
double share_needed(double share, double allowed, double level);

#endif
