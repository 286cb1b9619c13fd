/* What is good, in the report a person reads: tiers, misses, deadlines, cost,
 * and the curve that was asked for. */
#include <stdio.h>

#include "analyzer/report/text_parts.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"

/* ---- tiers ---- */

static void put_fluid(const struct fluid_summary *f, struct buf *out)
{
    char first[UNITS_TEXT];
    char next[UNITS_TEXT];

    buf_addf(out,
             "first token in %s, %s for each more%s: %.6g%% of tokens in time; "
             "index mean %.3f, p50 %.3f, p1 %.3f; %lld of %lld streams at "
             "%.2g or more (%.4g%%), %.6g/s",
             units_show_duration((double)f->limits.first_ns, first),
             units_show_duration((double)f->limits.next_ns, next),
             f->is_assumed ? " (one an event assumed)" : "",
             100 * f->tokens_in_time, f->mean, f->p50, f->p1,
             (long long)f->fluid, (long long)f->due, FLUID_INDEX,
             100 * f->share, f->fluid_rps);
    if (f->unknown > 0)
        buf_addf(out, "; the events of %lld are lost", (long long)f->unknown);
    buf_adds(out, "\n");
}

static void put_tier(const struct tier_summary *t, bool has_due,
                     struct buf *out)
{
    buf_addf(out, "  tier %-19s %-9s goodput %.6g/s", tier_name(t),
             verdict_name(t->verdict), t->goodput_rps);
    if (has_due)
        buf_addf(out, ", attainment %.6g%% (95%% interval %.6g%% to %.6g%%)",
                 100 * t->attainment, 100 * t->attainment_ci95.low,
                 100 * t->attainment_ci95.high);
    buf_adds(out, "\n");
    for (size_t i = 0; i < t->judgement.len; i++)
        text_put_term(&t->judgement.terms[i], out);
    if (t->fluid.is_there) {
        buf_adds(out, "    fluidity ");
        put_fluid(&t->fluid, out);
    }
}

void text_put_tiers(const struct tiers *t, bool has_due, struct buf *out)
{
    const struct tier_summary *best = tiers_best(t);

    if (t->len == 0)
        return;
    for (size_t i = 0; i < t->len; i++)
        put_tier(&t->items[i], has_due, out);
    if (best)
        buf_addf(out, "  best tier met: %s\n", tier_name(best));
    else
        buf_adds(out, "  no tier is known to be met\n");
}

/* ---- misses ---- */

static double percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

static void put_limit(int i, const struct misses *m, struct buf *out)
{
    const struct limit_misses *l = &m->by[i];
    char text[UNITS_TEXT];

    buf_addf(out, "           %-6s %-9s %8lld %7.4g%% %8lld\n", misses_name(i),
             i == GOOD_CHECK ? "required"
                             : units_show_duration((double)l->limit_ns, text),
             (long long)l->missed, percent(l->missed, m->not_good),
             (long long)l->only);
}

/* With one limit it is clear what was missed. */
static void put_misses(const struct summary *s, struct buf *out)
{
    const struct misses *m = &s->misses;

    if (misses_limits(m) < 2 || m->not_good == 0)
        return;
    buf_addf(out,
             "misses     %lld not good = %lld failed + %lld missed several "
             "limits + those that missed one only\n",
             (long long)m->not_good, (long long)m->failed,
             (long long)m->several);
    buf_addf(out, "           %-6s %-9s %8s %8s %8s%s\n", "limit", "", "missed",
             "of them", "only it",
             s->n_classes > 0 ? "  (the tightest of all classes)" : "");
    for (int i = 0; i < GOOD_LIMITS; i++) {
        if (m->by[i].limit_ns > 0)
            put_limit(i, m, out);
    }
}

/* ---- cost ---- */

/* Without an exponent, as little as it may be. */
static const char *show_usd(double usd, char out[static UNITS_TEXT])
{
    snprintf(out, UNITS_TEXT, usd < 1e-3 ? "%.7f" : "%.4g", usd);
    return out;
}

static void put_usd(const char *what, double usd, struct buf *out)
{
    char text[UNITS_TEXT];

    if (usd >= 0)
        buf_addf(out, ", %s USD %s", show_usd(usd, text), what);
}

static const char *cost_label(const struct summary *s)
{
    if (s->verdict == VERDICT_FAIL)
        return "; the SLO is missed: not deliverable";
    return s->good == 0 ? "; nothing is good" : "";
}

static void put_cost(const struct summary *s, struct buf *out)
{
    const struct cost *c = &s->cost;
    char text[UNITS_TEXT];

    if (!c->is_there)
        return;
    buf_addf(out, "cost       %s USD for the window", show_usd(c->usd, text));
    put_usd("per thousand good requests", c->usd_per_1000_good, out);
    put_usd("per million good output tokens", c->usd_per_million_good_tokens,
            out);
    put_usd("per million of all", c->usd_per_million_tokens, out);
    buf_addf(out, "%s\n", cost_label(s));
}

void text_put_goodput(const struct summary *s, struct buf *out)
{
    put_misses(s, out);
    if (s->fluid.is_there) {
        buf_adds(out, "fluidity   ");
        put_fluid(&s->fluid, out);
    }
    put_cost(s, out);
}

/* ---- the curve ---- */

static void put_point(const struct curve_point *p, struct buf *out)
{
    char limit[UNITS_TEXT];

    buf_addf(out, "%-17s %8lld  %.6g%% (%.6g%% to %.6g%%)%s\n",
             units_show_duration((double)p->limit_ns, limit),
             (long long)p->within, 100 * p->share, 100 * p->ci95.low,
             100 * p->ci95.high, p->is_slo ? "  <- limit of the SLO" : "");
}

void text_put_curve(const struct summary *s, struct buf *out)
{
    struct curve_point points[CURVE_MAX];
    size_t n;

    if (!s->curve)
        return;
    n = curve_points(s->curve, points);
    buf_addf(out, "%-17s %8s  %s of %lld (95%% interval)\n",
             measure_name(s->curve->measure), "within", "share",
             (long long)curve_n(s->curve));
    for (size_t i = 0; i < n; i++)
        put_point(&points[i], out);
    buf_adds(out, "\n");
}
