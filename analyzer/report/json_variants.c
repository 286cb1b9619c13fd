/* A study with variants as JSON. */
#include <jansson.h>
#include <math.h>

#include "analyzer/report/json_parts.h"
#include "analyzer/report/variants_report.h"
#include "analyzer/studies/variants.h"
#include "common/base/buf.h"
#include "common/base/json.h"

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *known(double x, double scale)
{
    return x >= 0 ? number(x * scale) : json_null();
}

static json_t *range(const struct uncertain *u, double scale)
{
    return u->has_range ? json_pack("[oo]", number(u->range.low * scale),
                                    number(u->range.high * scale))
                        : json_null();
}

static json_t *parts(const struct server_parts *p)
{
    if (p->from == PARTS_NONE)
        return json_null();
    return json_pack("{so, so, so, ss}", "queue_ms", known(p->queue_ns, 1e-6),
                     "work_ms", known(p->work_ns, 1e-6), "batch",
                     known(p->batch, 1), "from", parts_from_name(p->from));
}

static json_t *cell(const struct variants_summary *s,
                    const struct variant_cell *c)
{
    json_t *o = json_pack("{sI, sI}", "runs", (json_int_t)c->runs, "counted",
                          (json_int_t)c->counted);

    if (c->counted == 0)
        return o;
    json_put_ns(o, "p50", c->latency_ns.value);
    json_object_set_new(o, "p50_ci95_ms", range(&c->latency_ns, 1e-6));
    json_put_ns(o, "p99", c->tail_ns);
    json_object_set_new(o, "offered_rps", number(c->offered_rps));
    json_object_set_new(o, "throughput_rps", number(c->throughput_rps.value));
    json_object_set_new(o, "throughput_ci95", range(&c->throughput_rps, 1));
    json_object_set_new(o, "goodput_rps", number(c->goodput_rps.value));
    json_object_set_new(o, "goodput_ci95", range(&c->goodput_rps, 1));
    json_object_set_new(o, "attainment", number(c->attainment));
    if (s->has_tokens)
        json_object_set_new(o, "output_tokens_per_s", number(c->tokens_per_s));
    if (s->has_cost)
        json_object_set_new(o, "usd_per_1000_good",
                            known(c->usd_per_1000_good, 1));
    json_object_set_new(o, "verdict", json_string(verdict_name(c->verdict)));
    json_object_set_new(o, "overloaded", json_boolean(c->is_overloaded));
    json_object_set_new(o, "server", parts(&c->parts));
    return o;
}

static json_t *place(const struct variants_summary *s,
                     const struct variant_place *p)
{
    return json_pack(
        "{ss, so}", "variant", s->list[p->variant].entry->name, "rank",
        p->rank > 0 ? json_integer((json_int_t)p->rank) : json_null());
}

static json_t *capacity(const struct variants_summary *s,
                        const struct capacity *c)
{
    if (!c->is_present)
        return json_null();
    return json_pack("{so, so, s[oo], sb, so, ss*, ss, ss}",
                     s->is_rate ? "capacity_rps" : "capacity", number(c->value),
                     "confidence",
                     c->is_bracket ? json_null() : json_real(SEARCH_CONFIDENCE),
                     "range", number(c->range.low), number(c->range.high),
                     "is_bracket", c->is_bracket, "usd_per_1000",
                     known(c->usd_per_1000, 1), "binding",
                     c->binding[0] ? c->binding : NULL, "outcome",
                     search_outcome_name(c->outcome), "why", c->why);
}

static json_t *capacities(const struct variants_summary *s)
{
    json_t *list = json_array();

    for (size_t i = 0; s->has_capacity && i < s->set.n; i++)
        json_array_append_new(list, place(s, &s->capacities[i]));
    return list;
}

static json_t *variants(const struct variants_summary *s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->set.n; i++) {
        const struct variant *v = &s->list[i];
        json_t *points = json_array();

        for (size_t k = 0; k < s->n_values; k++) {
            json_t *o = json_pack("{so}", "value", number(s->values[k]));

            json_object_update_new(o, cell(s, &v->cells[k]));
            json_array_append_new(points, o);
        }
        json_array_append_new(
            list,
            json_pack("{ss, ss*, ss*, ss*, so, so}", "name", v->entry->name,
                      "says", v->says, "failed",
                      v->entry->failed[0] ? v->entry->failed : NULL,
                      "not_counted", v->distrust[0] ? v->distrust : NULL,
                      "capacity", capacity(s, &v->capacity), "points", points));
    }
    return list;
}

static json_t *rankings(const struct variants_summary *s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->n_values; i++) {
        json_t *order = json_array();

        for (size_t k = 0; k < s->set.n; k++)
            json_array_append_new(order,
                                  place(s, &s->places[i * s->set.n + k]));
        json_array_append_new(list,
                              json_pack("{so, so}", "value",
                                        number(s->values[i]), "order", order));
    }
    return list;
}

static json_t *crossovers(const struct variants_summary *s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->n_crossings; i++) {
        const struct crossover *x = &s->crossings[i];

        json_array_append_new(
            list, json_pack("{ss, ss, so, s[oo], ss}", "ahead_below",
                            s->list[x->early].entry->name, "ahead_above",
                            s->list[x->late].entry->name, "at", number(x->at),
                            "between", number(s->values[x->from]),
                            number(s->values[x->to]), "why", x->why));
    }
    return list;
}

void variants_json(const struct variants_summary *s, struct buf *out)
{
    json_t *o = json_pack(
        "{si, ss, ss, ss, ss, ss, ss, so, so, so, so, sb}", "schema", 1, "kind",
        "variants", "of", study_kind_name(s->set.of), "name",
        s->title ? s->title : "", "slo", s->terms ? s->terms : "", "measure",
        measure_name(s->measure), "varied", s->key[0] ? s->key : "load.rate",
        "variants", variants(s), "rankings", rankings(s), "capacity_ranking",
        capacities(s), "crossovers", crossovers(s), "interrupted",
        s->set.stopped_by != 0);

    json_print(o, out);
    json_decref(o);
}
