#include "analyzer/scaling/scaling_laws.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "analyzer/scaling/scaling_point.h"
#include "common/stats/stats.h"

/* ---- least squares by Levenberg-Marquardt ---- */

#define LM_PARAMETERS LAWS_UNKNOWNS
#define MAX_STEPS     200
#define ENOUGH        1e-12 /* relative step size at which to stop */

/* A curve with a few parameters; for a handful of points. */
struct lm {
    double (*curve)(double x, const double *p); /* NAN: not defined at x */
    const double *x;
    const double *y;
    size_t n;
    size_t parameters;       /* number of free ones; the others are fixed */
    double p[LM_PARAMETERS]; /* in: the start; out: the fit */

    double squares; /* sum of the squared residuals of the fit */
    /* Inverse of the curvature; times the variance of a point it is the
     * covariance of the parameters. */
    double inverse[LM_PARAMETERS][LM_PARAMETERS];
};

/* Subtract row c from every other one to make its column zero there. */
static void eliminate(double m[LM_PARAMETERS][LM_PARAMETERS + 1], size_t n,
                      size_t c)
{
    for (size_t r = 0; r < n; r++) {
        double by = m[r][c] / m[c][c];

        for (size_t i = c; r != c && i <= n; i++)
            m[r][i] -= by * m[c][i];
    }
}

bool laws_solve(double a[LAWS_UNKNOWNS][LAWS_UNKNOWNS], const double *b,
                size_t n, double *x)
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
        for (size_t i = 0; i <= n; i++) {
            double keep = m[c][i];

            m[c][i] = m[best][i];
            m[best][i] = keep;
        }
        eliminate(m, n, c);
    }
    for (size_t i = 0; i < n; i++)
        x[i] = m[i][n] / m[i][i];
    return true;
}

/* INFINITY where the curve is not defined. */
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

/* Curvature J'J and descent J'r at the current parameters. */
static void linearise(const struct lm *f,
                      double a[LM_PARAMETERS][LM_PARAMETERS], double *g)
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

/* One step with this damping: 1 taken, 0 refused, -1 singular.  *size is its
 * relative length. */
static int step(struct lm *f, double damping, double *size)
{
    double a[LM_PARAMETERS][LM_PARAMETERS];
    double g[LM_PARAMETERS];
    double by[LM_PARAMETERS] = {0};
    double p[LM_PARAMETERS];
    double squares;

    linearise(f, a, g);
    for (size_t c = 0; c < f->parameters; c++)
        a[c][c] *= 1 + damping;
    if (!laws_solve(a, g, f->parameters, by))
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

    linearise(f, a, g);
    for (size_t c = 0; c < f->parameters; c++) {
        double unit[LM_PARAMETERS] = {0};
        double column[LM_PARAMETERS];

        unit[c] = 1;
        if (!laws_solve(a, unit, f->parameters, column))
            return false;
        for (size_t r = 0; r < f->parameters; r++)
            f->inverse[r][c] = column[r];
    }
    return true;
}

/* false: the points do not determine the parameters. */
static bool lm_fit(struct lm *f)
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

/* ---- the laws ---- */

double amdahl_at(double serial, double k)
{
    return 1 / (serial + (1 - serial) / k);
}

double gustafson_at(double serial, double k)
{
    return k - serial * (k - 1);
}

double usl_at(const struct usl *u, double k)
{
    return u->scale * k /
           (1 + u->alpha.value * (k - 1) + u->beta.value * k * (k - 1));
}

/* The curves on logarithms; the first parameter is that of T(1). */

static double log_or_nan(double x)
{
    return x > 0 ? log(x) : NAN;
}

static double usl_curve(double k, const double *p)
{
    return p[0] + log(k) - log_or_nan(1 + p[1] * (k - 1) + p[2] * k * (k - 1));
}

static double gustafson_curve(double k, const double *p)
{
    return p[0] + log_or_nan(gustafson_at(p[1], k));
}

/* false: no fit. */
static bool fit(struct lm *f, const struct law_data *d, double *logs)
{
    for (size_t i = 0; i < d->n; i++)
        logs[i] = log(d->speedup[i]);
    f->x = d->k;
    f->y = logs;
    f->n = d->n;
    return d->n <= LAWS_MAX_POINTS && lm_fit(f);
}

/* Half-width of the interval for an estimate whose squared error is `factor`
 * times that of a point; NAN: unknown. */
static double reach(const struct lm *f, const struct law_data *d, double factor)
{
    double freedom = (double)f->n - (double)f->parameters;
    double by_fit = NAN;
    double by_repeats = NAN;

    if (freedom > 0)
        by_fit = student_reach(SCALE_CONFIDENCE, freedom) *
                 sqrt(factor * f->squares / freedom);
    if (!isnan(d->error2) && d->freedom > 0)
        by_repeats = student_reach(SCALE_CONFIDENCE, d->freedom) *
                     sqrt(factor * d->error2);
    return fmax(by_fit, by_repeats);
}

static struct uncertain around(double value, double half)
{
    return (struct uncertain){.value = value,
                              .range = {value - half, value + half},
                              .has_range = !isnan(half)};
}

