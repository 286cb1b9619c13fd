/* A study with variants as text: who they are, a table for each load with the
 * best first, and where and why the order changes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/report/text_parts.h"
#include "analyzer/report/variants_report.h"
#include "analyzer/studies/variants.h"
#include "common/base/buf.h"

#define NUMBER 32

/* ---- who they are ---- */

static const char *of_name(enum study_kind of)
{
    return of == STUDY_TRIALS ? "runs" : study_kind_name(of);
}

static void put_variants(const struct variants_summary *s, struct buf *out)
{
    for (size_t i = 0; i < s->set.n; i++) {
        const struct variant *v = &s->list[i];

        buf_addf(out, "%-10s %-14s %s\n", i ? "" : "variants", v->entry->name,
                 v->says ? v->says : "no run came to its end");
        if (v->entry->failed[0])
            buf_addf(out, "%-25s failed: %s\n", "", v->entry->failed);
        if (v->distrust[0])
            buf_addf(out, "%-25s a run of it does not count: %s\n", "",
                     v->distrust);
    }
}

/* ---- the tables ---- */

static const char *show_range(const struct uncertain *u, double scale,
                              char out[static NUMBER])
{
    if (u->has_range)
        snprintf(out, NUMBER, "%.4g..%.4g", u->range.low * scale,
                 u->range.high * scale);
    else
        snprintf(out, NUMBER, "?");
    return out;
}

/* In ms, or in a word why there is none. */
static const char *show_median(double ns, char out[static UNITS_TEXT])
{
    if (ns < 0)
        return text_show_ns(ns, out);
    snprintf(out, UNITS_TEXT, "%.4g", ns / 1e6);
    return out;
}

static void put_known(double x, double scale, struct buf *out)
{
    if (x >= 0)
        buf_addf(out, " %8.4g", x * scale);
    else
        buf_addf(out, " %8s", "-");
}

static void put_heading(const struct variants_summary *s, struct buf *out)
{
    char p50[NUMBER];

    snprintf(p50, sizeof(p50), "%s p50 ms", measure_name(s->measure));
    buf_addf(out, "%4s %-14s %10s %-17s %9s %8s %-15s %8s", "", "variant", p50,
             "(95%)", "p99", "good/s", "(95%)", "done/s");
    if (s->has_tokens)
        buf_addf(out, " %8s", "tokens/s");
    if (s->has_cost)
        buf_addf(out, " %8s", "$/1000");
    buf_addf(out, " %8s %8s %8s\n", "queue ms", "work ms", "batch");
}

static void put_numbers(const struct variants_summary *s,
                        const struct variant_cell *c, struct buf *out)
{
    char latency[NUMBER];
    char goodput[NUMBER];
    char median[UNITS_TEXT];
    char tail[UNITS_TEXT];

    buf_addf(out, " %10s %-17s %9s %8.4g %-15s %8.4g",
             show_median(c->latency_ns.value, median),
             show_range(&c->latency_ns, 1e-6, latency),
             text_show_ns(c->tail_ns, tail), c->goodput_rps.value,
             show_range(&c->goodput_rps, 1, goodput), c->throughput_rps.value);
    if (s->has_tokens)
        buf_addf(out, " %8.5g", c->tokens_per_s);
    if (s->has_cost)
        put_known(c->usd_per_1000_good, 1, out);
    put_known(c->parts.queue_ns, 1e-6, out);
    put_known(c->parts.work_ns, 1e-6, out);
    put_known(c->parts.batch, 1, out);
    if (s->has_slo && c->verdict != VERDICT_PASS)
        buf_addf(out, "  %s", verdict_name(c->verdict));
    if (c->is_overloaded)
        buf_adds(out, "  overloaded");
}

static void put_place(const struct variants_summary *s, size_t value,
                      const struct variant_place *p, struct buf *out)
{
    const struct variant *v = &s->list[p->variant];
    const struct variant_cell *c = &v->cells[value];

    if (p->rank > 0)
        buf_addf(out, "%3zu. %-14s", p->rank, v->entry->name);
    else
        buf_addf(out, "%4s %-14s", "-", v->entry->name);
    if (c->counted > 0)
        put_numbers(s, c, out);
    else
        buf_adds(out, c->runs > 0 ? " no run at it is to be trusted"
                                  : " not recorded");
    buf_adds(out, "\n");
}

static void put_tables(const struct variants_summary *s, struct buf *out)
{
    char text[VARIANTS_VALUE];

    for (size_t i = 0; i < s->n_values; i++) {
        buf_addf(out, "\nat %s\n", variants_show_value(s, s->values[i], text));
        put_heading(s, out);
        for (size_t k = 0; k < s->set.n; k++)
            put_place(s, i, &s->places[i * s->set.n + k], out);
    }
}

/* ---- where the order changes ---- */

