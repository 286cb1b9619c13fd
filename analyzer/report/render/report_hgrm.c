/* One measure's percentile distribution, as HdrHistogram's tools print and plot
 * it.  They know values alone, so the requests that have none stand above. */
#include "analyzer/report/report.h"

#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/stats/hist.h"

static void render_hist(const struct summary *s, const struct kept_hist *kept,
                        struct buf *out)
{
    const struct hist *h = &kept->hist;

    buf_addf(
        out, "#[tailgate %s from %s, in ms; window from %.3f s for %.3f s]\n",
        measure_name(kept->measure), kept->view == VIEW_SENT ? "sent" : "due",
        s->window_start_s, s->window_length_s);
    buf_addf(out,
             "#[left out: %lld of %lld that failed, %lld longer than 1h; "
             "percentiles are of the others]\n",
             (long long)(h->beyond - h->out_of_range), (long long)h->n,
             (long long)h->out_of_range);
    hist_print_percentiles(h, 1e6, out);
}

const struct report_ops report_hgrm = {
    .name = "hgrm",
    .render_hist = render_hist,
};
