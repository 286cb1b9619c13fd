/* Which variant is ahead at which load, where that changes, and why. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/studies/variants.h"
#include "common/base/buf.h"
#include "common/base/units.h"
#include "common/base/xalloc.h"

#define CONFIDENCE 0.95
#define MAX_WHY    4096

/* ---- two variants ---- */

static bool is_out(const struct variant_cell *c)
{
    return c->is_overloaded || c->verdict == VERDICT_FAIL;
}

/* Is the interval of x below that of y? */
static bool is_below(const struct uncertain *x, const struct uncertain *y)
{
    return x->has_range && y->has_range && x->range.high < y->range.low;
}

/* A median among the failures is larger than any other. */
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

static enum standing by_latency(const struct variant_cell *a,
                                const struct variant_cell *b)
{
    enum standing s = by_number(&a->latency_ns, &b->latency_ns, true);
    struct uncertain ratio;

    if (s != STANDING_UNKNOWN)
        return s;
    /* With the same arrivals in both runs, requests form pairs. */
    ratio = latencies_ratio(&a->latencies, &b->latencies, CONFIDENCE);
    if (ratio.has_range && ratio.range.low > 1)
        return STANDING_AHEAD;
    return ratio.has_range && ratio.range.high < 1 ? STANDING_BEHIND
                                                   : STANDING_UNKNOWN;
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

/* ---- all variants at one load ---- */

/* Sort order: variants that are out come after those that are not, and those
 * without data last. */
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

/* A variant shown to be behind the best of its group opens the next group. */
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

/* ---- why ---- */

const char *variants_show_value(const struct variants_summary *s, double value,
                                char out[static VARIANTS_VALUE])
{
    snprintf(out, VARIANTS_VALUE, "%.6g%.12s", value,
             s->is_rate ? "/s" : s->unit);
    return out;
}

static bool is_known(const struct server_parts *p)
{
    return p->queue_ns >= 0 && p->work_ns >= 0 && p->batch > 0;
}

/* "none 120us in the queue, 18ms of work, 1 at a time" */
static void put_parts(const struct variant *v, size_t value, struct buf *out)
{
    const struct server_parts *p = &v->cells[value].parts;
    char queue[UNITS_TEXT];
    char work[UNITS_TEXT];

    buf_addf(out, "%s %s in the queue, %s of work, %.3g at a time",
             v->entry->name, units_show_duration(p->queue_ns, queue),
             units_show_duration(p->work_ns, work), p->batch);
}

/* Both at one value, and what makes the one behind slower. */
static void put_side(const struct variants_summary *s, size_t value,
                     const struct variant *ahead, const struct variant *behind,
                     bool is_light, struct buf *out)
{
    const struct variant_cell *b = &behind->cells[value];
    const struct server_parts *p = &ahead->cells[value].parts;
    const char *name = behind->entry->name;
    bool is_by_queue =
        b->parts.queue_ns - p->queue_ns >= b->parts.work_ns - p->work_ns;
    char text[VARIANTS_VALUE];

    buf_addf(out, "at %s ", variants_show_value(s, s->values[value], text));
    put_parts(ahead, value, out);
    buf_adds(out, "; ");
    put_parts(behind, value, out);
    if (!is_light && b->is_overloaded)
        buf_addf(out, ": %s gets %.4g/s and answers %.4g/s, so its queue grows",
                 name, b->offered_rps, b->throughput_rps.value);
    else if (is_by_queue && is_light)
        buf_addf(out, ": %s lets requests wait for a batch", name);
    else if (is_by_queue)
        buf_addf(out, ": with %s requests wait for those before them", name);
    else
        buf_addf(out, ": work takes longer with %s", name);
}

static char *explain(const struct variants_summary *s,
                     const struct crossover *x)
{
    const struct variant *early = &s->list[x->early];
    const struct variant *late = &s->list[x->late];
    struct buf out;
    char *why;

    if (!is_known(&early->cells[x->from].parts) ||
        !is_known(&late->cells[x->from].parts) ||
        !is_known(&early->cells[x->to].parts) ||
        !is_known(&late->cells[x->to].parts))
        return xstrdup("the recordings do not show what the servers spent "
                       "their time on");
    buf_init(&out, MAX_WHY);
    put_side(s, x->from, early, late, true, &out);
    buf_adds(&out, ".  ");
    put_side(s, x->to, late, early, false, &out);
    why = xstrdup(buf_text(&out));
    buf_fini(&out);
    return why;
}

/* ---- where it changes ---- */

/* The logarithm of a's latency over b's; NAN: unknown. */
static double lead(const struct variants_summary *s, size_t value, size_t a,
                   size_t b)
{
    double x = s->list[a].cells[value].latency_ns.value;
    double y = s->list[b].cells[value].latency_ns.value;

    return x > 0 && y > 0 && isfinite(x) && isfinite(y) ? log(x / y) : NAN;
}

/* Interpolates the logarithm of the ratio linearly over that of the load. */
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
        enum standing standing = variants_standing(&s->list[early].cells[i],
                                                   &s->list[late].cells[i]);

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
            x.why = explain(s, &x);
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

        if (!c->is_present)
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
