/* Every second a line, by when requests were due, the warm-up included: for a
 * plot over time.  A percentile is nearest rank, however few there are; it is
 * inf among failures, and empty where nothing was due. */
#include "analyzer/report/report.h"

#include "analyzer/read/seconds.h"
#include "common/base/buf.h"

static void put_header(const struct summary *s, int64_t start_ns,
                       struct buf *out)
{
    (void)s;
    (void)start_ns;
    buf_adds(out, "start_s,length_s,scheduled,measured,issued,ok,failed,good,"
                  "in_flight,e2e_p50_ms,e2e_p99_ms,ttft_p50_ms,ttft_p99_ms,"
                  "output_tokens,bytes_in,bytes_out\n");
}

static void put_quantile(const struct hist *h, double q, struct buf *out)
{
    int64_t ns = hist_rank_quantile(h, q);

    if (ns >= 0)
        buf_addf(out, "%.6f,", (double)ns / 1e6);
    else
        buf_adds(out, ns == HIST_EMPTY ? "," : "inf,");
}

static int put_second(const struct second *s, struct buf *out, struct err *err)
{
    (void)err;
    buf_addf(out, "%.3f,%.3f,%lld,%lld,%lld,%lld,%lld,%lld,%lld,",
             (double)s->start_ns / 1e9, (double)(s->end_ns - s->start_ns) / 1e9,
             (long long)s->scheduled, (long long)s->measured,
             (long long)s->issued, (long long)s->ok, (long long)s->failed,
             (long long)s->good, (long long)s->in_flight);
    put_quantile(&s->hist[MEASURE_E2E], 0.5, out);
    put_quantile(&s->hist[MEASURE_E2E], 0.99, out);
    put_quantile(&s->hist[MEASURE_TTFT], 0.5, out);
    put_quantile(&s->hist[MEASURE_TTFT], 0.99, out);
    buf_addf(out, "%lld,%.0f,%.0f\n", (long long)s->tokens, s->bytes_in,
             s->bytes_out);
    return 0;
}

const struct report_ops report_seconds = {
    .name = "seconds",
    .render_header = put_header,
    .render_second = put_second,
    .second_measures = 1U << MEASURE_E2E | 1U << MEASURE_TTFT,
};
