#include "analyzer/search/capacity_fit.h"

#include <math.h>

#include "common/stats/stats.h"

/* The grid: crossings by slopes, first coarse over the whole range, then where
 * the mass is; and how often the points are weighted again. */
#define CROSSINGS 31
#define SLOPES    18
#define PASSES    2
#define ZOOMS     3
#define ALL_BUT   1e-4 /* of the mass, at either end */

#define SLOPE_MIN 0.5
#define SLOPE_MAX 3000.0

/* Points further from the crossing count less: the line is only a good model
 * nearby. */
#define REACH 0.3

/* Minimum half-width of the interval: the line is only a model. */
#define CI_MIN 0.005

/* Where the distributions are compared. */
#define TAIL        0.95
#define FREEDOM_MIN 3.0

/* Some requests miss at any load.  Their share is measured this far below the
 * crossing, on the log of the load, and limited to this part of the allowed
 * share. */
#define FLOOR_AWAY 0.4
#define FLOOR_MAX  0.8

/* A miss is never impossible. */
#define SHARE_MIN 1e-9

/* How far beyond the probes the crossing may be. */
#define MARGIN 0.7

/* Shares within this factor of the allowed share count for the scatter. */
#define NEAR_SHARE 20.0

/* Prior for phi: misses in clusters of about ten, with the weight of this many
 * probes. */
#define PRIOR_CLUSTER 10.0
#define PRIOR_WEIGHT  1.0

/* Prior for the slope: about 20, give or take a factor of two (the spread is
 * that of the logarithm), with a heavy tail, since a cliff is possible. */
#define SLOPE_TYPICAL 20.0
#define SLOPE_SPREAD  0.6
#define SLOPE_BEND    1.5 /* in spreads; beyond it the tail is heavy */

struct grid {
    struct interval range; /* of crossings */
    double mass[CROSSINGS];
    double log_slope[CROSSINGS]; /* its mean at each */
};

/* The share missed at any load, and the part that depends on the load. */
static double share_at(const struct fit *f, double slope, double u)
{
    double room = f->allowed - f->floor;
    double p = f->floor + 1 / (1 + (1 - room) / room * exp(-slope * u));

    return fmin(fmax(p, SHARE_MIN), 1);
}

/* The share of misses by the line at the log of a load. */
static double fit_share(const struct fit *f, double x)
{
    return share_at(f, f->slope, x - f->x);
}

/* Beyond this share the number of misses does not matter: an overloaded server
 * may lose half of its requests, or all. */
static double max_share(double allowed)
{
    return fmin((1 + allowed) / 2, NEAR_SHARE * allowed);
}

/* The quasi-likelihood of a share with mean p and variance phi p^1.5 / n. */
static double likelihood(const struct fit_point *pt, double p, double max,
                         double phi)
{
    double root = sqrt(fmin(p, max));

    return -2 / phi * (fmin(pt->misses, max * pt->n) / root + pt->n * root);
}

static double log_slope_of(size_t k)
{
    double step = log(SLOPE_MAX / SLOPE_MIN) / (SLOPES - 1);

    return log(SLOPE_MIN) + (double)k * step;
}

static double crossing_of(const struct grid *g, size_t i)
{
    return g->range.low +
           (g->range.high - g->range.low) * (double)i / (CROSSINGS - 1);
}

static double log_prior(double log_slope)
{
    double z = fabs(log_slope - log(SLOPE_TYPICAL)) / SLOPE_SPREAD;

    return z < SLOPE_BEND ? -z * z / 2 : -SLOPE_BEND * (z - SLOPE_BEND / 2);
}

static double log_mass(const struct fit *f, const struct fit_point *points,
                       size_t n, double crossing, double log_slope)
{
    double slope = exp(log_slope);
    double sum = log_prior(log_slope);
    double max = max_share(f->allowed);

    for (size_t i = 0; i < n; i++) {
        double p = share_at(f, slope, points[i].x - crossing);

        sum += points[i].weight * likelihood(&points[i], p, max, f->phi);
    }
    return sum;
}

