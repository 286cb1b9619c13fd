/* What is good, in the JSON report: tiers, misses, deadlines, cost, and the
 * curve that was asked for. */
#include <jansson.h>

#include "analyzer/report/json_parts.h"
#include "analyzer/tally/summary.h"

static json_t *interval(const struct interval *i)
{
    return json_pack("[f, f]", i->low, i->high);
}

static json_t *fluidity(const struct fluid_summary *f)
{
    if (!f->is_there)
        return json_null();
    return json_pack(
        "{sf, sf, sI, sI, sI, sI, sf, sf, sf, sf, sf, sf, sf, sb}",
        "first_limit_ms", (double)f->limits.first_ns / 1e6, "next_limit_ms",
        (double)f->limits.next_ns / 1e6, "streams", (json_int_t)f->due,
        "failed", (json_int_t)f->failed, "unknown", (json_int_t)f->unknown,
        "fluid", (json_int_t)f->fluid, "fluid_from", FLUID_INDEX, "fluid_share",
        f->share, "fluid_rps", f->fluid_rps, "index_mean", f->mean, "index_p50",
        f->p50, "index_p1", f->p1, "tokens_in_time", f->tokens_in_time,
        "assumed", f->is_assumed);
}

static json_t *tier(const struct tier_summary *t, bool has_due)
{
    json_t *o = json_pack("{ss, ss, sI, sf, sf}", "name", tier_name(t),
                          "verdict", verdict_name(t->verdict), "good",
                          (json_int_t)t->good, "goodput_rps", t->goodput_rps,
                          "goodput_tokens_per_s", t->goodput_tokens_per_s);

    if (has_due) {
        json_object_set_new(o, "attainment", json_real(t->attainment));
        json_object_set_new(o, "attainment_ci95",
                            interval(&t->attainment_ci95));
    } else {
        json_put_nothing(o, "attainment", "no samples");
        json_put_nothing(o, "attainment_ci95", "no samples");
    }
    json_object_set_new(o, "slo", json_terms(&t->judgement));
    json_object_set_new(o, "fluidity", fluidity(&t->fluid));
    return o;
}

void json_put_tiers(json_t *o, const struct tiers *t, bool has_due)
{
    const struct tier_summary *best = tiers_best(t);
    json_t *list = json_array();

    for (size_t i = 0; i < t->len; i++)
        json_array_append_new(list, tier(&t->items[i], has_due));
    json_object_set_new(o, "tiers", list);
    if (best)
        json_object_set_new(o, "best_tier", json_string(tier_name(best)));
    else
        json_put_nothing(o, "best_tier",
                         t->len > 0 ? "none is met" : "there are no tiers");
}

/* A check has no limit in milliseconds. */
static json_t *limit(int i, const struct misses *m)
{
    const struct limit_misses *l = &m->by[i];
    double share =
        m->not_good > 0 ? (double)l->missed / (double)m->not_good : 0;

    return json_pack(
        "{ss, so, sI, sf, sI}", "measure", misses_name(i), "limit_ms",
        i == GOOD_CHECK ? json_null() : json_real((double)l->limit_ns / 1e6),
        "missed", (json_int_t)l->missed, "missed_share", share, "only",
        (json_int_t)l->only);
}

static json_t *misses(const struct misses *m)
{
    json_t *list = json_array();

    for (int i = 0; i < GOOD_LIMITS; i++) {
        if (m->by[i].limit_ns > 0)
            json_array_append_new(list, limit(i, m));
    }
    return json_pack("{sI, sI, sI, so}", "not_good", (json_int_t)m->not_good,
                     "failed", (json_int_t)m->failed, "several",
                     (json_int_t)m->several, "limits", list);
}

static void put_usd(json_t *o, const char *name, double usd, const char *why)
{
    if (usd >= 0)
        json_object_set_new(o, name, json_real(usd));
    else
        json_put_nothing(o, name, why);
}

static json_t *cost(const struct summary *s)
{
    const struct cost *c = &s->cost;
    const char *no_tokens = s->has_tokens && tokens_have_output(&s->tokens)
                                ? "nothing is good"
                                : "nobody counts them";
    json_t *o = json_pack(
        "{sf, sI, sf}", "usd_per_hour", s->settings->cost.usd_per_hour,
        "replicas", (json_int_t)s->settings->cost.replicas, "usd", c->usd);

    if (s->verdict == VERDICT_PASS || s->verdict == VERDICT_FAIL)
        json_object_set_new(o, "deliverable",
                            json_boolean(s->verdict == VERDICT_PASS));
    else
        json_put_nothing(o, "deliverable",
                         "whether an SLO is met is not known");
    put_usd(o, "usd_per_1000_good_requests", c->usd_per_1000_good,
            "nothing is good");
    put_usd(o, "usd_per_million_good_tokens", c->usd_per_million_good_tokens,
            no_tokens);
    put_usd(o, "usd_per_million_tokens", c->usd_per_million_tokens,
            s->has_tokens ? "none arrived" : "nobody counts them");
    return o;
}

static json_t *point(const struct curve_point *p)
{
    return json_pack("{sf, sI, sf, so, sb}", "limit_ms",
                     (double)p->limit_ns / 1e6, "within", (json_int_t)p->within,
                     "share", p->share, "share_ci95", interval(&p->ci95), "slo",
                     p->is_slo);
}

static json_t *curve(const struct curve *c)
{
    struct curve_point points[CURVE_MAX];
    size_t n = curve_points(c, points);
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, point(&points[i]));
    return json_pack("{ss, sI, so}", "measure", measure_name(c->measure), "n",
                     (json_int_t)curve_n(c), "points", list);
}

void json_put_goodput(json_t *o, const struct summary *s)
{
    json_object_set_new(o, "misses", misses(&s->misses));
    if (s->fluid.is_there)
        json_object_set_new(o, "fluidity", fluidity(&s->fluid));
    else
        json_put_nothing(o, "fluidity",
                         "needs streams, and limits of ttft and of tpot, gap "
                         "or itl");
    if (s->cost.is_there)
        json_object_set_new(o, "cost", cost(s));
    else
        json_put_nothing(o, "cost", "no price was given (cost.usd_per_hour)");
    if (s->curve)
        json_object_set_new(o, "curve", curve(s->curve));
}
