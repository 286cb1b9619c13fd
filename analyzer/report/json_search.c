/* summary.json of a search.  What is not known is null, with a note where the
 * reason is not that of the whole. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/json_parts.h"
#include "analyzer/report/search_report.h"
#include "analyzer/search/search_read.h"
#include "common/base/buf.h"
#include "common/base/json.h"

#define SEARCH_SCHEMA 1

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *range(struct interval i)
{
    return isfinite(i.low) || isfinite(i.high)
               ? json_pack("[oo]", number(i.low), number(i.high))
               : json_null();
}

/* "capacity_rps", or "capacity_clients". */
static void put_value(json_t *o, const struct search_summary *s,
                      const char *name, double value)
{
    char key[40];

    snprintf(key, sizeof(key), "%s_%s", name, s->has_rate ? "rps" : "clients");
    json_object_set_new(o, key, number(value));
}

static json_t *terms_of(const struct search_summary *s,
                        const struct search_result *r)
{
    json_t *array = json_array();

    for (size_t i = 0; i < r->n_terms; i++) {
        const struct search_counts *c = &r->terms[i];

        json_array_append_new(
            array,
            json_pack("{ss, sI, sI, so}", "term", s->terms.slo.terms[i].text,
                      "n", (json_int_t)c->n, "misses", (json_int_t)c->misses,
                      "miss_share",
                      c->n > 0 ? json_real((double)c->misses / (double)c->n)
                               : json_null()));
    }
    return array;
}

static json_t *measures_of(const struct trial *t)
{
    static const enum measure shown[] = {MEASURE_E2E, MEASURE_TTFT,
                                         MEASURE_TPOT};
    json_t *all = json_object();

    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        json_t *o = json_object();

        if (t->quantile_ns[shown[i]][0] == HIST_EMPTY) {
            json_decref(o);
            continue;
        }
        for (int q = 0; q < SUMMARY_QUANTILES; q++)
            json_put_ns(o, summary_quantile_name[q],
                        t->quantile_ns[shown[i]][q]);
        json_object_set_new(all, measure_name(shown[i]), o);
    }
    return all;
}

static json_t *probe(const struct search_summary *s,
                     const struct search_probe *p)
{
    const struct search_result *r = &p->result;
    char *dir = study_point_path(".", p->at);
    json_t *o = json_pack(
        "{ss, sf, sf, sf, sf, sI, sf, sf, sb, sb, ss?, ss}", "dir",
        dir + strlen("./"), "value", r->value, "offered_rps", r->offered_rps,
        "throughput_rps", r->throughput_rps, "goodput_rps",
        p->run.rate[TRIAL_GOODPUT], "requests", (json_int_t)r->requests,
        "window_s", (double)r->window_ns / 1e9, "took_s",
        (double)r->took_ns / 1e9, "overloaded", r->is_overloaded, "ended_early",
        r->ended_early, "set_aside", r->discarded, "verdict",
        verdict_name(p->run.verdict));

    free(dir);
    if (p->run.distrust[0])
        json_object_set_new(o, "not_trusted", json_string(p->run.distrust));
    json_object_set_new(o, "terms", terms_of(s, r));
    json_object_set_new(o, "measures", measures_of(&p->run));
    return o;
}

static void put_answer(json_t *o, const struct search_summary *s)
{
    const struct search_answer *a = &s->answer;

    put_value(o, s, "capacity", a->capacity);
    json_object_set_new(o, "capacity_ci90", range(a->ci));
    put_value(o, s, "confirmed", a->confirmed);
    json_object_set_new(o, "confirmed_met",
                        isfinite(a->confirmed) ? json_boolean(a->confirmed_met)
                                               : json_null());
    put_value(o, s, "at_least", a->at_least);
    put_value(o, s, "at_most", a->at_most);
    put_value(o, s, "client_limit", a->client_limit);
    json_object_set_new(o, "binding",
                        a->binding ? json_string(a->binding) : json_null());
    json_object_set_new(o, "miss_share_slope", number(a->slope));
    if (a->outcome == SEARCH_NOT_PROBED)
        json_object_set_new(o, "missing", range(a->missing));
}

json_t *search_to_json(const struct search_summary *s)
{
    const struct search_answer *a = &s->answer;
    json_t *o =
        json_pack("{si, ss, ss, ss, ss, sb}", "schema", SEARCH_SCHEMA, "kind",
                  "search", "by", s->has_rate ? "rate" : "concurrency",
                  "outcome", search_outcome_name(a->outcome), "why", a->why,
                  "interrupted", s->set.stopped_by != 0);
    json_t *slo = json_array();
    json_t *probes = json_array();

    for (size_t i = 0; i < s->terms.slo.len; i++)
        json_array_append_new(slo, json_string(s->terms.slo.terms[i].text));
    json_object_set_new(o, "slo", slo);
    put_answer(o, s);
    json_object_set_new(o, "set_aside", json_integer((json_int_t)a->discarded));
    json_object_set_new(o, "requests", json_integer(a->requests));
    json_object_set_new(o, "took_s", json_real((double)a->took_ns / 1e9));
    json_object_set_new(o, "calibration",
                        calibration_stamp_to_json(&s->calibration));
    for (size_t i = 0; i < s->n; i++)
        json_array_append_new(probes, probe(s, &s->probes[i]));
    json_object_set_new(o, "probes", probes);
    return o;
}

void search_json(const struct search_summary *s, struct buf *out)
{
    json_t *json = search_to_json(s);

    json_print(json, out);
    json_decref(json);
}
