#include "analyzer/search/capacity_fit.h"

#include <math.h>
#include <stdbool.h>

#include "analyzer/search/search_tuning.h"

/* The masses of the crossings and of the slopes; ranges are of logarithms. */
struct grid {
    struct interval x;
    struct interval s;
    double by_x[FIT_CROSSINGS];
    double by_s[FIT_SLOPES];
};

struct model {
    struct fit_point *points;
    size_t n;
    const struct fit_aim *aim;
    double crossing; /* the estimate so far, and ... */
    double slope;    /* ... of the slope */
    bool is_known;   /* there is one; else all points count the same */
    double floor;    /* share of misses at any load */
    double most;     /* beyond this share the number of misses does not matter:
                        an overloaded server may lose half of them, or all */
    double scatter;  /* of the misses, as a multiple of what theory says */
};

/* ---- the theory of a queue ---- */

static double log_inverse(double allowed)
{
    return fmax(-log(allowed), 0.3);
}

/* That of M/M/1, and what is added if several are served at a time. */
static double typical_slope(const struct fit_aim *aim, double load)
{
    double slope =
        load * (aim->limit_s + search_tuning.slope_flight * aim->answer_s);

    if (aim->limit_s <= 0)
        return search_tuning.slope_other;
    return fmin(fmax(slope, search_tuning.slope_low), search_tuning.slope_max);
}

/* The relaxation time.  A curve that is much steeper than that of M/M/1 is not
 * that of a queue. */
