/* The classes of a mix in the JSON report: the names are those of the total. */
#include <jansson.h>

#include "analyzer/report/json_parts.h"
#include "analyzer/tally/summary.h"

static void put_rate(json_t *o, const char *name, const struct summary *s,
                     double rate)
{
    if (s->window_length_s > 0)
        json_object_set_new(o, name, json_real(rate));
    else
        json_put_nothing(o, name, "the window is empty");
}

static void put_attainment(json_t *o, const struct class_summary *c)
{
    if (c->scheduled == 0) {
        json_put_nothing(o, "attainment", "no samples");
        json_put_nothing(o, "attainment_ci95", "no samples");
        return;
    }
    json_object_set_new(o, "attainment", json_real(c->attainment));
    json_object_set_new(
        o, "attainment_ci95",
        json_pack("[f, f]", c->attainment_ci95.low, c->attainment_ci95.high));
}

static json_t *measures(const struct class_summary *c)
{
    json_t *all = json_object();

    for (int m = 0; m < MEASURE_COUNT; m++) {
        if (!measure_is_pooled((enum measure)m))
            json_object_set_new(all, measure_name((enum measure)m),
                                json_spread(&c->spread[m]));
    }
    return all;
}

static json_t *class_to_json(const struct summary *s,
                             const struct class_summary *c)
{
    json_t *o = json_pack(
        "{ss, sf, ss, s{sI, sI, sI, sI, sI, sI}}", "name", c->name, "share",
        c->share, "verdict", verdict_name(c->judgement.verdict), "requests",
        "scheduled", (json_int_t)c->scheduled, "issued", (json_int_t)c->issued,
        "unsent", (json_int_t)c->unsent, "ok", (json_int_t)c->ok, "failed",
        (json_int_t)c->failed, "good", (json_int_t)c->good);

    put_rate(o, "offered_rps", s, c->offered_rps);
    put_rate(o, "throughput_rps", s, c->throughput_rps);
    put_rate(o, "goodput_rps", s, c->goodput_rps);
    put_attainment(o, c);
    json_object_set_new(o, "measures", measures(c));
    json_object_set_new(o, "slo", json_terms(&c->judgement));
    json_put_tiers(o, &c->tiers, c->scheduled > 0);
    return o;
}

void json_put_classes(json_t *o, const struct summary *s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->n_classes; i++)
        json_array_append_new(list, class_to_json(s, &s->classes[i]));
    json_object_set_new(o, "classes", list);
}
