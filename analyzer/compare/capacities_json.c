/* Searches against each other, for programs. */
#include <jansson.h>
#include <math.h>

#include "analyzer/compare/capacities.h"
#include "common/base/json.h"

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *range(const struct interval *i)
{
    json_t *a = json_array();

    json_array_append_new(a, number(i->low));
    json_array_append_new(a, number(i->high));
    return a;
}

static json_t *side(const struct capacity_side *s, bool is_first)
{
    json_t *o = json_object();

    json_object_set_new(o, "dir", json_string(s->dir));
    json_object_set_new(o, "capacity", number(s->capacity.value));
    json_object_set_new(o, "capacity_ci90", range(&s->capacity.range));
    json_object_set_new(o, "is_bracket", json_boolean(s->capacity.is_bracket));
    json_object_set_new(o, "outcome",
                        json_string(search_outcome_name(s->capacity.outcome)));
    json_object_set_new(o, "binding", json_string(s->capacity.binding));
    json_object_set_new(
        o, "usd_per_1000",
        number(s->capacity.usd_per_1000 > 0 ? s->capacity.usd_per_1000 : NAN));
    if (is_first)
        return o;
    json_object_set_new(o, "ratio",
                        s->has_ratio ? json_real(s->ratio) : json_null());
    json_object_set_new(o, "ratio_ci90",
                        s->has_ratio ? range(&s->range) : json_null());
    json_object_set_new(o, "verdict",
                        json_string(finding_verdict_name(s->verdict)));
    return o;
}

static json_t *difference(const struct difference *d)
{
    json_t *o = json_object();

    json_object_set_new(o, "key", json_string(d->key));
    json_object_set_new(o, "a", json_string(d->a));
    json_object_set_new(o, "b", json_string(d->b));
    json_object_set_new(o, "declared", json_boolean(d->is_declared));
    return o;
}

void capacities_json(const struct capacities *c, struct buf *out)
{
    json_t *sides = json_array();
    json_t *differences = json_array();
    json_t *o = json_object();

    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(sides, side(&c->sides[i], i == 0));
    for (size_t i = 0; i < c->differences.len; i++)
        json_array_append_new(differences, difference(&c->differences.list[i]));
    json_object_set_new(o, "quantity", json_string("capacity"));
    json_object_set_new(o, "answer",
                        json_string(compare_answer_name(c->answer)));
    json_object_set_new(o, "differences", differences);
    json_object_set_new(o, "sides", sides);
    json_print(o, out);
    json_decref(o);
}
