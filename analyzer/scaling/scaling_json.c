/* A scaling study as data: every number of the text, and no other. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "analyzer/scaling/scaling.h"
#include "common/base/buf.h"
#include "common/base/json.h"

#define SCALING_SCHEMA 1

static json_t *text(const char *s)
{
    return json_bytes(s, strlen(s));
}

static json_t *texts(const struct strlist *list)
{
    json_t *array = json_array();

    for (size_t i = 0; i < list->len; i++)
        json_array_append_new(array, text(list->items[i]));
    return array;
}

/* null: not known, or without end. */
static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *count(int64_t k)
{
    return k > 0 ? json_integer((json_int_t)k) : json_null();
}

static json_t *range(const struct uncertain *u)
{
    return u->has_range ? json_pack("[o, o]", number(u->range.low),
                                    number(u->range.high))
                        : json_null();
}

static json_t *yes(enum scale_answer a)
{
    return a == SCALE_UNKNOWN ? json_null() : json_boolean(a == SCALE_YES);
}

static json_t *gate_json(const struct quality_check *g)
{
    static const char *const names[] = {
        [QUALITY_UNKNOWN] = "unknown",
        [QUALITY_HELD] = "held",
        [QUALITY_DRIFTED] = "drifted",
        [QUALITY_NOT_SHOWN] = "not shown",
    };

    return json_pack(
        "{ss, so, so, so}", "verdict", names[g->verdict], "drift",
        g->verdict == QUALITY_UNKNOWN ? json_null() : number(g->drift.value),
        "drift_ci95", range(&g->drift), "answers_needed", number(g->needed));
}

static void put_speed(json_t *json, const struct scaling *s,
                      const struct scale_point *p)
{
    bool is_capacity = s->ask.regime == SCALE_CAPACITY;

    json_object_set_new(json, "seconds",
                        is_capacity ? json_null() : number(p->mean_s));
    json_object_set_new(json, "seconds_ci95",
                        is_capacity ? json_null() : range(&p->time_s));
    json_object_set_new(json, "std_seconds", number(p->std_s));
    json_object_set_new(json, "runs", number(p->runs));
    json_object_set_new(json, "capacity_rps",
                        is_capacity ? number(1 / p->mean_s) : json_null());
    json_object_set_new(json, "speedup", number(p->speedup.value));
    json_object_set_new(json, "speedup_ci95", range(&p->speedup));
    json_object_set_new(json,
                        is_capacity ? "capacity_efficiency" : "efficiency",
                        number(p->efficiency.value));
    json_object_set_new(
        json, is_capacity ? "capacity_efficiency_ci95" : "efficiency_ci95",
        range(&p->efficiency));
    json_object_set_new(json, "below_threshold", json_boolean(p->is_below));
    json_object_set_new(json, "law_speedup", number(p->law_speedup));
    json_object_set_new(json, "usl_speedup", number(p->usl_speedup));
}

static json_t *point_json(const struct scaling *s, const struct scale_point *p)
{
    json_t *json = json_pack("{sI, so, so}", "k", (json_int_t)p->k, "config",
                             text(p->config), "where", text(p->where));

    put_speed(json, s, p);
    json_object_set_new(json, "work", number(p->work));
    json_object_set_new(json, "units_per_s", number(p->units_per_s));
    json_object_set_new(json, "p50_ms", number(p->p50_ms));
    json_object_set_new(json, "p99_ms", number(p->p99_ms));
    json_object_set_new(json, "slo_met", yes(p->keeps_slo));
    json_object_set_new(json, "quality", number(p->quality));
    json_object_set_new(json, "quality_gate", gate_json(&p->quality_check));
    json_object_set_new(json, "excluded",
                        json_boolean(!quality_allows(&p->quality_check)));
    json_object_set_new(json, "usd_per_run", number(p->usd));
    json_object_set_new(json, "usd_per_unit", number(p->usd_per_unit));
    json_object_set_new(json, "units_per_usd", number(p->units_per_usd));
    json_object_set_new(json, "joules_per_unit", number(p->joules_per_unit));
    json_object_set_new(json, "mfu", number(p->mfu));
    return json;
}