/* Sums over the slopes for each crossing. */
static void grid_fill(struct grid *g, const struct fit *f,
                      const struct fit_point *points, size_t n)
{
    double table[CROSSINGS][SLOPES];
    double max = -INFINITY;

    for (size_t i = 0; i < CROSSINGS; i++) {
        for (size_t k = 0; k < SLOPES; k++) {
            table[i][k] =
                log_mass(f, points, n, crossing_of(g, i), log_slope_of(k));
            max = fmax(max, table[i][k]);
        }
    }
    for (size_t i = 0; i < CROSSINGS; i++) {
        g->mass[i] = 0;
        g->log_slope[i] = 0;
        for (size_t k = 0; k < SLOPES; k++) {
            double mass = exp(table[i][k] - max);

            g->mass[i] += mass;
            g->log_slope[i] += mass * log_slope_of(k);
        }
        if (g->mass[i] > 0)
            g->log_slope[i] /= g->mass[i];
    }
}

/* The crossing below which this part of the mass lies, interpolated. */
static double grid_quantile(const struct grid *g, double part)
{
    double total = 0;
    double sum = 0;

    for (size_t i = 0; i + 1 < CROSSINGS; i++)
        total += (g->mass[i] + g->mass[i + 1]) / 2;
    for (size_t i = 0; i + 1 < CROSSINGS; i++) {
        double mass = (g->mass[i] + g->mass[i + 1]) / 2;

        if (mass > 0 && sum + mass >= part * total) {
            double x = crossing_of(g, i);

            return x +
                   (crossing_of(g, i + 1) - x) * ((part * total - sum) / mass);
        }
        sum += mass;
    }
    return g->range.high;
}

static double grid_slope(const struct grid *g)
{
    double sum = 0;
    double total = 0;

    for (size_t i = 0; i < CROSSINGS; i++) {
        sum += g->mass[i] * g->log_slope[i];
        total += g->mass[i];
    }
    return exp(sum / total);
}

/* Zoom in while more than half of the range has almost no mass. */
static void grid_settle(struct grid *g, const struct fit *f,
                        const struct fit_point *points, size_t n)
{
    grid_fill(g, f, points, n);
    for (int zoom = 0; zoom < ZOOMS; zoom++) {
        double width = g->range.high - g->range.low;
        double step = width / (CROSSINGS - 1);
        double low = fmax(g->range.low, grid_quantile(g, ALL_BUT) - step);
        double high = fmin(g->range.high, grid_quantile(g, 1 - ALL_BUT) + step);

        if (high - low > width / 2)
            break;
        g->range = (struct interval){low, high};
        grid_fill(g, f, points, n);
    }
}

/* Widen the range again: phi may have grown. */
static void grid_widen(struct grid *g, const struct interval *all)
{
    double width = g->range.high - g->range.low;

    g->range.low = fmax(all->low, g->range.low - 2 * width);
    g->range.high = fmin(all->high, g->range.high + 2 * width);
}

/* ---- the scatter ---- */

struct scatter {
    double squares;  /* of misses around the line */
    double variance; /* that they would have with phi 1 */
    double parts;
};

static void scatter_add(struct scatter *s, double weight, double n,
                        double misses, double p)
{
    double d = misses - n * p;

    s->squares += weight * d * d;
    s->variance += weight * n * p * sqrt(p);
    s->parts += weight;
}

static double scatter_phi(const struct scatter *s, double used)
{
    return s->parts > used && s->variance > 0
               ? s->squares / s->variance * s->parts / (s->parts - used)
               : 0;
}

/* Two adjacent slices are taken as one, since they are correlated. */
static void scatter_slices(struct scatter *s, const struct fit_point *pt,
                           double p)
{
    for (size_t i = 0; i + 1 < pt->n_slices; i += 2) {
        const struct batch *b = &pt->slices[i];

        scatter_add(s, pt->weight, (double)(b[0].n + b[1].n),
                    (double)(b[0].hits + b[1].hits), p);
    }
}

/* With few probes phi is less certain: widened like Student's distribution
 * against the normal one; with very few it is unknown. */
static double widened(const struct scatter *probes)
{
    double freedom = probes->parts - 2;
    double ratio;

    if (freedom < FREEDOM_MIN)
        return 0;
    ratio = student_quantile(TAIL, freedom) / normal_quantile(TAIL);
    return scatter_phi(probes, 2) * ratio * ratio;
}

/* The larger phi of slices and of whole probes; the latter also differ by slow
 * changes. */
