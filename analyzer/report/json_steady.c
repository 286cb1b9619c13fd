/* The state of the run, and how sure its quantiles are, in summary.json. */
#include "analyzer/report/json_parts.h"

#include <jansson.h>

#include "analyzer/tally/summary.h"

static json_t *interval(const struct interval *i, double unit)
{
    return json_pack("[f, f]", i->low / unit, i->high / unit);
}

static void put_overloaded(json_t *o, const struct load_judgement *l)
{
    if (l->state == LOAD_UNKNOWN)
        json_put_nothing(o, "overloaded", l->why ? l->why : "not known");
    else
        json_object_set_new(o, "overloaded",
                            json_boolean(l->state == LOAD_OVER));
}

static json_t *warmup(const struct summary *s)
{
    const struct warmup_found *w = &s->steady.warmup;
    json_t *o =
        json_pack("{ss, sf}", "method", "MSER-5", "asked_s", s->warmup_s);

    if (w->is_found)
        json_object_set_new(o, "found_s", json_real(w->found_s));
    else
        json_put_nothing(o, "found_s", w->why ? w->why : "not known");
    json_object_set_new(o, "mean_shift", json_real(w->shift));
    json_object_set_new(o, "suggested_s",
                        w->suggested_s > 0 ? json_real(w->suggested_s)
                                           : json_null());
    return o;
}

static json_t *in_flight(const struct load_judgement *l)
{
    const struct overload *v = &l->overload;
    json_t *o;

    if (!l->has_flight)
        return json_null();
    o = json_pack("{sf, sf, sf, sI, sf, sb, sf, sf, sf, sf, sf}", "mean",
                  l->in_flight, "first_tenth", l->first, "last_tenth", l->last,
                  "blocks", (json_int_t)v->blocks, "trend_p", v->p, "rising",
                  v->is_rising, "growth", v->growth, "rise", v->rise,
                  "explained", v->explained, "chance", v->chance, "arrivals",
                  v->arrivals);
    if (v->has_ci95)
        json_object_set_new(o, "growth_ci95", interval(&v->ci95, 1));
    else
        json_put_nothing(o, "growth_ci95", "n too small");
    return o;
}

static json_t *little(const struct load_judgement *l)
{
    if (!l->has_little)
        return json_null();
    return json_pack("{sf, sf, sf, sb}", "in_flight", l->in_flight, "expected",
                     l->little.expected, "off", l->little.off, "holds",
                     l->little.holds);
}

static json_t *halves(const struct halves *h)
{
    json_t *o = json_object();

    if (h->why) {
        json_put_nothing(o, "drifts", h->why);
        return o;
    }
    json_object_set_new(o, "drifts", json_boolean(h->is_drifting));
    json_put_ns(o, "first", h->drift.first);
    json_put_ns(o, "second", h->drift.second);
    json_object_set_new(o, "blocks", json_integer((json_int_t)h->blocks));
    json_object_set_new(o, "difference_ms",
                        json_real(h->drift.difference.value / 1e6));
    json_object_set_new(o, "interval_ms",
                        interval(&h->drift.difference.range, 1e6));
    json_object_set_new(o, "confidence", json_real(STEADY_CONFIDENCE));
    json_object_set_new(o, "relative", json_real(h->drift.relative));
    return o;
}

static void put_shift(json_t *o, const char *name, bool is_known, double shift)
{
    if (is_known)
        json_object_set_new(o, name, json_real(shift));
    else
        json_put_nothing(o, name, "n too small");
}

static json_t *cold(const struct cold *c)
{
    json_t *o = json_pack("{sI, sI}", "requests", (json_int_t)c->requests, "ok",
                          (json_int_t)c->ok);

    json_put_ns(o, "mean", c->mean_ns);
    json_put_ns(o, "p99", (double)c->p99_ns);
    json_put_ns(o, "max", (double)c->max_ns);
    json_put_ns(o, "mean_with", c->mean_with_ns);
    json_put_ns(o, "p99_with", (double)c->p99_with_ns);
    put_shift(o, "mean_shift", c->has_shift, c->mean_shift);
    put_shift(o, "p99_shift", c->has_p99_shift, c->p99_shift);
    return o;
}

static json_t *within(const struct within *w)
{
    json_t *o = json_pack("{ss, ss, sI}", "measure", measure_name(w->measure),
                          "quantile", w->name, "n", (json_int_t)w->n);

    json_put_ns(o, "value", (double)w->value_ns);
    if (w->section.verdict == SECTION_KNOWN)
        json_object_set_new(o, "ci95_ms",
                            interval(&w->section.quantile.range, 1e6));
    else
        json_put_nothing(o, "ci95_ms",
                         w->section.verdict == SECTION_BEYOND
                             ? "beyond failures"
                             : "n too small");
    if (w->n_effective > 0)
        json_object_set_new(o, "n_effective", json_real(w->n_effective));
    else
        json_put_nothing(o, "n_effective", "not known");
    return o;
}

void json_put_steady(json_t *o, const struct summary *s)
{
    const struct steady *st = &s->steady;
    json_t *list = json_array();

    put_overloaded(o, &st->load);
    for (size_t i = 0; i < st->n_within; i++)
        json_array_append_new(list, within(&st->within[i]));
    json_object_set_new(o, "steady",
                        json_pack("{ss, so, so, so, so, so, so}", "measure",
                                  measure_name(st->measure), "warmup",
                                  warmup(s), "in_flight", in_flight(&st->load),
                                  "little", little(&st->load), "halves",
                                  halves(&st->halves), "cold", cold(&st->cold),
                                  "within_run", list));
}