static json_t *points_json(const struct scaling *s)
{
    json_t *list = json_array();

    for (size_t i = 0; s->refusals.len == 0 && i < s->n; i++)
        json_array_append_new(list, point_json(s, &s->points[i]));
    return list;
}

static json_t *law_json(const struct scaling *s, bool is_gustafson)
{
    const struct serial_law *l = &s->law;
    json_t *json;

    if (!l->is_fitted || is_gustafson != (s->ask.regime == SCALE_WEAK))
        return json_null();
    json = json_pack("{so, so, so}", "serial_fraction", number(l->serial.value),
                     "serial_fraction_ci95", range(&l->serial), "residual",
                     number(l->residual));
    if (!is_gustafson) {
        json_object_set_new(json, "ceiling", number(l->ceiling));
        json_object_set_new(json, "half_efficiency_k", number(l->half_k));
    }
    return json;
}

static json_t *usl_json(const struct usl *u)
{
    if (!u->is_fitted)
        return json_null();
    return json_pack(
        "{so, so, so, so, so, so, so, so, sb}", "scale", number(u->scale),
        "contention", number(u->alpha.value), "contention_ci95",
        range(&u->alpha), "coherency", number(u->beta.value), "coherency_ci95",
        range(&u->beta), "peak_k", number(u->peak_k.value), "peak_k_ci95",
        range(&u->peak_k), "residual", number(u->residual), "hint", u->is_hint);
}

static json_t *bend_json(const struct scaling *s)
{
    if (s->refusals.len > 0)
        return json_null();
    return json_pack("{so, ss, ss}", "k", count(s->bend.k), "guess",
                     bend_cause_name(s->bend.cause), "evidence",
                     s->bend.evidence);
}

static json_t *flags_json(const struct scaling *s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->n_flags; i++)
        json_array_append_new(list,
                              json_pack("{ss, ss}", "name", s->flags[i].name,
                                        "says", s->flags[i].says));
    return list;
}

static json_t *items_json(const struct scaling *s)
{
    json_t *list = json_array();

    for (size_t i = 0; s->refusals.len == 0 && i < SCALE_ITEMS; i++)
        json_array_append_new(list, json_pack("{ss, sb, so}", "name",
                                              s->items[i].name, "present",
                                              s->items[i].is_present, "says",
                                              text(s->items[i].says)));
    return list;
}

static json_t *verdict_json(const struct scaling *s)
{
    const struct scale_verdict *v = &s->verdict;

    return json_pack("{so, so, so, so, so, sb}", "recommended_k",
                     count(v->recommended_k), "efficient_k",
                     count(v->efficient_k), "first_below_k",
                     count(v->first_below), "cheapest_k", count(v->cheapest_k),
                     "least_energy_k", count(v->thriftiest_k),
                     "efficiency_shown", v->is_shown);
}

static const char *answer(const struct scaling *s)
{
    if (s->refusals.len > 0)
        return "refused";
    return s->verdict.recommended_k > 1 ? "scales" : "does not scale";
}

void scaling_render_json(const struct scaling *s, struct buf *out)
{
    json_t *json = json_pack(
        "{si, ss, so, so, ss, so, so, so}", "schema", SCALING_SCHEMA, "answer",
        answer(s), "refusals", texts(&s->refusals), "verdict", verdict_json(s),
        "regime", scale_regime_name(s->ask.regime), "unit", text(s->unit),
        "efficiency_threshold", number(s->ask.threshold), "quality_tolerance",
        number(s->ask.tolerance));

    json_object_set_new(json, "quality_measured", json_boolean(s->has_quality));
    json_object_set_new(json, "largest_drift",
                        s->has_quality ? number(s->largest_drift)
                                       : json_null());
    json_object_set_new(json, "points", points_json(s));
    json_object_set_new(json, "amdahl", law_json(s, false));
    json_object_set_new(json, "gustafson", law_json(s, true));
    json_object_set_new(json, "usl", usl_json(&s->usl));
    json_object_set_new(json, "bend", bend_json(s));
    json_object_set_new(json, "red_flags", flags_json(s));
    json_object_set_new(json, "checklist", items_json(s));
    json_object_set_new(json, "notes", texts(&s->notes));
    json_print(json, out);
    json_decref(json);
}
