/* Who is ahead at which load, and where that changes. */
#include <math.h>
#include <stdlib.h>

#include "analyzer/studies/variants.h"
#include "common/base/xalloc.h"

#define CONFIDENCE 0.95

/* ---- two of them ---- */

static bool is_out(const struct variant_cell *c)
{
    return c->is_overloaded || c->verdict == VERDICT_FAIL;
}

/* Does x lie below y, by their intervals? */
static bool is_below(const struct uncertain *x, const struct uncertain *y)
{
    return x->has_range && y->has_range && x->range.high < y->range.low;
}

/* A median that is among the failures is beyond any other. */
static double latency_of(const struct variant_cell *c)
{
    return c->latency_ns.value >= 0 ? c->latency_ns.value : INFINITY;
}

static enum standing by_number(const struct uncertain *a,
                               const struct uncertain *b, bool less_is_better)
{
    if (is_below(a, b))
        return less_is_better ? STANDING_AHEAD : STANDING_BEHIND;
    if (is_below(b, a))
        return less_is_better ? STANDING_BEHIND : STANDING_AHEAD;
    return STANDING_UNKNOWN;
}

/* Of two runs that had the same arrivals, requests are pairs. */
static enum standing by_pairs(const struct variant_cell *a,
                              const struct variant_cell *b)
{
    struct uncertain u =
        blocked_ratio(&a->latencies, &b->latencies, CONFIDENCE);

    if (!u.has_range)
        return STANDING_UNKNOWN;
    if (u.range.low > 1)
        return STANDING_AHEAD;
    return u.range.high < 1 ? STANDING_BEHIND : STANDING_UNKNOWN;
}

static enum standing by_latency(const struct variant_cell *a,
                                const struct variant_cell *b)
{
    enum standing s = by_number(&a->latency_ns, &b->latency_ns, true);

    return s != STANDING_UNKNOWN ? s : by_pairs(a, b);
}

enum standing variants_standing(const struct variant_cell *a,
                                const struct variant_cell *b)
{
    enum standing by_goodput;

    if (a->counted == 0 || b->counted == 0)
        return STANDING_UNKNOWN;
    if (is_out(a) != is_out(b))
        return is_out(a) ? STANDING_BEHIND : STANDING_AHEAD;
    if (!is_out(a))
        return by_latency(a, b);
    by_goodput = by_number(&a->goodput_rps, &b->goodput_rps, false);
    return by_goodput != STANDING_UNKNOWN
               ? by_goodput
               : by_number(&a->throughput_rps, &b->throughput_rps, false);
}

/* ---- all of them at one load ---- */

/* What they are sorted by: less is better.  Those that are out come after those
 * that are not, those of which nothing is known last. */
static bool is_before(const struct variant_cell *a,
                      const struct variant_cell *b)
{
    if ((a->counted > 0) != (b->counted > 0))
        return a->counted > 0;
    if (a->counted == 0)
        return false;
    if (is_out(a) != is_out(b))
        return !is_out(a);
    if (!is_out(a))
        return latency_of(a) < latency_of(b);
    if (by_number(&a->goodput_rps, &b->goodput_rps, false) != STANDING_UNKNOWN)
        return a->goodput_rps.value > b->goodput_rps.value;
    return a->throughput_rps.value > b->throughput_rps.value;
}

static void sort(const struct variants_summary *s, size_t value,
                 struct variant_place *places)
{
    for (size_t i = 0; i < s->set.n; i++) {
        size_t at = i;

        while (at > 0 &&
               is_before(&s->list[i].cells[value],
                         &s->list[places[at - 1].variant].cells[value])) {
            places[at] = places[at - 1];
            at--;
        }
        places[at] = (struct variant_place){.variant = i};
    }
}

/* One that is shown to be behind the best of its group opens the next. */
static void rank(const struct variants_summary *s, size_t value,
                 struct variant_place *places)
{
    size_t best = 0;