/* "none, continuous" */
static void put_first(const struct variants_summary *s, const char *when,
                      size_t value, struct buf *out)
{
    const struct variant_place *p = &s->places[value * s->set.n];
    char text[VARIANTS_VALUE];
    const char *between = "";

    buf_addf(out, "%-10s at %s: ", when,
             variants_show_value(s, s->values[value], text));
    for (size_t i = 0; i < s->set.n; i++) {
        if (p[i].rank == 0)
            continue;
        if (i > 0)
            between = p[i].rank == p[i - 1].rank ? " = " : ", then ";
        buf_addf(out, "%s%s", between, s->list[p[i].variant].entry->name);
    }
    buf_adds(out, "\n");
}

/* A line for each side of it. */
static void put_why(const char *why, struct buf *out)
{
    const char *second = strstr(why, ".  ");

    if (second)
        buf_addf(out, "           %.*s.\n           %s.\n", (int)(second - why),
                 why, second + strlen(".  "));
    else
        buf_addf(out, "           %s\n", why);
}

static void put_crossover(const struct variants_summary *s,
                          const struct crossover *x, struct buf *out)
{
    char at[VARIANTS_VALUE];
    char from[VARIANTS_VALUE];
    char to[VARIANTS_VALUE];

    buf_addf(out, "crossover  %s is ahead of %s at %s, behind it at %s",
             s->list[x->early].entry->name, s->list[x->late].entry->name,
             variants_show_value(s, s->values[x->from], from),
             variants_show_value(s, s->values[x->to], to));
    if (isfinite(x->at)) {
        double rounded = round(x->at * 10) / 10;

        buf_addf(out, "; they cross at about %s",
                 variants_show_value(s, rounded, at));
    }
    buf_adds(out, "\n");
    put_why(x->why, out);
}

static void put_order(const struct variants_summary *s, struct buf *out)
{
    if (s->n_values == 0)
        return;
    buf_adds(out, "\n");
    put_first(s, s->n_values > 1 ? "light load" : "order", 0, out);
    if (s->n_values > 1)
        put_first(s, "most load", s->n_values - 1, out);
    for (size_t i = 0; i < s->n_crossings; i++)
        put_crossover(s, &s->crossings[i], out);
    if (s->n_values > 1 && s->n_crossings == 0)
        buf_adds(out, "crossover  none: no two of them change places\n");
    buf_addf(out,
             "           '=': told apart neither by intervals nor by pairs of "
             "requests.  Those that keep the\n           objective stand by %s "
             "p50, the others behind them by good requests a second, or\n"
             "           else by all that were answered\n",
             measure_name(s->measure));
}

/* ---- capacity ---- */

static void put_bracket(const struct variants_summary *s,
                        const struct capacity *c, struct buf *out)
{
    char low[VARIANTS_VALUE];
    char high[VARIANTS_VALUE];

    variants_show_value(s, c->range.low, low);
    variants_show_value(s, c->range.high, high);
    if (c->outcome == SEARCH_NEVER)
        buf_adds(out, "at no load within the objective");
    else if (isinf(c->range.high))
        buf_addf(out, "at least %s", low);
    else
        buf_addf(out, "between %s and %s", low, high);
}

static void put_capacity(const struct variants_summary *s,
                         const struct capacity *c, struct buf *out)
{
    if (c->is_bracket)
        put_bracket(s, c, out);
    else
        buf_addf(out, "%.4g%s (90%%: %.4g..%.4g)", c->value,
                 s->is_rate ? "/s" : "", c->range.low, c->range.high);
    if (c->usd_per_1000 >= 0)
        buf_addf(out, ", $%.4g for 1000 requests", c->usd_per_1000);
    if (c->binding[0])
        buf_addf(out, "; %s binds", c->binding);
    if (c->outcome == SEARCH_ESTIMATED)
        buf_adds(out, "; not confirmed");
    else if (c->outcome != SEARCH_FOUND && c->why[0])
        buf_addf(out, "; %s", c->why);
}

static void put_capacities(const struct variants_summary *s, struct buf *out)
{
    if (!s->has_capacity)
        return;
    buf_adds(out, "\nthe largest load within the objective\n");
    for (size_t i = 0; i < s->set.n; i++) {
        const struct variant_place *p = &s->capacities[i];
        const struct variant *v = &s->list[p->variant];

        if (p->rank == 0) {
            buf_addf(out, "%4s %-14s not known\n", "-", v->entry->name);
            continue;
        }
        buf_addf(out, "%3zu. %-14s ", p->rank, v->entry->name);
        put_capacity(s, &v->capacity, out);
        buf_adds(out, "\n");
    }
}

void variants_text(const struct variants_summary *s, struct buf *out)
{
    buf_addf(out, "%s: %zu variants, %s\n", s->title ? s->title : "study",
             s->set.n, of_name(s->set.of));
    if (s->terms && s->terms[0])
        buf_addf(out, "%-10s %s\n", "slo", s->terms);
    put_variants(s, out);
    if (s->set.of != STUDY_SEARCH) {
        put_tables(s, out);
        put_order(s, out);
    }
    put_capacities(s, out);
    if (s->set.stopped_by)
        buf_adds(out, "\ninterrupted: --resume goes on with it\n");
}
