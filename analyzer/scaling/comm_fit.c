#include "analyzer/scaling/comm_fit.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/scaling/bend.h"
#include "analyzer/scaling/scaling_laws.h"
#include "analyzer/scaling/scaling_point.h"
#include "common/base/xalloc.h"
#include "common/stats/stats.h"

#define BIT(term)     (1U << (term))
#define COMMUNICATION (BIT(COMM_ALPHA) | BIT(COMM_BETA))

/* Beyond this, a prediction is as good as never. */
#define MAX_K 1e9

static double shape(int term, double k)
{
    switch (term) {
    case COMM_SERIAL:
        return 1;
    case COMM_PARALLEL:
        return 1 / k;
    case COMM_ALPHA:
        return log2(k);
    default:
        return k - 1;
    }
}

static double sum_at(const double *p, unsigned terms, double k)
{
    double sum = 0;

    for (int i = 0; i < COMM_TERMS; i++)
        sum += terms & BIT(i) ? p[i] * shape(i, k) : 0;
    return sum;
}

/* ---- least squares without negative parameters ---- */

/* Times, and the terms that they are a sum of. */
struct series {
    const double *k;
    const double *y;
    size_t n;
    unsigned terms;
    double p[COMM_TERMS]; /* the fit; 0 for other terms */
    double squares;       /* of the relative errors */

    /* The half-width of the interval of a sum of g[i] p[i] is the root of the
     * sum of g[i] g[j] half2[i][j]; NAN: unknown. */
    double half2[COMM_TERMS][COMM_TERMS];
};

/* The normal equations of some of the terms, in their order. */
static size_t normal(const struct series *s, unsigned terms,
                     double a[LAWS_UNKNOWNS][LAWS_UNKNOWNS], double *b,
                     int of[COMM_TERMS])
{
    size_t m = 0;

    for (int t = 0; t < COMM_TERMS; t++) {
        if (terms & BIT(t))
            of[m++] = t;
    }
    for (size_t r = 0; r < m; r++) {
        b[r] = 0;
        for (size_t c = 0; c < m; c++)
            a[r][c] = 0;
        for (size_t i = 0; i < s->n; i++) {
            double x = shape(of[r], s->k[i]) / s->y[i];

            b[r] += x;
            for (size_t c = 0; c < m; c++)
                a[r][c] += x * shape(of[c], s->k[i]) / s->y[i];
        }
    }
    return m;
}

/* Keep the fit of these terms if it is allowed and better than the last. */
static void try_terms(struct series *s, unsigned terms)
{
    double a[LAWS_UNKNOWNS][LAWS_UNKNOWNS];
    double b[LAWS_UNKNOWNS];
    double x[LAWS_UNKNOWNS] = {0};
    double p[COMM_TERMS] = {0};
    int of[COMM_TERMS] = {0};
    size_t m = normal(s, terms, a, b, of);
    double squares = 0;

    if (!laws_solve(a, b, m, x))
        return;
    for (size_t i = 0; i < m; i++) {
        if (!(x[i] >= 0))
            return;
        p[of[i]] = x[i];
    }
    for (size_t i = 0; i < s->n; i++) {
        double off = sum_at(p, terms, s->k[i]) / s->y[i] - 1;

        squares += off * off;
    }
    if (!(squares < s->squares))
        return;
    s->squares = squares;
    for (int t = 0; t < COMM_TERMS; t++)
        s->p[t] = p[t];
}

/* With few terms, every choice of those that are not 0 can be tried.  Intervals
 * are those of a fit of all terms, which is never too narrow. */
static bool fit(struct series *s, double error2, double error_freedom)
{
    double a[LAWS_UNKNOWNS][LAWS_UNKNOWNS];
    double b[LAWS_UNKNOWNS];
    int of[COMM_TERMS] = {0};
    size_t m = normal(s, s->terms, a, b, of);
    double freedom = (double)s->n - (double)m;
    double by_fit = NAN;
    double by_repeats = NAN;

    s->squares = INFINITY;
    for (unsigned terms = 1; terms < BIT(COMM_TERMS); terms++) {
        if ((terms & ~s->terms) == 0)
            try_terms(s, terms);
    }
    if (!isfinite(s->squares))
        return false;
    if (freedom > 0)
        by_fit = pow(student_reach(SCALE_CONFIDENCE, freedom), 2) * s->squares /
                 freedom;
    if (!isnan(error2) && error_freedom > 0)
        by_repeats =
            pow(student_reach(SCALE_CONFIDENCE, error_freedom), 2) * error2;
    for (size_t c = 0; c < m; c++) {
        double unit[LAWS_UNKNOWNS] = {0};
        double column[LAWS_UNKNOWNS];

        unit[c] = 1;
        if (!laws_solve(a, unit, m, column))
            return false;
        for (size_t r = 0; r < m; r++)
            s->half2[of[r]][of[c]] = column[r] * fmax(by_fit, by_repeats);
    }
    return true;
}

/* ---- predictions ---- */

static double efficiency_at(const double *p, bool is_weak, double k)
{
    const unsigned all = BIT(COMM_TERMS) - 1;

    return sum_at(p, all, 1) / (sum_at(p, all, k) * (is_weak ? 1 : k));
}

/* The K at which the efficiency, which only falls, reaches a limit. */
static double falls_to(const double *p, bool is_weak, double limit)
{
    double low = 1;
    double high = MAX_K;

    if (efficiency_at(p, is_weak, MAX_K) >= limit)
        return INFINITY;
    while (high > low * (1 + 1e-9)) {
        double k = sqrt(low * high);

        if (efficiency_at(p, is_weak, k) >= limit)
            low = k;
        else
            high = k;
    }
    return low;
}

