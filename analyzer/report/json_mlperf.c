/* The run by MLPerf's rules, in summary.json. */
#include "analyzer/report/json_parts.h"

#include <jansson.h>

#include "analyzer/tally/summary.h"

static json_t *proof(const struct mlperf_proof *p)
{
    json_t *o =
        json_pack("{ss, sf, sI, sI, sb}", "measure", measure_name(p->measure),
                  "percentile", p->percentile, "n", (json_int_t)p->n, "over",
                  (json_int_t)p->over, "proved", p->is_proved);

    if (p->limit_ns > 0) {
        json_put_ns(o, "limit", (double)p->limit_ns);
        json_object_set_new(o, "more_needed", json_integer(p->more_needed));
    } else {
        json_put_ns(o, "estimate", (double)p->estimate_ns);
    }
    return o;
}

void json_put_mlperf(json_t *o, const struct summary *s)
{
    const struct mlperf *m = &s->mlperf;
    json_t *early;
    json_t *breaks;
    json_t *all;

    if (!m->is_there)
        return;
    early = json_array();
    breaks = json_array();
    for (size_t i = 0; i < m->n_proofs; i++)
        json_array_append_new(early, proof(&m->proofs[i]));
    for (size_t i = 0; i < m->n_breaks; i++)
        json_array_append_new(breaks, json_string(m->breaks[i]));
    all = json_pack("{ss, ss, so, so}", "metric", m->metric, "division",
                    m->n_breaks == 0 ? "closed" : "open", "breaks", breaks,
                    "early_stopping", early);
    if (m->is_rate)
        json_object_set_new(all, "result_per_s", json_real(m->rate_rps));
    else
        json_put_ns(all, "result", (double)m->proofs[0].estimate_ns);
    json_object_set_new(o, "mlperf", all);
}
