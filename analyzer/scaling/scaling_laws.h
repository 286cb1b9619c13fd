/* scaling_laws.h - the laws of scaling, fitted to measured speedups.  Pure.
 *
 *   Amdahl     S(K) = 1 / (s + (1 - s) / K)                  one job
 *   Gustafson  S(K) = K - s (K - 1)                          K times the job
 *   USL        S(K) = l K / (1 + a (K - 1) + b K (K - 1))    either
 *
 * The serial fraction of the first two follows from closed-form least squares
 * through the origin: 1/S - 1/K, or 1 - S/K, on 1 - 1/K.  The Universal
 * Scalability Law is linearised for a start (K/S on 1, K - 1, K (K - 1)) and
 * refined by Levenberg-Marquardt on logarithms, since times scatter in
 * proportion to their size.
 *
 * Every speedup has the same T(1), so its error affects all of them.  Intervals
 * allow for that: they use the scatter around a fit with T(1) free, or that of
 * the repeats if it is wider.
 */
#ifndef ANALYZER_SCALING_SCALING_LAWS_H
#define ANALYZER_SCALING_SCALING_LAWS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/stats/trial_stats.h"

#define LAWS_MAX_POINTS 256
#define USL_MIN         4 /* points needed for a fit */
#define USL_TRUSTED     6 /* points from which on it is more than a hint */

/* The first point is the baseline: K and speedup are 1. */
struct law_data {
    const double *k;
    const double *speedup;
    size_t n;
    double error2;  /* mean square of the relative errors of the times, from
                       repeats; NAN: unknown */
    double freedom; /* its degrees of freedom */
};

struct serial_law {
    bool is_fitted;
    struct uncertain serial;
    double ceiling;  /* Amdahl only: 1 / serial; INFINITY: none */
    double half_k;   /* Amdahl only: K at which efficiency is 0.5 */
    double residual; /* root mean square of measured / law - 1 */
};

struct usl {
    bool is_fitted;
    bool is_hint;            /* fewer points than USL_TRUSTED */
    double scale;            /* l, near 1 */
    struct uncertain alpha;  /* contention */
    struct uncertain beta;   /* coherency: the cost of communication */
    struct uncertain peak_k; /* INFINITY: no peak.  Its range may be open */
    double residual;
};

struct serial_law law_amdahl(const struct law_data *d);
struct serial_law law_gustafson(const struct law_data *d);
struct usl law_usl(const struct law_data *d);

/* The speedup predicted by a law. */
double amdahl_at(double serial, double k);
double gustafson_at(double serial, double k);
double usl_at(const struct usl *u, double k);

/* Maximum number of parameters of a fit. */
#define LAWS_UNKNOWNS 4

/* Solve a x = b for n unknowns by Gauss-Jordan elimination; false: singular. */
bool laws_solve(double a[LAWS_UNKNOWNS][LAWS_UNKNOWNS], const double *b,
                size_t n, double *x);

#endif
