#include "analyzer/search/capacity_fit.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyzer/search/search_tuning.h"
#include "common/base/xalloc.h"

/* The grid, first over the whole range, then where the mass is. */
#define CROSSINGS 31
#define SLOPES    15
#define PHIS      9
#define PASSES    3
#define ALL_BUT   1e-3 /* of the mass, at either end */
#define SLOPE_MIN 0.2
#define SLOPE_MAX 2000.0
#define PHI_MIN   0.002 /* as a part of what theory says */
#define PHI_MAX   6.0
#define MARGIN    0.7 /* from the probes to the ends, in the log of the load */

/* Clusters of misses have a gamma distribution of this shape, as the excursions
 * of a queue beyond a high level do: their mean is a quarter of the inflation.
 * Then the variance of a share p in n requests is phi p^POWER / n. */
#define SHAPE (1.0 / 3)
#define POWER 1.75

/* Steps of the table of the log of the series in density(), by the log of z;
 * and its terms. */
#define Z_MIN  (-6.0)
#define Z_STEP 0.25
#define Z_N    42
#define TERMS  80

#define EXPONENT_MAX 40.0
#define SHARE_MIN    1e-12 /* a miss is never impossible */

/* Parts of a window for which the growth from an empty queue is computed, and
 * relaxation times after which it is over. */
#define PARTS 6
#define GROWN 4.0

/* Ranges are of logarithms. */
struct grid {
    struct interval x; /* crossing */
    struct interval s; /* slope */
    struct interval f; /* phi, as a part of what theory says */
    double by_x[CROSSINGS];
    double by_s[SLOPES];
    double by_f[PHIS];
};

/* A point at one slope. */
struct sight {
    double weight;   /* by its distance from the estimate */
    double exposure; /* requests that could have missed, see fit_grown() */
    double misses;
    bool is_capped; /* with more misses than matter */
};

struct model {
    const struct fit_point *points;
    struct sight *sights; /* owned */
    size_t n;
    const struct fit_aim *aim;
    double crossing; /* the estimate so far, and ... */
    double slope;    /* ... of the slope */
    bool is_known;   /* there is one; else all points count the same */
    double floor;    /* share of misses at any load */
    double most;     /* beyond this share the number of misses does not matter:
                        an overloaded server may lose half of them, or all */
    double phi_min;
    double spread; /* scatter between the probes, over what phi says; from 1 */
    double series[Z_N];
};

/* ---- the theory of a queue ---- */

static double log_inverse(double allowed)
{
    return fmax(-log(allowed), 0.3);
}

double fit_relax_s(const struct fit_aim *aim, double slope)
{
    double z = log_inverse(aim->allowed);

    return 4 * aim->limit_s * slope / (z * z);
}