/* Root mean square of measured / predicted - 1, without the baseline. */
static double residual(const struct law_data *d, const double *predicted)
{
    double sum = 0;

    for (size_t i = 1; i < d->n; i++) {
        double off = d->speedup[i] / predicted[i] - 1;

        sum += off * off;
    }
    return sqrt(sum / (double)(d->n - 1));
}

/* ---- one serial fraction ---- */

static struct serial_law serial_fit(const struct law_data *d, bool is_weak)
{
    struct lm f = {.curve = is_weak ? gustafson_curve : usl_curve,
                   .parameters = 2};
    struct serial_law law = {.ceiling = INFINITY, .half_k = INFINITY};
    double values[LAWS_MAX_POINTS];
    double xx = 0, xy = 0;
    double own = 0, shared = 0; /* errors of T(K), and of T(1) */
    double half = NAN;
    double serial;

    if (d->n < 2 || d->n > LAWS_MAX_POINTS)
        return law;
    for (size_t i = 1; i < d->n; i++) {
        double k = d->k[i];
        double x = 1 - 1 / k;
        /* What a relative error of a time changes. */
        double moves = is_weak ? d->speedup[i] / k : 1 / d->speedup[i];
        double loss = is_weak ? 1 - moves : moves - 1 / k;

        xx += x * x;
        xy += x * loss;
        own += x * moves * (x * moves);
        shared += x * moves;
    }
    serial = xy / xx;
    f.p[1] = serial;
    if (fit(&f, d, values))
        half = reach(&f, d, (own + shared * shared) / (xx * xx));
    for (size_t i = 0; i < d->n; i++)
        values[i] = (is_weak ? gustafson_at : amdahl_at)(serial, d->k[i]);
    law.is_fitted = true;
    law.serial = around(serial, half);
    law.residual = residual(d, values);
    return law;
}

struct serial_law law_amdahl(const struct law_data *d)
{
    struct serial_law law = serial_fit(d, false);

    if (law.is_fitted && law.serial.value > 0) {
        law.ceiling = 1 / law.serial.value;
        law.half_k = 1 + 1 / law.serial.value;
    }
    return law;
}

struct serial_law law_gustafson(const struct law_data *d)
{
    return serial_fit(d, true);
}

/* ---- the Universal Scalability Law ---- */

#define USL_PARAMETERS 3

/* Least squares of K/S on 1, K - 1 and K (K - 1); all zero if that fails. */
static void linearised(const struct law_data *d, double *p)
{
    double a[LM_PARAMETERS][LM_PARAMETERS] = {{0}};
    double b[LM_PARAMETERS] = {0};
    double c[LM_PARAMETERS];

    for (size_t i = 0; i < d->n; i++) {
        double k = d->k[i];
        double row[USL_PARAMETERS] = {1, k - 1, k * (k - 1)};

        for (size_t r = 0; r < USL_PARAMETERS; r++) {
            b[r] += row[r] * k / d->speedup[i];
            for (size_t s = 0; s < USL_PARAMETERS; s++)
                a[r][s] += row[r] * row[s];
        }
    }
    if (!laws_solve(a, b, USL_PARAMETERS, c) || !(c[0] > 0))
        return;
    p[0] = -log(c[0]);
    p[1] = c[1] / c[0];
    p[2] = c[2] / c[0];
}

/* By the delta method on its logarithm.  Open above if beta may be 0. */
static struct uncertain peak(const struct usl *u, const struct lm *f,
                             const struct law_data *d)
{
    double rest = 1 - u->alpha.value;
    double value = sqrt(rest / u->beta.value);
    double by_a = -0.5 / rest;
    double by_b = -0.5 / u->beta.value;
    double factor = by_a * by_a * f->inverse[1][1] +
                    2 * by_a * by_b * f->inverse[1][2] +
                    by_b * by_b * f->inverse[2][2];
    double half;

    if (!(u->beta.value > 0) || !(rest > 0))
        return (struct uncertain){.value = INFINITY};
    half = reach(f, d, factor);
    return (struct uncertain){
        .value = value,
        .range = {value * exp(-half),
                  u->beta.range.low > 0 ? value * exp(half) : INFINITY},
        .has_range = !isnan(half),
    };
}

struct usl law_usl(const struct law_data *d)
{
    struct lm f = {.curve = usl_curve, .parameters = USL_PARAMETERS};
    double values[LAWS_MAX_POINTS];
    struct usl u = {.is_hint = d->n < USL_TRUSTED};

    if (d->n < USL_MIN)
        return u;
    linearised(d, f.p);
    if (!fit(&f, d, values))
        return u;
    u.beta = around(f.p[2], reach(&f, d, f.inverse[2][2]));
    if (u.beta.value < 0) {
        /* Communication cannot make workers faster: beta is 0, with the upper
         * bound of the free fit. */
        u.beta.value = 0;
        u.beta.range = (struct interval){0, fmax(0, u.beta.range.high)};
        f = (struct lm){.curve = usl_curve, .parameters = 2};
        if (!fit(&f, d, values))
            return u;
    }
    u.is_fitted = true;
    u.scale = exp(f.p[0]);
    u.alpha = around(f.p[1], reach(&f, d, f.inverse[1][1]));
    u.peak_k = peak(&u, &f, d);
    for (size_t i = 0; i < d->n; i++)
        values[i] = usl_at(&u, d->k[i]);
    u.residual = residual(d, values);
    return u;
}
