#include "analyzer/scaling/least_squares.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MAX_STEPS 200
#define ENOUGH    1e-12 /* relative step that ends it */

static void swap_rows(double *a, double *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double keep = a[i];

        a[i] = b[i];
        b[i] = keep;
    }
}

/* Subtract from every other row what makes its column zero. */
static void eliminate(double m[LM_PARAMETERS][LM_PARAMETERS + 1], size_t n,
                      size_t column)
{
    for (size_t row = 0; row < n; row++) {
        double by = m[row][column] / m[column][column];

        for (size_t i = column; row != column && i <= n; i++)
            m[row][i] -= by * m[column][i];
    }
}

bool lm_solve(double a[LM_PARAMETERS][LM_PARAMETERS], const double *b, size_t n,
              double *x)
{
    double m[LM_PARAMETERS][LM_PARAMETERS + 1];

    for (size_t i = 0; i < n; i++) {
        memcpy(m[i], a[i], n * sizeof(m[i][0]));
        m[i][n] = b[i];
    }
    for (size_t c = 0; c < n; c++) {
        size_t best = c;

        for (size_t r = c + 1; r < n; r++)
            best = fabs(m[r][c]) > fabs(m[best][c]) ? r : best;
        if (!(fabs(m[best][c]) > DBL_MIN))
            return false;
        swap_rows(m[c], m[best], n + 1);
        eliminate(m, n, c);
    }
    for (size_t i = 0; i < n; i++)
        x[i] = m[i][n] / m[i][i];
    return true;
}

/* INFINITY outside of where the curve is defined. */
static double squares_at(const struct lm *f, const double *p)
{
    double sum = 0;

    for (size_t i = 0; i < f->n; i++) {
        double off = f->y[i] - f->curve(f->x[i], p);

        sum += off * off;
    }
    return isnan(sum) ? INFINITY : sum;
}

/* By central differences. */
static double slope(const struct lm *f, size_t i, size_t of)
{
    double p[LM_PARAMETERS];
    double step = 1e-6 * fmax(1e-3, fabs(f->p[of]));
    double above, below;

    memcpy(p, f->p, sizeof(p));
    p[of] = f->p[of] + step;
    above = f->curve(f->x[i], p);
    p[of] = f->p[of] - step;
    below = f->curve(f->x[i], p);
    return (above - below) / (2 * step);
}

/* Curvature J'J and descent J'r where the fit stands. */
static void look(const struct lm *f, double a[LM_PARAMETERS][LM_PARAMETERS],
                 double *g)
{
    memset(a, 0, sizeof(double[LM_PARAMETERS][LM_PARAMETERS]));
    memset(g, 0, sizeof(double[LM_PARAMETERS]));
    for (size_t i = 0; i < f->n; i++) {
        double off = f->y[i] - f->curve(f->x[i], f->p);
        double j[LM_PARAMETERS];

        for (size_t c = 0; c < f->parameters; c++)
            j[c] = slope(f, i, c);
        for (size_t c = 0; c < f->parameters; c++) {
            g[c] += j[c] * off;
            for (size_t r = 0; r < f->parameters; r++)
                a[c][r] += j[c] * j[r];
        }
    }
}

/* One step with this damping; 1 taken, 0 refused, -1 singular.  *size: how far
 * it went, relative to where it stands. */
static int step(struct lm *f, double damping, double *size)
{
    double a[LM_PARAMETERS][LM_PARAMETERS];
    double g[LM_PARAMETERS];
    double by[LM_PARAMETERS] = {0};
    double p[LM_PARAMETERS];
    double squares;

    look(f, a, g);
    for (size_t c = 0; c < f->parameters; c++)
        a[c][c] *= 1 + damping;
    if (!lm_solve(a, g, f->parameters, by))
        return -1;
    memcpy(p, f->p, sizeof(p));
    *size = 0;
    for (size_t c = 0; c < f->parameters; c++) {
        p[c] += by[c];
        *size = fmax(*size, fabs(by[c]) / fmax(1e-3, fabs(p[c])));
    }
    squares = squares_at(f, p);
    if (!(squares <= f->squares))
        return 0;
    memcpy(f->p, p, sizeof(p));
    f->squares = squares;
    return 1;
}

static bool invert(struct lm *f)
{
    double a[LM_PARAMETERS][LM_PARAMETERS];
    double g[LM_PARAMETERS];

    look(f, a, g);
    for (size_t c = 0; c < f->parameters; c++) {
        double unit[LM_PARAMETERS] = {0};
        double column[LM_PARAMETERS];

        unit[c] = 1;
        if (!lm_solve(a, unit, f->parameters, column))
            return false;
        for (size_t r = 0; r < f->parameters; r++)
            f->inverse[r][c] = column[r];
    }
    return true;
}

bool lm_fit(struct lm *f)
{
    double damping = 1e-3;

    memset(f->inverse, 0, sizeof(f->inverse));
    f->squares = squares_at(f, f->p);
    if (f->n < f->parameters || isinf(f->squares))
        return false;
    for (int i = 0; i < MAX_STEPS && damping < 1e12; i++) {
        double size;
        int taken = step(f, damping, &size);

        if (taken < 0)
            return false;
        if (size < ENOUGH)
            break;
        damping *= taken ? 0.1 : 10;
    }
    return invert(f);
}
