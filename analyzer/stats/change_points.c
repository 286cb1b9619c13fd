#include "analyzer/stats/change_points.h"

#include <math.h>
#include <string.h>

#include "common/base/rng.h"

struct cut {
    size_t at;
    double energy; /* 0: none */
};

static double distance_to(const double *x, size_t from, size_t to, double y)
{
    double sum = 0;

    for (size_t i = from; i < to; i++)
        sum += fabs(x[i] - y);
    return sum;
}

static double pairs(size_t n)
{
    return (double)n * ((double)n - 1) / 2;
}

/* Sums of distances between `left` and `right` values, and within them. */
static double energy(size_t left, size_t right, double between,
                     double within_left, double within_right)
{
    double l = (double)left;
    double r = (double)right;

    return l * r / (l + r) *
           (2 * between / (l * r) - within_left / pairs(left) -
            within_right / pairs(right));
}

/* The best cut of one segment, found by moving one value after another to its
 * left side. */
static struct cut best_cut(const double *x, size_t n, size_t min_len)
{
    struct cut best = {0};
    double all = 0;
    double left = 0;
    double right;

    if (n < 2 * min_len)
        return best;
    for (size_t i = 0; i < n; i++)
        all += distance_to(x, i + 1, n, x[i]);
    right = all;
    for (size_t at = 1; at <= n - min_len; at++) {
        double e;

        left += distance_to(x, 0, at - 1, x[at - 1]);
        right -= distance_to(x, at, n, x[at - 1]);
        if (at < min_len)
            continue;
        e = energy(at, n - at, all - left - right, left, right);
        if (e > best.energy)
            best = (struct cut){at, e};
    }
    return best;
}

/* The segments lie between the change points found so far. */
struct segments {
    const struct change *found;
    size_t len;
    size_t n;
};

/* Segment i has values [*from, *to). */
static void bounds_of(const struct segments *s, size_t i, size_t *from,
                      size_t *to)
{
    *from = i == 0 ? 0 : s->found[i - 1].at;
    *to = i == s->len ? s->n : s->found[i].at;
}

static struct cut best_of(const struct segments *s, const double *x,
                          size_t min_len)
{
    struct cut best = {0};

    for (size_t i = 0; i <= s->len; i++) {
        struct cut cut;
        size_t from;
        size_t to;

        bounds_of(s, i, &from, &to);
        cut = best_cut(x + from, to - from, min_len);
        if (cut.energy > best.energy)
            best = (struct cut){from + cut.at, cut.energy};
    }
    return best;
}

static void shuffle(double *x, size_t n, struct rng *rng)
{
    for (size_t i = n; i > 1; i--) {
        size_t k = (size_t)(rng_next(rng) % i);
        double t = x[i - 1];

        x[i - 1] = x[k];
        x[k] = t;
    }
}

/* Stops once p must exceed the level: p is then only a lower bound.  Sums in
 * another order differ in their last digits. */
static double p_of(const struct changes *c, const struct segments *s,
                   const double *x, double seen, double *scratch)
{
    double total = (double)c->permutations + 1;
    double as_great = 1;

    memcpy(scratch, x, s->n * sizeof(*x));
    for (size_t i = 0; i < c->permutations; i++) {
        for (size_t k = 0; k <= s->len; k++) {
            size_t from;
            size_t to;

            bounds_of(s, k, &from, &to);
            shuffle(scratch + from, to - from, c->rng);
        }
        as_great += best_of(s, scratch, c->min_len).energy >= seen * (1 - 1e-9);
        if (as_great > c->level * total)
            break;
    }
    return as_great / total;
}

size_t changes_find(const struct changes *c, const double *x, size_t n,
                    struct change *found, size_t max, double *scratch)
{
    size_t len = 0;

    while (len < max) {
        struct segments s = {found, len, n};
        struct cut cut = best_of(&s, x, c->min_len);
        double p;
        size_t i;

        if (!(cut.energy > 0))
            break;
        p = p_of(c, &s, x, cut.energy, scratch);
        if (p > c->level)
            break;
        for (i = len++; i > 0 && found[i - 1].at > cut.at; i--)
            found[i] = found[i - 1];
        found[i] = (struct change){cut.at, p};
    }
    return len;
}