static double normal_below(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

/* Brownian motion with a drift to 0, reflected there, that has started at 0 and
 * has a stationary share of exp(-z) beyond the limit. */
static double grown_at(double z, double relaxations)
{
    double k = 4 * relaxations / (z * z);
    double root = sqrt(2 * k);

    return fmin(1, normal_below((z * k - 1) / root) +
                       exp(z) * normal_below(-(z * k + 1) / root));
}

double fit_grown(double allowed, double relax_s, double warmup_s,
                 double window_s)
{
    double z = log_inverse(allowed);
    double sum = 0;

    if (relax_s <= 0 || warmup_s > GROWN * relax_s)
        return 1;
    for (int i = 0; i < PARTS; i++)
        sum += grown_at(z, (warmup_s + window_s * (i + 0.5) / PARTS) / relax_s);
    return sum / PARTS;
}

/* phi by theory. */
static double phi_at(const struct model *m, double slope)
{
    double inflation =
        m->aim->limit_s > 0 ? search_tuning.cluster_min +
                                  m->crossing * fit_relax_s(m->aim, slope)
                            : search_tuning.cluster_other;

    return inflation * m->phi_min;
}

/* ---- the likelihood ---- */

/* The log of the sum of z^j / (j! gamma(j SHAPE)). */
static void fill_series(struct model *m)
{
    double weight[TERMS], term[TERMS];

    for (int j = 1; j < TERMS; j++)
        weight[j] = -lgamma(j + 1) - lgamma(j * SHAPE);
    for (int i = 0; i < Z_N; i++) {
        double max = -INFINITY;
        double sum = 0;

        for (int j = 1; j < TERMS; j++) {
            term[j] = j * (Z_MIN + Z_STEP * i) + weight[j];
            max = fmax(max, term[j]);
        }
        for (int j = 1; j < TERMS; j++)
            sum += exp(term[j] - max);
        m->series[i] = max + log(sum);
    }
}

/* The log density of a compound Poisson count, as far as it does not depend on
 * the mean; for many clusters by the saddle point. */
static double density(const struct model *m, double exposure, double misses,
                      double phi)
{
    double z = log(exposure / (phi * (2 - POWER))) +
               SHAPE * log(misses / (phi * (POWER - 1)));
    double at = (z - Z_MIN) / Z_STEP;
    int i = (int)fmax(at, 0);

    if (i >= Z_N - 1) {
        double share = misses / exposure;
        double root = sqrt(sqrt(share)); /* share^(2 - POWER) */

        return exposure * root / (phi * (2 - POWER) * (POWER - 1)) -
               log(2 * M_PI * phi * exposure * share * share / root) / 2;
    }
    return at < 0 ? z - Z_MIN + m->series[0] - log(misses)
                  : m->series[i] +
                        (at - i) * (m->series[i + 1] - m->series[i]) -
                        log(misses);
}

/* How the points look at this slope. */
static void take_slope(struct model *m, double slope)
{
    double relax_s = fit_relax_s(m->aim, slope);
    double usual_s = fit_relax_s(m->aim, m->slope);

    for (size_t i = 0; i < m->n; i++) {
        const struct fit_point *pt = &m->points[i];
        double u = m->is_known
                       ? log(pt->load / m->crossing) / search_tuning.reach
                       : 0;
        struct sight *s = &m->sights[i];

        s->weight = 1 / (1 + u * u);
        s->is_capped = pt->misses >= m->most * pt->n;
        s->exposure = pt->n;
        s->misses = fmin(pt->misses, m->most * pt->n);
        if (s->is_capped)
            continue;
        s->weight *= fit_grown(m->aim->allowed, usual_s, pt->warmup_s,
                               pt->window_s);
        s->exposure *= fmax(fit_grown(m->aim->allowed, relax_s, pt->warmup_s,
                                      pt->window_s),
                            SHARE_MIN);
    }
}

/* The density of the misses in all pieces of the windows.  Pieces are several
 * relaxation times long, so that they are nearly independent, and hold some
 * misses. */
static double scatter(const struct model *m, double phi)
{
    double relax_s = fit_relax_s(m->aim, m->slope);
    double sum = 0;

    for (size_t i = 0; i < m->n; i++) {
        const struct fit_point *pt = &m->points[i];
        const struct sight *s = &m->sights[i];
        double piece_s =
            fmax(search_tuning.piece_relax * relax_s,
                 search_tuning.piece_misses / m->aim->allowed / pt->n *
                     pt->window_s);
        double slices = ceil(piece_s / pt->window_s * (double)pt->n_slices);
        size_t width = (size_t)fmax(1, fmin(slices, (double)pt->n_slices));

        if (s->misses <= 0 || s->is_capped)
            continue;
        if (2 * width > pt->n_slices) {
            sum += s->weight * density(m, s->exposure, s->misses, phi);
            continue;
        }
        for (size_t k = 0; k < pt->n_slices; k += width) {
            double n = 0;
            double misses = 0;

            for (size_t j = k; j < k + width && j < pt->n_slices; j++) {
                n += (double)pt->slices[j].n;
                misses += (double)pt->slices[j].hits;
            }
            if (misses > 0)
                sum += s->weight *
                       density(m, n * s->exposure / pt->n, misses, phi);
        }
    }
    return sum;
}

/* The share of misses at a load, if there is a line with this crossing.  It may
 * exceed 1: an overloaded server that misses nothing is all the less likely. */
static double share_at(const struct model *m, double load, double crossing,
                       double slope)
{
    double e = fmin(slope * (load / crossing - 1), EXPONENT_MAX);

    return fmax(m->floor + (m->aim->allowed - m->floor) * exp(e), SHARE_MIN);
}

/* The part of the log density that depends on the mean, times -phi. */
static double distance(const struct model *m, double crossing, double slope)
{
    double sum = 0;

    for (size_t i = 0; i < m->n; i++) {
        const struct sight *s = &m->sights[i];
        double share = share_at(m, m->points[i].load, crossing, slope);
        double root, least = 0;

        if (s->is_capped) {
            share = fmin(share, m->most);
            least = s->exposure * sqrt(sqrt(m->most)) / (2 - POWER) /
                    (POWER - 1);
        }
        root = sqrt(sqrt(share)); /* share^(2 - POWER) */
        sum += s->weight * (s->exposure * root / (2 - POWER) +
                            s->misses * root / share / (POWER - 1) - least);
    }
    return sum;
}

/* Normal near 0, with heavy tails. */
static double log_prior(double z)
{
    double bend = search_tuning.bend;

    z = fabs(z);
    return z < bend ? -z * z / 2 : -bend * (z - bend / 2);
}

/* ---- the grid ---- */

static double at_step(const struct interval *range, size_t n, size_t i)
{
    return range->low +
           (range->high - range->low) * (double)i / (double)(n - 1);
}

static void fill(struct grid *g, struct model *m)
{
    static _Thread_local double table[SLOPES][CROSSINGS][PHIS];
    double max = -INFINITY;

    *g = (struct grid){.x = g->x, .s = g->s, .f = g->f};
    for (size_t k = 0; k < SLOPES; k++) {
        double slope = exp(at_step(&g->s, SLOPES, k));
        double phi[PHIS], base[PHIS];

        take_slope(m, slope);
        for (size_t j = 0; j < PHIS; j++) {
            double part = at_step(&g->f, PHIS, j);

            phi[j] = fmax(phi_at(m, slope) * exp(part), m->phi_min);
            base[j] = scatter(m, phi[j]) / m->spread +
                      log_prior(part / search_tuning.phi_spread);
        }
        for (size_t i = 0; i < CROSSINGS; i++) {
            double load = exp(at_step(&g->x, CROSSINGS, i));
            double typical = m->aim->limit_s > 0 ? load * m->aim->limit_s
                                                 : search_tuning.slope_other;
            double prior =
                log_prior(log(slope / typical) / search_tuning.slope_spread);
            double far = distance(m, load, slope) / m->spread;

            for (size_t j = 0; j < PHIS; j++) {
                table[k][i][j] = prior + base[j] - far / phi[j];
                max = fmax(max, table[k][i][j]);
            }
        }
    }
    for (size_t k = 0; k < SLOPES; k++) {
        for (size_t i = 0; i < CROSSINGS; i++) {
            for (size_t j = 0; j < PHIS; j++) {
                double mass = exp(table[k][i][j] - max);

                g->by_s[k] += mass;
                g->by_x[i] += mass;
                g->by_f[j] += mass;
            }
        }
    }
}

/* Where this part of the mass lies below, interpolated. */
static double quantile(const double *mass, size_t n,
                       const struct interval *range, double part)
{
    double total = 0;
    double sum = 0;

    for (size_t i = 0; i + 1 < n; i++)
        total += (mass[i] + mass[i + 1]) / 2;
    for (size_t i = 0; i + 1 < n; i++) {
        double here = (mass[i] + mass[i + 1]) / 2;

        if (here > 0 && sum + here >= part * total)
            return at_step(range, n, i) + (range->high - range->low) /
                                              (double)(n - 1) *
                                              (part * total - sum) / here;
        sum += here;
    }
    return range->high;
}

/* The range that has almost all of the mass, with room on either side. */
static void zoom(const double *mass, size_t n, struct interval *range,
                 double room)
{
    double step = (range->high - range->low) / (double)(n - 1);
    double low = quantile(mass, n, range, ALL_BUT) - step;
    double high = quantile(mass, n, range, 1 - ALL_BUT) + step;

    range->low = fmax(range->low, low - room * (high - low));
    range->high = fmin(range->high, high + room * (high - low));
}

/* ---- the fit ---- */

/* Some requests miss at any load: their share is that well below the crossing,
 * if it is more than the line explains. */
static double floor_of(const struct model *m)
{
    double requests = 0;
    double misses = 0;
    double expected = 0;

    for (size_t i = 0; i < m->n; i++) {
        const struct fit_point *pt = &m->points[i];

        if (pt->load > search_tuning.floor_below * m->crossing)
            continue;
        requests += pt->n;
        misses += pt->misses;
        expected += pt->n * share_at(m, pt->load, m->crossing, m->slope);
    }
    return misses > 3 + 2 * expected
               ? fmin(misses / requests,
                      search_tuning.floor_max * m->aim->allowed)
               : 0;
}

/* How much more the probes scatter around the line than phi says. */
static double spread_of(struct model *m, double phi)
{
    double squares = search_tuning.spread_weight;
    double parts = search_tuning.spread_weight - 2;

    take_slope(m, m->slope);
    for (size_t i = 0; i < m->n; i++) {
        const struct sight *s = &m->sights[i];
        double share =
            share_at(m, m->points[i].load, m->crossing, m->slope);
        double mean = s->exposure * share;
        double d = s->misses - mean;

        if (s->is_capped || share > m->most ||
            share < m->aim->allowed / search_tuning.near_share)
            continue;
        squares += s->weight * d * d / (phi * mean * pow(share, POWER - 1));
        parts += s->weight;
    }
    return fmax(1, squares / parts);
}

/* Twice: with all points alike, then with those that are near. */
static double settle(struct model *m, struct grid *g)
{
    const struct grid whole = *g;
    double phi = 0;

    for (int pass = 0; pass <= PASSES; pass++) {
        fill(g, m);
        m->crossing = exp(quantile(g->by_x, CROSSINGS, &g->x, 0.5));
        m->slope = exp(quantile(g->by_s, SLOPES, &g->s, 0.5));
        phi = fmax(phi_at(m, m->slope) *
                       exp(quantile(g->by_f, PHIS, &g->f, 0.5)),
                   m->phi_min);
        if (pass == PASSES)
            break;
        zoom(g->by_x, CROSSINGS, &g->x, pass == 0 ? 0.5 : 0);
        zoom(g->by_s, SLOPES, &g->s, 0);
        zoom(g->by_f, PHIS, &g->f, 0);
        if (pass == 0) {
            g->s = whole.s;
            g->f = whole.f;
            m->floor = floor_of(m);
            m->is_known = true;
        } else if (pass == PASSES - 1) {
            double room;

            m->spread = spread_of(m, phi);
            room = (g->x.high - g->x.low) * (sqrt(m->spread) - 1) / 2;
            g->x.low = fmax(whole.x.low, g->x.low - room);
            g->x.high = fmin(whole.x.high, g->x.high + room);
        }
    }
    return phi;
}

void fit_make(const struct fit_point *points, size_t n,
              const struct fit_aim *aim, struct fit *out)
{
    struct grid g = {.x = {INFINITY, -INFINITY},
                     .s = {log(SLOPE_MIN), log(SLOPE_MAX)},
                     .f = {log(PHI_MIN), log(PHI_MAX)}};
    struct model m = {.points = points,
                      .sights = xcalloc(n, sizeof(*m.sights)),
                      .n = n,
                      .aim = aim,
                      .most = fmin((1 + aim->allowed) / 2,
                                   search_tuning.near_share * aim->allowed),
                      .phi_min = pow(aim->allowed, 1 - POWER),
                      .spread = 1};
    double tail = (1 - aim->confidence) / 2;
    double phi;

    for (size_t i = 0; i < n; i++) {
        g.x.low = fmin(g.x.low, log(points[i].load) - MARGIN);
        g.x.high = fmax(g.x.high, log(points[i].load) + MARGIN);
    }
    g.x.high = fmin(g.x.high, fmax(log(aim->max), g.x.low + 0.01));
    m.crossing = exp((g.x.low + g.x.high) / 2);
    m.slope = aim->limit_s > 0 ? aim->limit_s * m.crossing
                               : search_tuning.slope_other;
    fill_series(&m);
    phi = settle(&m, &g);
    *out = (struct fit){
        .load = m.crossing,
        .ci = {fmin(exp(quantile(g.by_x, CROSSINGS, &g.x, tail)),
                    m.crossing * (1 - search_tuning.ci_min)),
               fmax(exp(quantile(g.by_x, CROSSINGS, &g.x, 1 - tail)),
                    m.crossing * (1 + search_tuning.ci_min))},
        .slope = m.slope,
        .relax_s = fit_relax_s(aim, m.slope),
        .inflation = phi / m.phi_min};
    free(m.sights);
}