static double relax_s(const struct model *m, double slope)
{
    double z = log_inverse(m->aim->allowed);
    double max = search_tuning.steep * typical_slope(m->aim, m->crossing);

    return fmax(4 * m->aim->limit_s * fmin(slope, max) / (z * z),
                m->aim->answer_s);
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

double fit_grown(double allowed, double relax, double warmup_s, double window_s)
{
    double z = log_inverse(allowed);
    double sum = 0;

    if (relax <= 0 || warmup_s > search_tuning.grown * relax)
        return 1;
    for (int i = 0; i < search_tuning.grown_parts; i++)
        sum += grown_at(
            z, (warmup_s + window_s * (i + 0.5) / search_tuning.grown_parts) /
                   relax);
    return sum / search_tuning.grown_parts;
}

/* Of the variance of the number of misses, where the share is what is allowed.
 */
static double inflation(const struct model *m, double slope)
{
    double by_theory = m->aim->limit_s > 0 ? 1 + m->crossing * relax_s(m, slope)
                                           : search_tuning.cluster_other;

    return fmax(1, by_theory * m->scatter);
}

static double phi_at(const struct model *m, double slope)
{
    return inflation(m, slope) *
           pow(m->aim->allowed, 1 - search_tuning.cluster_power);
}

/* ---- the likelihood ---- */

/* How the points look at this slope. */
static void take_slope(struct model *m, double slope)
{
    double relax = relax_s(m, slope);
    double usual = relax_s(m, m->slope);

    for (size_t i = 0; i < m->n; i++) {
        struct fit_point *pt = &m->points[i];
        double u =
            m->is_known ? log(pt->load / m->crossing) / search_tuning.reach : 0;

        pt->weight = 1 / (1 + u * u);
        pt->exposure = pt->n;
        pt->is_capped = pt->misses >= m->most * pt->n;
        if (pt->is_capped)
            continue;
        pt->weight *=
            fit_grown(m->aim->allowed, usual, pt->warmup_s, pt->window_s);
        pt->exposure *=
            fmax(search_tuning.share_min,
                 fit_grown(m->aim->allowed, relax, pt->warmup_s, pt->window_s));
    }
}

/* The share of misses at a load, if there is a line with this crossing.  It may
 * exceed 1: an overloaded server that misses nothing is all the less likely. */
static double share_at(const struct model *m, double load, double crossing,
                       double slope)
{
    double e = fmin(slope * (load / crossing - 1), search_tuning.exponent_max);

    return fmax(m->floor + (m->aim->allowed - m->floor) * exp(e),
                search_tuning.share_min);
}

/* The log of the quasi-likelihood, times -phi. */
static double distance(const struct model *m, double crossing, double slope)
{
    double sum = 0;

    for (size_t i = 0; i < m->n; i++) {
        const struct fit_point *pt = &m->points[i];
        double share = share_at(m, pt->load, crossing, slope);
        double misses = fmin(pt->misses, m->most * pt->n);
        double root, least = 0;

        if (pt->is_capped) {
            share = fmin(share, m->most);
            least = pt->exposure * sqrt(sqrt(m->most)) /
                    (2 - search_tuning.cluster_power) /
                    (search_tuning.cluster_power - 1);
        }
        root = sqrt(sqrt(share)); /* share^(2 - search_tuning.cluster_power) */
        sum +=
            pt->weight *
            (pt->exposure * root / (2 - search_tuning.cluster_power) +
             misses * root / share / (search_tuning.cluster_power - 1) - least);
    }
    return sum;
}

/* Normal in the log of the slope near the typical one, with heavy tails. */
static double log_prior(const struct fit_aim *aim, double load, double slope)
{
    double bend = search_tuning.bend;
    double away = log(slope / typical_slope(aim, load));
    double z = away > 0 ? away / search_tuning.slope_spread_up
                        : -away / search_tuning.slope_spread;

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
    double table[FIT_SLOPES][FIT_CROSSINGS];
    double max = -INFINITY;

    *g = (struct grid){.x = g->x, .s = g->s};
    for (size_t k = 0; k < FIT_SLOPES; k++) {
        double slope = exp(at_step(&g->s, FIT_SLOPES, k));
        double phi = phi_at(m, m->slope);

        take_slope(m, slope);
        for (size_t i = 0; i < FIT_CROSSINGS; i++) {
            double load = exp(at_step(&g->x, FIT_CROSSINGS, i));

            table[k][i] =
                log_prior(m->aim, load, slope) - distance(m, load, slope) / phi;
            max = fmax(max, table[k][i]);
        }
    }
    for (size_t k = 0; k < FIT_SLOPES; k++) {
        for (size_t i = 0; i < FIT_CROSSINGS; i++) {
            double mass = exp(table[k][i] - max);

            g->by_s[k] += mass;
            g->by_x[i] += mass;
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

/* The range that has almost all of the mass, with room on either side, within
 * all of it. */
static void zoom(const double *mass, size_t n, struct interval *range,
                 const struct interval *all, double room)
{
    double step = (range->high - range->low) / (double)(n - 1);
    double low = quantile(mass, n, range, search_tuning.all_but) - step;
    double high = quantile(mass, n, range, 1 - search_tuning.all_but) + step;

    range->low = fmax(all->low, low - room * (high - low));
    range->high = fmin(all->high, high + room * (high - low));
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

/* How much the misses scatter around the line, as a multiple of what theory
 * says: in pieces of the windows that are long enough to be independent, or in
 * whole windows. */
static double scatter_of(struct model *m, bool is_whole)
{
    double weight =
        is_whole ? search_tuning.probes_weight : search_tuning.pieces_weight;
    double phi = phi_at(m, m->slope) / m->scatter;
    double squares = weight;
    double parts = weight;

    for (size_t i = 0; i < m->n; i++) {
        const struct fit_point *pt = &m->points[i];
        double share =
            share_at(m, pt->load, m->crossing, m->slope) * pt->exposure / pt->n;
        double piece_s = fmax(search_tuning.piece_relax * relax_s(m, m->slope),
                              search_tuning.piece_misses / m->aim->allowed *
                                  pt->window_s / pt->n);
        size_t width =
            (size_t)fmin(ceil(piece_s / pt->window_s * (double)pt->n_slices),
                         (double)pt->n_slices);

        if (pt->is_capped || share > m->most ||
            share < m->aim->allowed / search_tuning.near_share || width == 0)
            continue;
        if (is_whole)
            width = pt->n_slices;
        for (size_t k = 0; k + width <= pt->n_slices; k += width) {
            double n = 0;
            double d = 0;

            for (size_t j = k; j < k + width; j++) {
                n += (double)pt->slices[j].n;
                d += (double)pt->slices[j].hits;
            }
            d -= n * share;
            if (n > 0)
                squares += pt->weight * d * d /
                           (phi * n * pow(share, search_tuning.cluster_power));
            parts += pt->weight;
        }
    }
    return is_whole ? squares / fmax(weight, parts - 2) : squares / parts;
}

/* First with all points alike, then with those that are near. */
static void settle(struct model *m, struct grid *g)
{
    const struct grid whole = *g;

    for (int pass = 0; pass <= search_tuning.passes; pass++) {
        fill(g, m);
        m->crossing = exp(quantile(g->by_x, FIT_CROSSINGS, &g->x, 0.5));
        m->slope = exp(quantile(g->by_s, FIT_SLOPES, &g->s, 0.5));
        if (pass == search_tuning.passes)
            return;
        if (pass == 0)
            m->floor = floor_of(m);
        m->is_known = true;
        take_slope(m, m->slope);
        m->scatter = fmin(fmax(scatter_of(m, false), scatter_of(m, true)), 10);
        zoom(g->by_x, FIT_CROSSINGS, &g->x, &whole.x, 0.5);
        if (pass > 0)
            zoom(g->by_s, FIT_SLOPES, &g->s, &whole.s, 0.2);
    }
}

void fit_make(struct fit_point *points, size_t n, const struct fit_aim *aim,
              struct fit *out)
{
    struct grid g = {
        .x = {INFINITY, -INFINITY},
        .s = {log(search_tuning.slope_min), log(search_tuning.slope_max)}};
    struct model m = {.points = points,
                      .n = n,
                      .aim = aim,
                      .most = fmin((1 + aim->allowed) / 2,
                                   search_tuning.near_share * aim->allowed),
                      .scatter = 1};
    double tail = (1 - aim->confidence) / 2;

    for (size_t i = 0; i < n; i++) {
        g.x.low = fmin(g.x.low, log(points[i].load) - search_tuning.margin);
        g.x.high = fmax(g.x.high, log(points[i].load) + search_tuning.margin);
    }
    g.x.high = fmin(g.x.high, fmax(log(aim->max), g.x.low + 0.01));
    m.crossing = exp((g.x.low + g.x.high) / 2);
    m.slope = typical_slope(aim, m.crossing);
    settle(&m, &g);
    *out = (struct fit){
        .load = m.crossing,
        .ci = {fmin(exp(quantile(g.by_x, FIT_CROSSINGS, &g.x, tail)),
                    m.crossing * (1 - search_tuning.ci_min)),
               fmax(exp(quantile(g.by_x, FIT_CROSSINGS, &g.x, 1 - tail)),
                    m.crossing * (1 + search_tuning.ci_min))},
        .slope = m.slope,
        .relax_s = relax_s(&m, m.slope),
        .inflation = inflation(&m, m.slope)};
}
