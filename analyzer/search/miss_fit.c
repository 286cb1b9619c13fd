#include "analyzer/search/miss_fit.h"

#include <math.h>

#include "common/stats/stats.h"

/* The grid: crossings by slopes, first coarse over all that may be, then where
 * the mass is; and how often the points are weighed anew. */
#define CROSSINGS 31
#define SLOPES    18
#define PASSES    2
#define ZOOMS     3
#define ALL_BUT   1e-4 /* of the mass, at either end */

#define SLOPE_LEAST 0.5
#define SLOPE_MOST  3000.0

/* What lies further from the crossing counts less and less: a line is a good
 * picture nearby only. */
#define REACH 0.3

/* No interval is narrower to either side: a line is not the truth. */
#define CI_LEAST 0.005

/* Where the distributions are compared. */
#define TAIL          0.95
#define FREEDOM_LEAST 3.0

/* Some requests miss at any load.  How many is seen so far below the crossing,
 * by the log of the load; more than this part of what is allowed is not. */
#define FLOOR_AWAY 0.4
#define FLOOR_MOST 0.8

/* No miss is quite out of the question. */
#define SHARE_LEAST 1e-9

/* How far beyond the probes it may be. */
#define MARGIN 0.7

/* Shares within so many times what is allowed tell of the scatter there. */
#define NEAR_SHARE 20.0

/* Of phi, before anything is seen: misses in clusters of about ten, known as
 * well as from so many probes. */
#define PRIOR_CLUSTER 10.0
#define PRIOR_WEIGHT  1.0

/* What slopes are likely, before anything is seen: about 20, give or take a
 * factor of two (the spread is that of the logarithm), but a cliff is not out
 * of the question. */
#define SLOPE_TYPICAL 20.0
#define SLOPE_SPREAD  0.6
#define SLOPE_BEND    1.5 /* spreads away; from there it thins out slowly */

struct grid {
    struct interval range; /* of crossings */
    double mass[CROSSINGS];
    double log_slope[CROSSINGS]; /* its mean at each */
};

/* What is missed at any load, and what comes on top of it. */
static double share_at(const struct fit *f, double slope, double u)
{
    double room = f->allowed - f->floor;
    double p = f->floor + 1 / (1 + (1 - room) / room * exp(-slope * u));

    return fmin(fmax(p, SHARE_LEAST), 1);
}

double fit_share(const struct fit *f, double x)
{
    return share_at(f, f->slope, x - f->x);
}

/* Beyond this share it is of no importance how many are missed: an overloaded
 * server may lose half of what it gets, or all. */
static double share_most(double allowed)
{
    return fmin((1 + allowed) / 2, NEAR_SHARE * allowed);
}

/* Of a share with mean p and variance phi p^1.5 / n: the quasi-likelihood. */
static double likelihood(const struct fit_point *pt, double p, double most,
                         double phi)
{
    double root = sqrt(fmin(p, most));

    return -2 / phi * (fmin(pt->misses, most * pt->n) / root + pt->n * root);
}

static double log_slope_of(size_t k)
{
    double step = log(SLOPE_MOST / SLOPE_LEAST) / (SLOPES - 1);

    return log(SLOPE_LEAST) + (double)k * step;
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
    double most = share_most(f->allowed);

    for (size_t i = 0; i < n; i++) {
        double p = share_at(f, slope, points[i].x - crossing);

        sum += points[i].weight * likelihood(&points[i], p, most, f->phi);
    }
    return sum;
}

/* The slopes are summed up for each crossing. */
static void grid_fill(struct grid *g, const struct fit *f,
                      const struct fit_point *points, size_t n)
{
    double table[CROSSINGS][SLOPES];
    double most = -INFINITY;

    for (size_t i = 0; i < CROSSINGS; i++) {
        for (size_t k = 0; k < SLOPES; k++) {
            table[i][k] =
                log_mass(f, points, n, crossing_of(g, i), log_slope_of(k));
            most = fmax(most, table[i][k]);
        }
    }
    for (size_t i = 0; i < CROSSINGS; i++) {
        g->mass[i] = 0;
        g->log_slope[i] = 0;
        for (size_t k = 0; k < SLOPES; k++) {
            double mass = exp(table[i][k] - most);

            g->mass[i] += mass;
            g->log_slope[i] += mass * log_slope_of(k);
        }
        if (g->mass[i] > 0)
            g->log_slope[i] /= g->mass[i];
    }
}

/* The crossing below which lies this part of the mass, between grid points. */
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

/* Leave out what has no mass to speak of, as long as that is most of it. */
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

/* Look further again: what is taken for chance may have grown. */
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

/* Two blocks next to each other are taken as one: neighbours fare alike. */
static void scatter_blocks(struct scatter *s, const struct fit_point *pt,
                           double p)
{
    for (size_t i = 0; i + 1 < pt->n_blocks; i += 2) {
        const struct batch *b = &pt->blocks[i];

        scatter_add(s, pt->weight, (double)(b[0].n + b[1].n),
                    (double)(b[0].hits + b[1].hits), p);
    }
}

/* Few probes tell little of how they scatter, and very few nothing: as much
 * more as Student's distribution is wider than the normal one. */
static double widened(const struct scatter *probes)
{
    double freedom = probes->parts - 2;
    double ratio;

    if (freedom < FREEDOM_LEAST)
        return 0;
    ratio = student_quantile(TAIL, freedom) / normal_quantile(TAIL);
    return scatter_phi(probes, 2) * ratio * ratio;
}

/* The larger one of what blocks say and what whole probes say, which also
 * differ by what changes slowly. */
static double phi_of(const struct fit *f, const struct fit_point *points,
                     size_t n)
{
    double typical = PRIOR_CLUSTER / sqrt(f->allowed);
    struct scatter blocks = {0};
    struct scatter probes = {0};
    double most = share_most(f->allowed);
    double phi;

    for (size_t i = 0; i < n; i++) {
        double p = fit_share(f, points[i].x);

        if (p < f->allowed / NEAR_SHARE || p >= most)
            continue;
        if (points[i].misses < most * points[i].n)
            scatter_blocks(&blocks, &points[i], p);
        scatter_add(&probes, points[i].weight, points[i].n,
                    fmin(points[i].misses, most * points[i].n), p);
    }
    phi = fmax(scatter_phi(&blocks, 0), widened(&probes));
    return (PRIOR_WEIGHT * typical + probes.parts * phi) /
           (PRIOR_WEIGHT + probes.parts);
}

/* ---- the fit ---- */

/* Where the crossing may be at all. */
static struct interval range_of(const struct fit_point *points, size_t n,
                                double most)
{
    struct interval all = {INFINITY, -INFINITY};

    for (size_t i = 0; i < n; i++) {
        all.low = fmin(all.low, points[i].x - MARGIN);
        all.high = fmax(all.high, points[i].x + MARGIN);
    }
    all.high = fmin(all.high, fmax(most, all.low));
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

/* The share of misses well below the crossing: it is there at any load. */
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
    return requests > 0 ? fmin(misses / requests, FLOOR_MOST * f->allowed) : 0;
}

/* From the grid to the line, and back to how the points are weighed. */
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
    struct interval all = range_of(points, n, aim->most);
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
    out->ci.low = fmin(grid_quantile(&g, tail), out->x - CI_LEAST);
    out->ci.high = fmax(grid_quantile(&g, 1 - tail), out->x + CI_LEAST);
    take_sums(out, points, n);
}