/* The K with the shortest time: parallel / K^2 = alpha / (K ln 2) + beta. */
static double peak_of(const double *p)
{
    double alpha = p[COMM_ALPHA] / log(2);
    double beta = p[COMM_BETA];
    double work = p[COMM_PARALLEL];

    if (!(alpha > 0) && !(beta > 0))
        return INFINITY;
    return fmax(1, 2 * work / (alpha + sqrt(alpha * alpha + 4 * beta * work)));
}

/* The interval by the delta method, on the logarithm. */
static struct uncertain peak(const double *p,
                             double half2[COMM_TERMS][COMM_TERMS], bool is_open)
{
    struct uncertain u = {.value = peak_of(p)};
    double slope[COMM_TERMS];
    double square = 0;
    double half;

    if (!isfinite(u.value))
        return u;
    for (int i = 0; i < COMM_TERMS; i++) {
        double moved[COMM_TERMS];
        double step = 1e-6 * fmax(p[i], 1e-6 * sum_at(p, ~0U, 1));

        for (int t = 0; t < COMM_TERMS; t++)
            moved[t] = p[t] + (t == i ? step : 0);
        slope[i] = log(peak_of(moved) / u.value) / step;
    }
    for (int i = 0; i < COMM_TERMS; i++) {
        for (int t = 0; t < COMM_TERMS; t++)
            square += slope[i] * slope[t] * half2[i][t];
    }
    half = sqrt(square);
    u.has_range = isfinite(half);
    u.range.low = fmax(1, u.value * exp(-half));
    u.range.high = is_open ? INFINITY : u.value * exp(half);
    return u;
}

double comm_seconds_at(const struct comm_fit *f, double k)
{
    return f->term_s[COMM_ALPHA].value * shape(COMM_ALPHA, k) +
           f->term_s[COMM_BETA].value * shape(COMM_BETA, k);
}

double comm_computation_at(const struct comm_fit *f, double k)
{
    return f->term_s[COMM_SERIAL].value +
           f->term_s[COMM_PARALLEL].value * shape(COMM_PARALLEL, k);
}

/* ---- the fit ---- */

/* Points with a measured communication time go to *comm, with the rest of their
 * time in *rest; the memory holds 3 d->n. */
static void split(const struct comm_data *d, double *memory,
                  struct series *comm, struct series *rest)
{
    double *k = memory;
    double *comm_s = memory + d->n;
    double *rest_s = memory + 2 * d->n;
    size_t n_rest = 0;
    size_t n = 0;

    /* Those above K = 1 first, so that both series can share them. */
    for (int is_one = 0; is_one < 2; is_one++) {
        for (size_t i = 0; i < d->n; i++) {
            double c = d->comm_s ? d->comm_s[i] : NAN;
            double computes = d->seconds[i] - (is_one && isnan(c) ? 0 : c);

            if ((d->k[i] > 1) == (is_one == 1) || !(computes > 0) ||
                (!is_one && !(c > 0)))
                continue;
            k[n_rest] = d->k[i];
            comm_s[n_rest] = c;
            rest_s[n_rest++] = computes;
            n += !is_one;
        }
    }
    *comm =
        (struct series){.k = k, .y = comm_s, .n = n, .terms = COMMUNICATION};
    *rest = (struct series){.k = k,
                            .y = rest_s,
                            .n = n_rest,
                            .terms = BIT(COMM_SERIAL) |
                                     (d->is_weak ? 0 : BIT(COMM_PARALLEL))};
}

/* false: too few points. */
static bool fit_any(const struct comm_data *d, double *memory,
                    struct series *comm, struct series *rest,
                    struct comm_fit *f)
{
    split(d, memory, comm, rest);
    f->is_measured = comm->n >= COMM_MIN_MEASURED;
    if (f->is_measured)
        return fit(comm, NAN, 0) && fit(rest, d->error2, d->freedom);
    if (d->n < (d->is_weak ? COMM_MIN_WEAK : COMM_MIN_STRONG))
        return false;
    *comm = (struct series){.k = d->k,
                            .y = d->seconds,
                            .n = d->n,
                            .terms = rest->terms | COMMUNICATION};
    *rest = (struct series){0};
    return fit(comm, d->error2, d->freedom);
}

struct comm_fit comm_fit(const struct comm_data *d)
{
    double *memory = xcalloc(3 * d->n + 1, sizeof(*memory));
    double half2[COMM_TERMS][COMM_TERMS];
    double p[COMM_TERMS];
    struct series comm;
    struct series rest;
    struct comm_fit f = {0};
    bool is_open = true;

    f.is_fitted = fit_any(d, memory, &comm, &rest, &f);
    for (int i = 0; f.is_fitted && i < COMM_TERMS; i++) {
        double half;

        for (int t = 0; t < COMM_TERMS; t++)
            half2[i][t] = comm.half2[i][t] + rest.half2[i][t];
        p[i] = comm.p[i] + rest.p[i];
        half = sqrt(half2[i][i]);
        f.term_s[i] = (struct uncertain){
            .value = p[i],
            .range = {fmax(0, p[i] - half), p[i] + half},
            .has_range = isfinite(half),
        };
        if ((COMMUNICATION & BIT(i)) && f.term_s[i].range.low > 0)
            is_open = false;
    }
    if (f.is_fitted) {
        f.residual = sqrt(comm.squares / (double)comm.n);
        f.bend_k = falls_to(p, d->is_weak, BEND_VISIBLE);
        f.threshold_k = falls_to(p, d->is_weak, d->threshold);
        f.peak_k = (struct uncertain){.value = INFINITY};
        /* K workers that do K times the job always do more than fewer do. */
        if (!d->is_weak)
            f.peak_k = peak(p, half2, is_open);
    }
    free(memory);
    return f;
}
