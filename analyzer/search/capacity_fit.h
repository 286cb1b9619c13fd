/* capacity_fit.h - the load at which the share of misses crosses the allowed
 * share: one regression over all probes of a term.  Pure.
 *
 * The log odds of a miss are modelled as a straight line over the log of the
 * load, with unknown slope and crossing.  Misses come in clusters, since a long
 * queue causes many at once.  So their variance is that of a compound Poisson
 * count, phi p^1.5 / n instead of p / n, with phi from the scatter of time
 * slices and of whole probes around the line.  The likelihood of each pair of
 * crossing and slope is summed up on a grid.  So nothing has to converge, and a
 * cliff from no misses to all is handled like a slope.
 */
#ifndef ANALYZER_SEARCH_CAPACITY_FIT_H
#define ANALYZER_SEARCH_CAPACITY_FIT_H

#include <stddef.h>

#include "common/stats/stats.h"

struct fit_point {
    double x; /* log of the load */
    double n;
    double misses;
    const struct batch *slices; /* borrowed */
    size_t n_slices;
    double weight; /* for fit_make(): by its distance */
};

struct fit {
    double x;           /* log of the load at the crossing */
    struct interval ci; /* of x */
    double slope;       /* of the log odds over the log of the load, there */
    double phi;
    double allowed;
    double floor; /* share of misses at any load */

    /* Sums of weight, weight u and weight u^2 over the points; u is the
     * distance from the crossing. */
    double s0;
    double s1;
    double s2;
};

struct fit_aim {
    double allowed; /* share of misses; above 0 and below 1 */
    double max; /* upper bound of the crossing, log of a load; or INFINITY */
    double confidence;
};

/* Needs at least one point. */
void fit_make(struct fit_point *points, size_t n, const struct fit_aim *aim,
              struct fit *out);

/* The variance of the crossing after another n requests at the log of a load,
 * assuming that the line is right. */
double fit_variance_with(const struct fit *f, double x, double n);

#endif