static double phi_of(const struct fit *f, const struct fit_point *points,
                     size_t n)
{
    double typical = PRIOR_CLUSTER / sqrt(f->allowed);
    struct scatter slices = {0};
    struct scatter probes = {0};
    double max = max_share(f->allowed);
    double phi;

    for (size_t i = 0; i < n; i++) {
        double p = fit_share(f, points[i].x);

        if (p < f->allowed / NEAR_SHARE || p >= max)
            continue;
        if (points[i].misses < max * points[i].n)
            scatter_slices(&slices, &points[i], p);
        scatter_add(&probes, points[i].weight, points[i].n,
                    fmin(points[i].misses, max * points[i].n), p);
    }
    phi = fmax(scatter_phi(&slices, 0), widened(&probes));
    return (PRIOR_WEIGHT * typical + probes.parts * phi) /
           (PRIOR_WEIGHT + probes.parts);
}

/* ---- the fit ---- */

/* The range of possible crossings. */
static struct interval range_of(const struct fit_point *points, size_t n,
                                double max)
{
    struct interval all = {INFINITY, -INFINITY};

    for (size_t i = 0; i < n; i++) {
        all.low = fmin(all.low, points[i].x - MARGIN);
        all.high = fmax(all.high, points[i].x + MARGIN);
    }
    all.high = fmin(all.high, fmax(max, all.low));
    return all;
}

static void take_sums(struct fit *f, const struct fit_point *points, size_t n)
{
    double z = f->slope * SLOPE_SPREAD;

    f->s0 = 0;
    f->s1 = 0;
    f->s2 = 1 / (z * z);
    for (size_t i = 0; i < n; i++) {
        double u = points[i].x - f->x;
        double w = points[i].weight * points[i].n *
                   sqrt(fit_share(f, points[i].x)) / f->phi;

        f->s0 += w;
        f->s1 += w * u;
        f->s2 += w * u * u;
    }
}

double fit_variance_with(const struct fit *f, double x, double n)
{
    double u = x - f->x;
    double w = n * sqrt(fit_share(f, x)) / f->phi;
    double s0 = f->s0 + w;
    double s1 = f->s1 + w * u;
    double s2 = f->s2 + w * u * u;

    return s2 / (s0 * s2 - s1 * s1) / (f->slope * f->slope);
}

/* The share of misses well below the crossing, which occurs at any load. */
static double floor_of(const struct fit *f, const struct fit_point *points,
                       size_t n)
{
    double requests = 0;
    double misses = 0;

    for (size_t i = 0; i < n; i++) {
        if (points[i].x > f->x - FLOOR_AWAY)
            continue;
        requests += points[i].n;
        misses += points[i].misses;
    }
    return requests > 0 ? fmin(misses / requests, FLOOR_MAX * f->allowed) : 0;
}

/* Take the line from the grid, and weight the points by it. */
static void take_line(struct fit *f, struct fit_point *points, size_t n,
                      const struct grid *g)
{
    f->x = grid_quantile(g, 0.5);
    f->slope = grid_slope(g);
    for (size_t i = 0; i < n; i++) {
        double u = (points[i].x - f->x) / REACH;

        points[i].weight = 1 / (1 + u * u);
    }
    f->floor = floor_of(f, points, n);
    f->phi = phi_of(f, points, n);
}

void fit_make(struct fit_point *points, size_t n, const struct fit_aim *aim,
              struct fit *out)
{
    struct interval all = range_of(points, n, aim->max);
    struct grid g = {.range = all};
    double tail = (1 - aim->confidence) / 2;

    *out = (struct fit){.allowed = aim->allowed,
                        .phi = PRIOR_CLUSTER / sqrt(aim->allowed)};
    for (size_t i = 0; i < n; i++)
        points[i].weight = 1;
    grid_settle(&g, out, points, n);
    for (int pass = 0; pass < PASSES; pass++) {
        take_line(out, points, n, &g);
        grid_widen(&g, &all);
        grid_settle(&g, out, points, n);
    }
    out->x = grid_quantile(&g, 0.5);
    out->slope = grid_slope(&g);
    out->ci.low = fmin(grid_quantile(&g, tail), out->x - CI_MIN);
    out->ci.high = fmax(grid_quantile(&g, 1 - tail), out->x + CI_MIN);
    take_sums(out, points, n);
}
