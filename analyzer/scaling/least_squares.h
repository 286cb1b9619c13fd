/* least_squares.h - least squares of a curve with a few parameters by Levenberg
 * and Marquardt.  Pure.  For a handful of points, not for a hot path. */
#ifndef ANALYZER_SCALING_LEAST_SQUARES_H
#define ANALYZER_SCALING_LEAST_SQUARES_H

#include <stdbool.h>
#include <stddef.h>

#define LM_PARAMETERS 3

struct lm {
    /* The curve at x; NAN where it is not defined, which no fit enters. */
    double (*curve)(double x, const double *p);
    const double *x;
    const double *y;
    size_t n;
    size_t parameters; /* at most LM_PARAMETERS; the others stay as they are */
    double p[LM_PARAMETERS]; /* the start in, the fit out */

    /* Of the fit: */
    double squares; /* sum of its residuals' */
    /* Inverse of the curvature: times the variance of a point it is the
     * covariance of the parameters. */
    double inverse[LM_PARAMETERS][LM_PARAMETERS];
};

/* false: the points do not determine the parameters. */
bool lm_fit(struct lm *fit);

/* Solve a x = b for up to LM_PARAMETERS unknowns; false: singular. */
bool lm_solve(double a[LM_PARAMETERS][LM_PARAMETERS], const double *b, size_t n,
              double *x);

#endif
