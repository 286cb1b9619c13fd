/* miss_fit.h - where does the share of misses cross what is allowed?  One
 * regression over all probes of a term.  Pure.
 *
 * The log odds of a miss are a straight line over the log of the load, whose
 * slope and crossing are unknown.  Misses come in clusters: a queue that is
 * long for a while makes many at once.  So their variance is that of a compound
 * Poisson count, phi p^1.5 / n rather than p / n, with phi from the scatter of
 * blocks of time and of whole probes around the line.  What each pair of
 * crossing and slope makes of the counts is summed up on a grid: there is
 * nothing to converge, and a cliff from no misses to all is as good as a slope.
 */
#ifndef ANALYZER_SEARCH_MISS_FIT_H
#define ANALYZER_SEARCH_MISS_FIT_H

#include <stddef.h>

#include "common/stats/stats.h"

struct fit_point {
    double x; /* log of the load */
    double n;
    double misses;
    const struct batch *blocks; /* borrowed */
    size_t n_blocks;
    double weight; /* for fit_make(): how near it is */
};

struct fit {
    double x;           /* log of the load at which the line crosses */
    struct interval ci; /* of that */
    double slope;       /* of the log odds over the log of the load, there */
    double phi;
    double allowed;
    double floor; /* share of misses at any load */

    /* What is known of the line: sums of weight, weight u and weight u^2 over
     * the points, u from the crossing. */
    double s0;
    double s1;
    double s2;
};

/* What is looked for. */
struct fit_aim {
    double allowed; /* share of misses; above 0 and below 1 */
    double most;    /* log of a load; the crossing is not above; or INFINITY */
    double confidence;
};

/* At least one point. */
void fit_make(struct fit_point *points, size_t n, const struct fit_aim *aim,
              struct fit *out);

/* The share that the line has at the log of a load. */
double fit_share(const struct fit *f, double x);

/* The variance of the crossing after another n requests at the log of a load,
 * as far as the line is right. */
double fit_variance_with(const struct fit *f, double x, double n);

#endif
