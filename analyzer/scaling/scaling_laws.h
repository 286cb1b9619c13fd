/* scaling_laws.h - the laws of scaling, fitted to measured speedups.  Pure.
 *
 *   Amdahl     S(K) = 1 / (s + (1 - s) / K)                  one job
 *   Gustafson  S(K) = K - s (K - 1)                          K times the job
 *   USL        S(K) = l K / (1 + a (K - 1) + b K (K - 1))    either
 *
 * The serial fraction of the first two is the closed least squares through the
 * origin: of 1/S - 1/K, or of 1 - S/K, on 1 - 1/K.  The Universal Scalability
 * Law is linearised for a start (K/S on 1, K - 1, K (K - 1)) and refined by
 * Levenberg and Marquardt on logarithms, since times scatter by shares.
 *
 * Every speedup has the same denominator, so that an error of T(1) is in all of
 * them.  Intervals allow for that: the scatter is that about a fit whose T(1)
 * is free, or that of the repeats where that is wider.
 */
#ifndef ANALYZER_SCALING_SCALING_LAWS_H
#define ANALYZER_SCALING_SCALING_LAWS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/stats/trial_stats.h"

#define LAWS_MAX_POINTS 256
#define USL_LEAST       4 /* points of a fit ... */
#define USL_TRUSTED     6 /* ... that is more than a hint */

/* The first is the baseline: K and speedup 1. */
struct law_data {
    const double *k;
    const double *speedup;
    size_t n;
    double error2;  /* mean square of the relative errors of the times, from
                       repeats; NAN: not known */
    double freedom; /* degrees of it */
};

struct serial_law {
    bool is_fitted;
    struct uncertain serial;
    double ceiling;  /* 1 / serial; INFINITY: none.  Amdahl's alone */
    double half_k;   /* where its efficiency is 0.5; likewise */
    double residual; /* root mean square of measured / law - 1 */
};

struct usl {
    bool is_fitted;
    bool is_hint;            /* fewer points than USL_TRUSTED */
    double scale;            /* l: near 1 */
    struct uncertain alpha;  /* contention */
    struct uncertain beta;   /* coherency: what talking to each other takes */
    struct uncertain peak_k; /* INFINITY: it has none.  Its range may be open */
    double residual;
};

struct serial_law law_amdahl(const struct law_data *d);
struct serial_law law_gustafson(const struct law_data *d);
struct usl law_usl(const struct law_data *d);

/* The speedup that a law gives. */
double amdahl_at(double serial, double k);
double gustafson_at(double serial, double k);
double usl_at(const struct usl *u, double k);

#endif
