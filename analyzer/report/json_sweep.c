/* summary.json of a sweep.  Keys are those of a run's summary; each value has
 * the medians of its runs. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/json_parts.h"
#include "analyzer/report/sweep_report.h"
#include "analyzer/studies/sweep.h"
#include "common/base/buf.h"
#include "common/base/json.h"

#define SWEEP_SCHEMA 1

static json_t *measure(const double *quantile_ns)
{
    json_t *o = json_object();

    for (int q = 0; q < SUMMARY_QUANTILES; q++)
        json_put_ns(o, summary_quantile_name[q], quantile_ns[q]);
    return o;
}

static json_t *run(const struct sweep_summary *s, const struct sweep_point *p)
{
    char *dir = study_point_path(".", p->at);
    json_t *o = json_pack("{ss, sI, so, ss, sb}", "dir", dir + strlen("./"),
                          "repeat", (json_int_t)p->at->repeat, "seed",
                          json_sprintf("%llu", (unsigned long long)p->run.seed),
                          "verdict", verdict_name(p->run.verdict), "counted",
                          p->counts);

    (void)s;
    free(dir);
    if (p->run.distrust[0])
        json_object_set_new(o, "not_trusted", json_string(p->run.distrust));
    if (p->run.stopped_by)
        json_object_set_new(o, "interrupted", json_true());
    return o;
}

/* Of one of them the median is not known: why not? */
static const char *why_without(const struct sweep_summary *s,
                               const struct sweep_value *v, enum trial_rate r)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct sweep_point *p = &s->points[i];

        if (p->counts && p->at->value == v->value && isnan(p->run.rate[r]))
            return trial_why_without(&p->run, r);
    }
    return "not known";
}

static void put_rates(const struct sweep_summary *s,
                      const struct sweep_value *v, json_t *o)
{
    for (int i = 0; i < TRIAL_RATES; i++) {
        enum trial_rate r = (enum trial_rate)i;

        if (isfinite(v->rate[r]))
            json_object_set_new(o, trial_rate_name(r), json_real(v->rate[r]));
        else
            json_put_nothing(o, trial_rate_name(r), why_without(s, v, r));
    }
}

static json_t *value(const struct sweep_summary *s, const struct sweep_value *v)
{
    json_t *o = json_pack("{sf}", "value", v->value);
    json_t *runs = json_array();
    json_t *measures = json_object();

    if (v->counted > 0) {
        put_rates(s, v, o);
        json_object_set_new(o, "overloaded", json_boolean(v->is_overloaded));
        json_object_set_new(o, "verdict",
                            json_string(verdict_name(v->verdict)));
    } else {
        json_put_nothing(o, "verdict", "no run at it is to be trusted");
    }
    for (int m = 0; v->counted > 0 && m < MEASURE_COUNT; m++) {
        if (v->quantile_ns[m][0] != HIST_EMPTY)
            json_object_set_new(measures, measure_name((enum measure)m),
                                measure(v->quantile_ns[m]));
    }
    json_object_set_new(o, "measures", measures);
    for (size_t i = 0; i < s->n; i++) {
        if (s->points[i].at->value == v->value)
            json_array_append_new(runs, run(s, &s->points[i]));
    }
    json_object_set_new(o, "runs", runs);
    return o;
}

static void put_mark(json_t *o, const char *name, const struct sweep_value *v,
                     const char *why_not)
{
    if (v)
        json_object_set_new(o, name, json_real(v->value));
    else
        json_put_nothing(o, name, why_not);
}

json_t *sweep_to_json(const struct sweep_summary *s)
{
    json_t *o = json_pack(
        "{si, ss, ss, ss, sI, sI, sI, sb}", "schema", SWEEP_SCHEMA, "kind",
        "sweep", "key", s->set.key, "unit", s->set.unit, "planned",
        (json_int_t)s->set.len, "recorded", (json_int_t)s->n, "withdrawn",
        (json_int_t)s->withdrawn, "interrupted", s->set.stopped_by != 0);
    json_t *terms = json_array();
    json_t *values = json_array();

    for (size_t i = 0; i < s->terms.len; i++)
        json_array_append_new(terms, json_string(s->terms.items[i]));
    json_object_set_new(o, "slo", terms);
    put_mark(o, "knee", s->knee, "not a load");
    put_mark(o, "saturation", s->saturation,
             s->is_load ? "not reached" : "not a load");
    put_mark(o, "best_goodput", s->best, "no run is to be trusted");
    put_mark(o, "within_slo", s->within,
             s->terms.len > 0 ? "the lowest value misses it"
                              : "no SLO was given");
    json_object_set_new(o, "most_throughput_rps", json_real(s->most_rps));
    for (size_t i = 0; i < s->n_values; i++)
        json_array_append_new(values, value(s, &s->values[i]));
    json_object_set_new(o, "values", values);
    return o;
}

void sweep_json(const struct sweep_summary *s, struct buf *out)
{
    json_t *json = sweep_to_json(s);

    json_print(json, out);
    json_decref(json);
}
