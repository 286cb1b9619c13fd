/* capacity_fit.h - the load at which the share of misses crosses the allowed
 * share: one regression over all probes of a term.  Pure.
 *
 * The log odds of a miss are a straight line over the load, with unknown slope
 * and crossing.  This is exact for the waiting time of a queue near saturation.
 * The same theory gives the relaxation time of the queue, how the share grows
 * from an empty queue, and the size of the clusters in which misses come:
 *
 *     relaxation time  4 limit slope / ln(1 / allowed)^2
 *     inflation        about rate * relaxation time
 *
 * Misses come in clusters, which a long queue causes: the likelihood is that of
 * a compound Poisson count.  It is summed up on a grid of crossings, slopes and
 * sizes of clusters, so nothing has to converge, and a cliff from no misses to
 * all is handled like a slope.
 * docs/search.md
 */
#ifndef ANALYZER_SEARCH_CAPACITY_FIT_H
#define ANALYZER_SEARCH_CAPACITY_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/stats/stats.h"

struct fit_point {
    double load;
    double n;
    double misses;
    double warmup_s;
    double window_s;
    const struct batch *slices; /* borrowed; of equal length */
    size_t n_slices;

    /* of fit_make(): */
    double weight;   /* by the distance from the estimate */
    double exposure; /* requests that could have missed, see fit_grown() */
    bool is_capped;  /* with more misses than matter */
};

struct fit_aim {
    double allowed;  /* share of misses; above 0 and below 1 */
    double max;      /* upper bound of the crossing; or INFINITY */
    double limit_s;  /* of the latency; 0: the term is not about a queue */
    double answer_s; /* typical time in flight; 0: unknown */
    double confidence;
};

struct fit {
    double load; /* at the crossing */
    struct interval ci;
    double slope;     /* of the log odds over the log of the load, there */
    double relax_s;   /* relaxation time there; 0: unknown */
    double inflation; /* of the variance of the number of misses there */
};

/* The share of misses in a window, as a part of the stationary one, if the
 * queue was empty before the warm-up. */
double fit_grown(double allowed, double relax_s, double warmup_s,
                 double window_s);

/* Needs at least one point. */
void fit_make(struct fit_point *points, size_t n, const struct fit_aim *aim,
              struct fit *out);

#endif