    for (size_t i = 0; i < s->set.n; i++) {
        const struct variant_cell *c = &s->list[places[i].variant].cells[value];
        const struct variant_cell *b =
            &s->list[places[best].variant].cells[value];

        if (c->counted == 0)
            return;
        if (variants_standing(c, b) == STANDING_BEHIND)
            best = i;
        places[i].rank = best + 1;
    }
}

/* ---- where it changes ---- */

static enum standing standing_at(const struct variants_summary *s, size_t value,
                                 size_t a, size_t b)
{
    return variants_standing(&s->list[a].cells[value],
                             &s->list[b].cells[value]);
}

/* The logarithm of a's latency over b's; NAN: not known. */
static double lead(const struct variants_summary *s, size_t value, size_t a,
                   size_t b)
{
    double x = s->list[a].cells[value].latency_ns.value;
    double y = s->list[b].cells[value].latency_ns.value;

    return x > 0 && y > 0 && isfinite(x) && isfinite(y) ? log(x / y) : NAN;
}

/* Between two values the logarithm of the ratio is taken for a straight line
 * over that of the load. */
static double crossing(const struct variants_summary *s,
                       const struct crossover *x)
{
    double before = lead(s, x->from, x->early, x->late);
    double from = s->values[x->from];

    for (size_t i = x->from + 1; i <= x->to; i++) {
        double after = lead(s, i, x->early, x->late);

        if (before <= 0 && after > 0 && from > 0)
            return from * pow(s->values[i] / from, -before / (after - before));
        if (!isnan(after)) {
            before = after;
            from = s->values[i];
        }
    }
    return NAN;
}

static bool find_crossover(const struct variants_summary *s, size_t early,
                           size_t late, struct crossover *x)
{
    bool has_led = false;

    *x = (struct crossover){.early = early, .late = late};
    for (size_t i = 0; i < s->n_values; i++) {
        enum standing standing = standing_at(s, i, early, late);

        if (standing == STANDING_AHEAD) {
            x->from = i;
            has_led = true;
        }
        if (standing == STANDING_BEHIND && has_led) {
            x->to = i;
            x->at = crossing(s, x);
            return true;
        }
    }
    return false;
}

static void find_crossovers(struct variants_summary *s)
{
    for (size_t a = 0; a < s->set.n; a++) {
        for (size_t b = 0; b < s->set.n; b++) {
            struct crossover x;

            if (a == b || !find_crossover(s, a, b, &x))
                continue;
            x.why = variants_explain(s, &x);
            s->crossings = xrealloc(s->crossings, s->n_crossings + 1,
                                    sizeof(*s->crossings));
            s->crossings[s->n_crossings++] = x;
        }
    }
}

/* ---- by capacity ---- */

static void rank_capacities(struct variants_summary *s)
{
    struct variant_place *p = xcalloc(s->set.n + 1, sizeof(*p));
    size_t best = 0;

    for (size_t i = 0; i < s->set.n; i++) {
        double key = capacity_sort_key(&s->list[i].capacity);
        size_t at = i;

        for (; at > 0 &&
               key > capacity_sort_key(&s->list[p[at - 1].variant].capacity);
             at--)
            p[at] = p[at - 1];
        p[at] = (struct variant_place){.variant = i};
        s->has_capacity = s->has_capacity || key >= 0;
    }
    for (size_t i = 0; i < s->set.n; i++) {
        const struct capacity *c = &s->list[p[i].variant].capacity;

        if (!c->is_there)
            break;
        if (capacity_is_above(&s->list[p[best].variant].capacity, c))
            best = i;
        p[i].rank = best + 1;
    }
    s->capacities = p;
}

void variants_work_out(struct variants_summary *s)
{
    s->places = xcalloc(s->n_values * s->set.n + 1, sizeof(*s->places));
    for (size_t i = 0; i < s->n_values; i++) {
        sort(s, i, s->places + i * s->set.n);
        rank(s, i, s->places + i * s->set.n);
    }
    find_crossovers(s);
    rank_capacities(s);
}
