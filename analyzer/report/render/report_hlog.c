/* HdrHistogram's log of intervals, version 1.3: a line a second of the window
 * and measure, by due.  Values are nanoseconds, maxima milliseconds, times
 * seconds after the start of the run.  Readers know values alone, so the
 * requests that have none stand in the header, the only place where all of them
 * take comments; nor do they take a line of more than 127 characters there. */
#include "analyzer/report/report.h"

#include "analyzer/read/seconds.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/stats/hist.h"

static void put_left_out(const struct summary *s, enum measure m,
                         struct buf *out)
{
    const struct spread *p = &s->spread[m][VIEW_DUE];

    if (measure_is_pooled(m) || p->failed + p->out_of_range == 0)
        return;
    buf_addf(out,
             "#[%s: left out %lld of %lld that failed, %lld longer than 1h]\n",
             measure_name(m), (long long)p->failed, (long long)p->n,
             (long long)p->out_of_range);
}

static void put_header(const struct summary *s, int64_t start_ns,
                       struct buf *out)
{
    double start_s = (double)start_ns / 1e9;
    char utc[32];

    clk_format_utc(start_ns, CLK_TEXT_FORMAT, utc, sizeof(utc));
    buf_adds(out, "#[Logged by tailgate: ns from due, by the second in which "
                  "requests were due]\n");
    for (int m = 0; m < MEASURE_COUNT; m++)
        put_left_out(s, (enum measure)m, out);
    buf_addf(out,
             "#[Histogram log format version 1.3]\n"
             "#[StartTime: %.3f (seconds since epoch), %s]\n"
             "#[BaseTime: %.3f (seconds since epoch)]\n",
             start_s, utc, start_s);
    buf_adds(out, "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
                  "\"Interval_Compressed_Histogram\"\n");
}

static int put_second(const struct second *s, struct buf *out, struct err *err)
{
    for (int m = 0; m < MEASURE_COUNT; m++) {
        const struct hist *h = &s->hist[m];

        if (h->n == h->beyond)
            continue;
        buf_addf(out, "Tag=%s,%.3f,%.3f,%.3f,", measure_name((enum measure)m),
                 (double)s->start_ns / 1e9,
                 (double)(s->end_ns - s->start_ns) / 1e9,
                 (double)h->max_ns / 1e6);
        if (hist_encode(h, out, err))
            return -1;
        buf_adds(out, "\n");
    }
    return 0;
}

const struct report_ops report_hlog = {
    .name = "hlog",
    .render_header = put_header,
    .render_second = put_second,
    .second_measures = UINT32_MAX,
    .is_of_window = true,
};
