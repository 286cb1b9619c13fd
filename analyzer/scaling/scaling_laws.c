#include "analyzer/scaling/scaling_laws.h"

#include <math.h>

#include "analyzer/scaling/least_squares.h"
#include "analyzer/scaling/scaling_point.h"
#include "common/stats/stats.h"

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

/* ---- the curves on logarithms; the first parameter is that of T(1) ---- */

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

/* A fit of so many parameters from this start; false: none. */
static bool fit(struct lm *f, const struct law_data *d, double *logs)
{
    for (size_t i = 0; i < d->n; i++)
        logs[i] = log(d->speedup[i]);
    f->x = d->k;
    f->y = logs;
    f->n = d->n;
    return d->n <= LAWS_MAX_POINTS && lm_fit(f);
}

/* How far to either side, for an estimate whose squared error is `factor`
 * times that of a point; NAN: nobody knows. */
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

/* ---- one serial fraction ---- */

struct serial_kind {
    double (*at)(double serial, double k);
    double (*curve)(double k, const double *p);
    /* What is regressed on 1 - 1/K is loss - rest: a point moves it by so
     * much a share of its time. */
    double (*moves)(double k, double speedup);
    double (*rest)(double k);
};

static double inverse_speedup(double k, double speedup)
{
    (void)k;
    return 1 / speedup;
}

static double inverse_k(double k)
{
    return 1 / k;
}

static double efficiency(double k, double speedup)
{
    return speedup / k;
}

static double one(double k)
{
    (void)k;
    return 1;
}

static const struct serial_kind amdahl = {amdahl_at, usl_curve, inverse_speedup,
                                          inverse_k};
static const struct serial_kind gustafson = {gustafson_at, gustafson_curve,
                                             efficiency, one};

static double residual(const struct law_data *d,
                       double (*at)(const void *law, double k), const void *law)
{
    double sum = 0;

    for (size_t i = 1; i < d->n; i++) {
        double off = d->speedup[i] / at(law, d->k[i]) - 1;

        sum += off * off;
    }
    return sqrt(sum / (double)(d->n - 1));
}

struct serial_guess {
    const struct serial_kind *kind;
    double serial;
};

static double guess_at(const void *law, double k)
{
    const struct serial_guess *g = law;

    return g->kind->at(g->serial, k);
}

/* Both terms of the loss of a point: T(K) itself, and T(1), which all share. */
static double error_factor(const struct law_data *d,
                           const struct serial_kind *kind, double xx)
{
    double own = 0;
    double shared = 0;

    for (size_t i = 1; i < d->n; i++) {
        double by = (1 - 1 / d->k[i]) * kind->moves(d->k[i], d->speedup[i]);

        own += by * by;
        shared += by;
    }
    return (own + shared * shared) / (xx * xx);
}

static struct serial_law serial_fit(const struct law_data *d,
                                    const struct serial_kind *kind)
{
    struct lm f = {.curve = kind->curve, .parameters = 2};
    double logs[LAWS_MAX_POINTS];
    struct serial_law law = {.ceiling = INFINITY, .half_k = INFINITY};
    struct serial_guess guess = {.kind = kind};
    double sign = kind == &amdahl ? 1 : -1;
    double half = NAN;
    double xx = 0;
    double xy = 0;

    if (d->n < 2)
        return law;
    for (size_t i = 1; i < d->n; i++) {
        double x = 1 - 1 / d->k[i];
        double loss =
            sign * (kind->moves(d->k[i], d->speedup[i]) - kind->rest(d->k[i]));

        xx += x * x;
        xy += x * loss;
    }
    guess.serial = xy / xx;
    f.p[1] = guess.serial;
    if (fit(&f, d, logs))
        half = reach(&f, d, error_factor(d, kind, xx));
    law.is_fitted = true;
    law.serial = around(guess.serial, half);
    law.residual = residual(d, guess_at, &guess);
    return law;
}

struct serial_law law_amdahl(const struct law_data *d)
{
    struct serial_law law = serial_fit(d, &amdahl);

    if (law.is_fitted && law.serial.value > 0) {
        law.ceiling = 1 / law.serial.value;
        law.half_k = 1 + 1 / law.serial.value;
    }
    return law;
}

struct serial_law law_gustafson(const struct law_data *d)
{
    return serial_fit(d, &gustafson);
}

/* ---- the Universal Scalability Law ---- */

/* Least squares of K/S on 1, K - 1 and K (K - 1); all zero if that fails. */
static void linearised(const struct law_data *d, double *p)
{
    double a[LM_PARAMETERS][LM_PARAMETERS] = {{0}};
    double b[LM_PARAMETERS] = {0};
    double c[LM_PARAMETERS];

    for (size_t i = 0; i < d->n; i++) {
        double k = d->k[i];
        double row[LM_PARAMETERS] = {1, k - 1, k * (k - 1)};

        for (size_t r = 0; r < LM_PARAMETERS; r++) {
            b[r] += row[r] * k / d->speedup[i];
            for (size_t s = 0; s < LM_PARAMETERS; s++)
                a[r][s] += row[r] * row[s];
        }
    }
    if (!lm_solve(a, b, LM_PARAMETERS, c) || !(c[0] > 0))
        return;
    p[0] = -log(c[0]);
    p[1] = c[1] / c[0];
    p[2] = c[2] / c[0];
}

static double usl_model(const void *law, double k)
{
    return usl_at(law, k);
}

/* By the delta method on its logarithm.  Open above where beta may be 0. */
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

/* The last parameter cannot be told from 0, or seems below it: nobody gains by
 * talking, so that it is 0, and at most what the free fit allows. */
static bool usl_without_beta(struct usl *u, struct lm *f,
                             const struct law_data *d, double *logs)
{
    double most = f->p[2] + reach(f, d, f->inverse[2][2]);

    u->beta = (struct uncertain){.range = {0, fmax(0, most)},
                                 .has_range = !isnan(most)};
    *f = (struct lm){.curve = usl_curve, .parameters = 2};
    return fit(f, d, logs);
}

struct usl law_usl(const struct law_data *d)
{
    struct lm f = {.curve = usl_curve, .parameters = 3};
    double logs[LAWS_MAX_POINTS];
    struct usl u = {.is_hint = d->n < USL_TRUSTED};

    if (d->n < USL_LEAST)
        return u;
    linearised(d, f.p);
    if (!fit(&f, d, logs))
        return u;
    u.beta = around(f.p[2], reach(&f, d, f.inverse[2][2]));
    if (u.beta.value < 0 && !usl_without_beta(&u, &f, d, logs))
        return u;
    u.is_fitted = true;
    u.scale = exp(f.p[0]);
    u.alpha = around(f.p[1], reach(&f, d, f.inverse[1][1]));
    u.peak_k = peak(&u, &f, d);
    u.residual = residual(d, usl_model, &u);
    return u;
}
