/* comm_fit.h - what communication costs: an alpha-beta model (latency and
 * bandwidth), fitted to times at several K.  Pure.
 *
 *   one job          T(K) = serial + parallel / K + C(K)
 *   K times the job  T(K) = serial + C(K)       serial: all of T(1)
 *                    C(K) = alpha log2(K) + beta (K - 1)
 *
 * alpha is the latency of one level of a tree, of which K workers have log2(K).
 * beta is the time that each further worker adds on the busiest link, as in an
 * all-gather, at a parameter server, or by the steps of a ring.  The four terms
 * have different shapes, so times alone can tell them apart.  What they cannot
 * tell apart from computation is communication that hardly depends on K, such
 * as the bandwidth term 2 (K - 1) / K of a ring all-reduce: it has the shape of
 * a serial part.  Measured communication times, if there are any, are fitted on
 * their own, and no such part is lost then.
 *
 * No parameter is negative.  The fit minimises relative errors, since times
 * scatter in proportion to their size.
 */
#ifndef ANALYZER_SCALING_COMM_FIT_H
#define ANALYZER_SCALING_COMM_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/stats/trial_stats.h"

enum comm_term { COMM_SERIAL, COMM_PARALLEL, COMM_ALPHA, COMM_BETA };

#define COMM_TERMS 4

/* Points needed: one more than there are parameters. */
#define COMM_MIN_STRONG   5
#define COMM_MIN_WEAK     4
#define COMM_MIN_MEASURED 3 /* above K = 1, with a communication time */

/* Relative residual above which the times do not follow the model. */
#define COMM_MAX_RESIDUAL 0.05

/* Each K once, from 1. */
struct comm_data {
    const double *k;
    const double *seconds;
    const double *comm_s; /* measured part of `seconds`; NAN: unknown */
    size_t n;
    bool is_weak;
    double error2;    /* mean square of the relative errors of the times, from
                         repeats; NAN: unknown */
    double freedom;   /* its degrees of freedom */
    double threshold; /* for the efficiency */
};

struct comm_fit {
    bool is_fitted;
    bool is_measured; /* by communication times of the input */
    struct uncertain term_s[COMM_TERMS];
    double residual; /* root mean square of measured / model - 1, of the times,
                        or of the communication times if they are measured */

    /* K, not whole; INFINITY: never. */
    double bend_k;           /* efficiency falls below BEND_VISIBLE */
    double threshold_k;      /* efficiency falls below the threshold */
    struct uncertain peak_k; /* more workers stop helping.  Its range may be
                                open */
};

/* Not fitted if there are too few points. */
struct comm_fit comm_fit(const struct comm_data *d);

/* What the model predicts at K. */
double comm_seconds_at(const struct comm_fit *f, double k);
double comm_computation_at(const struct comm_fit *f, double k);

#endif
