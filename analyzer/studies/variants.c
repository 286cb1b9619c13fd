/* Which variant is ahead at which load, where that changes, and why. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/studies/variants.h"
#include "common/base/buf.h"
#include "common/base/xalloc.h"
#include "common/text/units.h"

#define MAX_WHY 4096

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
    else if (b->parts.queue_ns + b->parts.work_ns <= p->queue_ns + p->work_ns)
        buf_addf(out, ": %s has slower requests, but not on average", name);
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
    const struct variant_pair *p = variants_pair(s, value, b, a);

    return p->rounds > 0 && p->by == s->rankings[value].by ? log(p->ratio.value)
                                                           : NAN;
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

    *x = (struct crossover){.early = early, .late = late, .is_shown = true};
    for (size_t i = 0; i < s->n_values; i++) {
        const struct variant_pair *p = variants_pair(s, i, early, late);
        bool has_rounds = p->rounds >= VARIANTS_MIN_ROUNDS;
        enum standing standing = has_rounds ? p->shown : p->observed;

        x->is_shown &= has_rounds || p->rounds == 0;
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
    size_t pairs = s->set.n * (s->set.n - 1) / 2;

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

        p[i].rank = c->is_present;
        for (size_t k = 0; c->is_present && k < i; k++)
            p[i].rank += capacity_is_above(
                &s->list[p[k].variant].capacity, c,
                1 - (1 - VARIANTS_CONFIDENCE) / (double)pairs, s->smallest);
    }
    s->capacities = p;
}

void variants_work_out(struct variants_summary *s)
{
    variants_rank(s);
    find_crossovers(s);
    rank_capacities(s);
}

void variants_results_fini(struct variants_summary *s)
{
    for (size_t i = 0; i < s->n_crossings; i++)
        free(s->crossings[i].why);
    for (size_t i = 0; s->rankings && i < s->n_values; i++) {
        free(s->rankings[i].places);
        free(s->rankings[i].pairs);
    }
    free(s->crossings);
    free(s->rankings);
    free(s->capacities);
}
