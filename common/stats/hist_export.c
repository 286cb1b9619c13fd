#include "common/stats/hist_export.h"

#include <hdr/hdr_histogram.h>
#include <hdr/hdr_histogram_log.h>
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/stats/hist.h"

#define STEPS_PER_HALVING 5

/* That of `h` or, where it has no value yet, an empty one. */
static struct hdr_histogram *borrow(const struct hist *h)
{
    struct hist empty = {0};

    if (h->hdr)
        return h->hdr;
    hist_add(&empty, 0);
    hdr_reset(empty.hdr);
    return empty.hdr;
}

static void give_back(const struct hist *h, struct hdr_histogram *hdr)
{
    if (!h->hdr)
        hdr_close(hdr);
}

/* The last line has no fourth column, as where this format comes from: there
 * the number would be infinite. */
static void put_line(const struct hdr_iter *at, double ns_per_unit,
                     struct buf *out)
{
    double share = at->specifics.percentiles.percentile / 100;

    buf_addf(out, "%12.6f %2.12f %10lld",
             (double)at->highest_equivalent_value / ns_per_unit, share,
             (long long)at->cumulative_count);
    if (share < 1)
        buf_addf(out, " %14.2f", 1 / (1 - share));
    buf_adds(out, "\n");
}

static void put_footer(const struct hdr_histogram *hdr, double ns_per_unit,
                       struct buf *out)
{
    bool is_empty = hdr->total_count == 0;
    double mean = is_empty ? 0 : hdr_mean(hdr);
    double deviation = is_empty ? 0 : hdr_stddev(hdr);
    double max = is_empty ? 0 : (double)hdr_max(hdr);

    buf_addf(out,
             "#[Mean    = %12.6f, StdDeviation   = %12.6f]\n"
             "#[Max     = %12.6f, Total count    = %12lld]\n"
             "#[Buckets = %12d, SubBuckets     = %12d]\n",
             mean / ns_per_unit, deviation / ns_per_unit, max / ns_per_unit,
             (long long)hdr->total_count, hdr->bucket_count,
             hdr->sub_bucket_count);
}

void hist_print_percentiles(const struct hist *h, double ns_per_unit,
                            struct buf *out)
{
    struct hdr_histogram *hdr = borrow(h);
    struct hdr_iter at;

    buf_addf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile",
             "TotalCount", "1/(1-Percentile)");
    hdr_iter_percentile_init(&at, hdr, STEPS_PER_HALVING);
    while (hdr->total_count > 0 && hdr_iter_next(&at))
        put_line(&at, ns_per_unit, out);
    put_footer(hdr, ns_per_unit, out);
    give_back(h, hdr);
}

int hist_encode(const struct hist *h, struct buf *out, struct err *err)
{
    struct hdr_histogram *hdr = borrow(h);
    char *text = NULL;
    int rc = hdr_log_encode(hdr, &text);

    if (rc == 0 && text)
        buf_adds(out, text);
    else
        rc = err_set(err, ERR_CONFIG,
                     "no histogram logs: HdrHistogram_c was built without "
                     "zlib here");
    free(text);
    give_back(h, hdr);
    return rc;
}
