/* The state of the run, and how sure its quantiles are, for a person. */
#include <math.h>
#include <stdio.h>

#include "analyzer/report/text_parts.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"

void text_put_overload(const struct summary *s, struct buf *out)
{
    const struct overload *v = &s->steady.load.overload;
    char growth[UNITS_TEXT];

    if (!summary_is_overloaded(s))
        return;
    buf_addf(out,
             "           OVERLOADED: requests in flight grew by %s through "
             "the window, of %.0f that came; no steady state exists, and "
             "percentiles depend on how long one looked\n",
             text_show_number(v->growth, 4, growth), v->arrivals);
}

static void put_flight(const struct load_judgement *l, struct buf *out)
{
    char mean[UNITS_TEXT];
    char first[UNITS_TEXT];
    char last[UNITS_TEXT];

    buf_addf(out,
             "in flight %s on average, %s in the first tenth of the window, %s "
             "in the last; ",
             text_show_number(l->in_flight, 3, mean),
             text_show_number(l->first, 3, first),
             text_show_number(l->last, 3, last));
}

static void put_little(const struct load_judgement *l, struct buf *out)
{
    char mean[UNITS_TEXT];
    char expected[UNITS_TEXT];

    buf_addf(out,
             "           Little's law is %.3g%% off (in flight %s, rate x time "
             "%s): the window begins or ends in a transient\n",
             100 * l->little.off, text_show_number(l->in_flight, 3, mean),
             text_show_number(l->little.expected, 3, expected));
}

static void put_load(const struct load_judgement *l, struct buf *out)
{
    static const char *const state[] = {
        [LOAD_UNKNOWN] = "overload not judged",
        [LOAD_WITHIN] = "not overloaded",
        [LOAD_OVER] = "overloaded",
    };

    buf_adds(out, "steady     ");
    if (l->has_flight)
        put_flight(l, out);
    buf_addf(out, "%s%s%s\n", state[l->state], l->why ? ": " : "",
             l->why ? l->why : "");
    if (l->has_little && !l->little.holds)
        put_little(l, out);
}

static void put_warmup(const struct summary *s, struct buf *out)
{
    const struct warmup_found *w = &s->steady.warmup;
    char found[UNITS_TEXT];
    char asked[UNITS_TEXT];

    if (w->is_found)
        buf_addf(out, "           warm-up by MSER %ss, asked for %ss\n",
                 text_show_number(w->found_s, 3, found),
                 text_show_number(s->warmup_s, 4, asked));
    else if (w->why)
        buf_addf(out, "           warm-up by MSER %s\n", w->why);
    if (w->suggested_s > 0)
        buf_addf(out,
                 "           WARNING the window begins too early, which moves "
                 "its mean %s by %.3g%%: --warmup %ss\n",
                 measure_name(s->steady.measure), 100 * w->shift,
                 text_show_number(w->suggested_s, 3, found));
}

/* A difference has a sign. */
static const char *show_signed(double ns, char out[static UNITS_TEXT])
{
    char text[UNITS_TEXT];

    snprintf(out, UNITS_TEXT, "%s%s", ns < 0 ? "-" : "+",
             units_show_duration(fabs(ns), text));
    return out;
}

static void put_halves(const struct summary *s, struct buf *out)
{
    const struct halves *h = &s->steady.halves;
    const struct interval *range = &h->drift.difference.range;
    char first[UNITS_TEXT];
    char second[UNITS_TEXT];
    char low[UNITS_TEXT];
    char high[UNITS_TEXT];

    if (h->why)
        return;
    buf_addf(out,
             "           %smean %s of the halves %s and %s: %+.3g%% of the "
             "mean of both (%.0f%% interval %s to %s)%s\n",
             h->is_drifting ? "WARNING " : "", measure_name(s->steady.measure),
             units_show_duration(h->drift.first, first),
             units_show_duration(h->drift.second, second),
             100 * h->drift.relative, 100 * STEADY_CONFIDENCE,
             show_signed(range->low, low), show_signed(range->high, high),
             h->is_drifting ? ": the window drifts" : "");
}

static void put_cold(const struct summary *s, struct buf *out)
{
    const struct cold *c = &s->steady.cold;
    char mean[UNITS_TEXT];
    char p99[UNITS_TEXT];

    if (c->ok == 0)
        return;
    buf_addf(out,
             "           warm-up: %lld requests, %lld ok, mean %s %s, p99 %s",
             (long long)c->requests, (long long)c->ok,
             measure_name(s->steady.measure), text_show_ns(c->mean_ns, mean),
             text_show_ns((double)c->p99_ns, p99));
    if (c->has_shift)
        buf_addf(out, "; with them the mean would be %+.3g%%",
                 100 * c->mean_shift);
    if (c->has_p99_shift)
        buf_addf(out, ", p99 %+.3g%%", 100 * c->p99_shift);
    buf_adds(out, "\n");
}

static void put_within(const struct within *w, struct buf *out)
{
    const struct uncertain *u = &w->section.quantile;
    char value[UNITS_TEXT];
    char low[UNITS_TEXT];
    char high[UNITS_TEXT];

    if (w->n == 0)
        return;
    buf_addf(out, "           %s %s %s", measure_name(w->measure), w->name,
             text_show_ns((double)w->value_ns, value));
    if (w->section.verdict == SECTION_KNOWN)
        buf_addf(out, ", 95%% interval %s to %s",
                 u->range.low > 0 ? units_show_duration(u->range.low, low)
                                  : "below the least",
                 units_show_duration(u->range.high, high));
    else if (w->value_ns >= 0) /* else the word in its place says why */
        buf_addf(out, ", no interval: %s",
                 w->section.verdict == SECTION_BEYOND ? "failures"
                                                      : "n too small");
    buf_addf(out, "; n %lld", (long long)w->n);
    if (w->n_effective > 0)
        buf_addf(out, ", worth %.0f independent ones", w->n_effective);
    buf_adds(out, "\n");
}

void text_put_steady(const struct summary *s, struct buf *out)
{
    const struct steady *st = &s->steady;

    put_load(&st->load, out);
    put_warmup(s, out);
    put_halves(s, out);
    put_cold(s, out);
    if (st->n_within == 0 || st->within[0].n == 0)
        return;
    buf_adds(out, "within run from this run alone: weaker than trials, and too "
                  "narrow for p99 of a busy server\n");
    for (size_t i = 0; i < st->n_within; i++)
        put_within(&st->within[i], out);
}
