/* The run by MLPerf's rules, for a person. */
#include "analyzer/report/text_parts.h"

#include "analyzer/tally/summary.h"
#include "common/base/buf.h"

static void put_result(const struct mlperf *m, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_addf(out, "mlperf     %s: ", m->metric);
    if (m->is_rate)
        buf_addf(out, "%.6g\n", m->rate_rps);
    else
        buf_addf(out, "%s\n",
                 text_show_ns((double)m->proofs[0].estimate_ns, text));
}

static void put_proof(const struct mlperf_proof *p, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_addf(out,
             "           early stopping, p%.9g of %s: ", 100 * p->percentile,
             measure_name(p->measure));
    if (p->is_beside && p->is_proved)
        buf_addf(out, "%s; ", text_show_ns((double)p->estimate_ns, text));
    if (p->limit_ns == 0 && p->is_proved)
        buf_addf(out, "%lld queries prove it, %lld of them slower\n",
                 (long long)p->n, (long long)p->over);
    else if (p->limit_ns == 0)
        buf_addf(out, "%lld queries are too few%s\n", (long long)p->n,
                 p->estimate_ns == HIST_TOO_FEW ? "" : " without a failure");
    else
        buf_addf(out, "%lld of %lld queries over %s%s", (long long)p->over,
                 (long long)p->n, text_show_ns((double)p->limit_ns, text),
                 p->is_proved ? " prove it\n" : "");
    if (p->limit_ns > 0 && !p->is_proved)
        buf_addf(out, ", %lld more within it would prove it\n",
                 (long long)p->more_needed);
}

void text_put_mlperf(const struct summary *s, struct buf *out)
{
    const struct mlperf *m = &s->mlperf;

    if (!m->is_there)
        return;
    put_result(m, out);
    for (size_t i = 0; i < m->n_proofs; i++)
        put_proof(&m->proofs[i], out);
    buf_adds(out, m->n_breaks == 0
                      ? "           would do for the closed division\n"
                      : "           open division, since it breaks rules of "
                        "the closed one:\n");
    for (size_t i = 0; i < m->n_breaks; i++)
        buf_addf(out, "             %s\n", m->breaks[i]);
}
