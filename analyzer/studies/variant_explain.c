/* Why one is ahead at light load and another at more of it: what a request's
 * time at the server went into, on either side of the crossover. */
#include <math.h>
#include <stdio.h>

#include "analyzer/studies/variants.h"
#include "common/base/buf.h"
#include "common/base/units.h"
#include "common/base/xalloc.h"

#define MAX_WHY 4096

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

static void put_time(const char *name, double ns, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_addf(out, "%s %s", name, units_show_duration(ns, text));
}

/* "none waits 120us and is worked on for 18ms, 1 at a time" */
static void put_parts(const char *name, const struct server_parts *p,
                      struct buf *out)
{
    put_time(name, p->queue_ns, out);
    put_time(" in the queue,", p->work_ns, out);
    buf_addf(out, " of work, %.3g at a time", p->batch);
}

/* Which part of its time makes the one behind slower. */
static bool is_by_queue(const struct server_parts *ahead,
                        const struct server_parts *behind)
{
    return behind->queue_ns - ahead->queue_ns >=
           behind->work_ns - ahead->work_ns;
}

static void put_light(const char *behind, const struct server_parts *a,
                      const struct server_parts *b, struct buf *out)
{
    if (is_by_queue(a, b))
        buf_addf(out, ": %s lets requests wait for a batch", behind);
    else
        buf_addf(out, ": work takes longer with %s", behind);
}

static void put_heavy(const char *behind, const struct variant_cell *b,
                      const struct server_parts *a, struct buf *out)
{
    if (b->is_overloaded)
        buf_addf(out,
                 ": %s is asked %.4g/s and answers %.4g/s, so its queue grows",
                 behind, b->offered_rps, b->throughput_rps.value);
    else if (is_by_queue(a, &b->parts))
        buf_addf(out, ": with %s requests wait for those before them", behind);
    else
        buf_addf(out, ": work takes longer with %s", behind);
}

static void put_side(const struct variants_summary *s, size_t value,
                     size_t ahead, size_t behind, struct buf *out)
{
    const struct variant *a = &s->list[ahead];
    const struct variant *b = &s->list[behind];
    char text[VARIANTS_VALUE];

    buf_addf(out, "at %s ", variants_show_value(s, s->values[value], text));
    put_parts(a->entry->name, &a->cells[value].parts, out);
    buf_adds(out, "; ");
    put_parts(b->entry->name, &b->cells[value].parts, out);
}

static bool has_parts(const struct variants_summary *s,
                      const struct crossover *x)
{
    return is_known(&s->list[x->early].cells[x->from].parts) &&
           is_known(&s->list[x->late].cells[x->from].parts) &&
           is_known(&s->list[x->early].cells[x->to].parts) &&
           is_known(&s->list[x->late].cells[x->to].parts);
}

char *variants_explain(const struct variants_summary *s,
                       const struct crossover *x)
{
    const struct variant *early = &s->list[x->early];
    const struct variant *late = &s->list[x->late];
    struct buf out;
    char *why;

    if (!has_parts(s, x))
        return xstrdup("the recordings do not show what the servers' time went "
                       "into");
    buf_init(&out, MAX_WHY);
    put_side(s, x->from, x->early, x->late, &out);
    put_light(late->entry->name, &early->cells[x->from].parts,
              &late->cells[x->from].parts, &out);
    buf_adds(&out, ".  ");
    put_side(s, x->to, x->late, x->early, &out);
    put_heavy(early->entry->name, &early->cells[x->to],
              &late->cells[x->to].parts, &out);
    why = xstrdup(buf_text(&out));
    buf_fini(&out);
    return why;
}
