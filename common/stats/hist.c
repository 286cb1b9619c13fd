#include "common/stats/hist.h"

#include <hdr/hdr_histogram.h>
#include <hdr/hdr_histogram_log.h>
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/stats/stats.h"

#define DIGITS 3

void hist_fini(struct hist *h)
{
    if (h->hdr)
        hdr_close(h->hdr);
    *h = (struct hist){0};
}

void hist_reset(struct hist *h)
{
    struct hdr_histogram *hdr = h->hdr;

    if (hdr)
        hdr_reset(hdr);
    *h = (struct hist){.hdr = hdr};
}

void hist_add_beyond(struct hist *h, int64_t count)
{
    h->n += count;
    h->beyond += count;
}

static void need_memory(struct hist *h)
{
    if (!h->hdr && hdr_init(1, HIST_HIGHEST_NS, DIGITS, &h->hdr))
        abort(); /* out of memory */
}

void hist_add_all(struct hist *h, const struct hist *other)
{
    if (other->hdr) {
        need_memory(h);
        hdr_add(h->hdr, other->hdr);
    }
    h->n += other->n;
    h->beyond += other->beyond;
    h->out_of_range += other->out_of_range;
    h->sum_ns += other->sum_ns;
    if (other->max_ns > h->max_ns)
        h->max_ns = other->max_ns;
}

/* HdrHistogram_c does not check its own range. */
void hist_add_many(struct hist *h, int64_t ns, int64_t count)
{
    if (ns < 0 || ns > HIST_HIGHEST_NS) {
        h->out_of_range += count;
        hist_add_beyond(h, count);
        return;
    }
    need_memory(h);
    hdr_record_values(h->hdr, ns, count);
    h->n += count;
    h->sum_ns += (double)ns * (double)count;
    if (ns > h->max_ns)
        h->max_ns = ns;
}

void hist_add(struct hist *h, int64_t ns)
{
    hist_add_many(h, ns, 1);
}

/* The middle of a bucket. */
static int64_t value_in_bucket(const struct hist *h, int32_t i)
{
    int64_t value = hdr_value_at_index(h->hdr, i);
    int64_t middle = hdr_median_equivalent_value(h->hdr, value);

    return middle < h->max_ns ? middle : h->max_ns;
}

/* The rank-th smallest value, from 1: the middle of its bucket.  Reads the
 * counts directly: HdrHistogram_c's iterator takes 20 times as long, which was
 * half the time of a report. */
static int64_t value_at_rank(const struct hist *h, int64_t rank)
{
    int64_t seen = 0;

    for (int32_t i = 0; i < h->hdr->counts_len; i++) {
        seen += h->hdr->counts[i];
        if (seen >= rank)
            return value_in_bucket(h, i);
    }
    return h->max_ns;
}

void hist_at_ranks(const struct hist *h, const int64_t *ranks, size_t n,
                   int64_t *out)
{
    int64_t finite = h->n - h->beyond;
    int64_t seen = 0;
    int32_t i = -1;

    for (size_t k = 0; k < n; k++) {
        if (ranks[k] > finite || !h->hdr) {
            out[k] = hist_at_rank(h, ranks[k]);
            continue;
        }
        while (seen < ranks[k] && i + 1 < h->hdr->counts_len)
            seen += h->hdr->counts[++i];
        out[k] = value_in_bucket(h, i < 0 ? 0 : i);
    }
}

int64_t hist_count_below(const struct hist *h, int64_t ns)
{
    int64_t seen = 0;

    if (!h->hdr)
        return 0;
    for (int32_t i = 0; i < h->hdr->counts_len; i++) {
        if (h->hdr->counts[i] > 0 && hdr_value_at_index(h->hdr, i) >= ns)
            break;
        seen += h->hdr->counts[i];
    }
    return seen;
}

int64_t hist_at_rank(const struct hist *h, int64_t rank)
{
    int64_t finite = h->n - h->beyond;

    if (rank <= finite)
        return value_at_rank(h, rank);
    return rank <= finite + h->out_of_range ? HIST_OUT_OF_RANGE : HIST_BEYOND;
}

int64_t hist_rank_quantile(const struct hist *h, double q)
{
    return h->n > 0 ? hist_at_rank(h, stats_rank(q, h->n)) : HIST_EMPTY;
}

int64_t hist_quantile(const struct hist *h, double q)
{
    if (h->n > 0 && h->n < stats_min_n(q))
        return HIST_TOO_FEW;
    return hist_rank_quantile(h, q);
}

/* Why there is no mean and no maximum; 0 if there is. */
static int why_missing(const struct hist *h)
{
    if (h->n == 0)
        return HIST_EMPTY;
    if (h->beyond > h->out_of_range)
        return HIST_BEYOND;
    return h->beyond > 0 ? HIST_OUT_OF_RANGE : 0;
}

double hist_mean_ns(const struct hist *h)
{
    return why_missing(h) ? why_missing(h) : h->sum_ns / (double)h->n;
}

int64_t hist_max_ns(const struct hist *h)
{
    return why_missing(h) ? why_missing(h) : h->max_ns;
}

/* ---- export ---- */

#define STEPS_PER_HALVING 5

/* The histogram of `h`, or an empty one if it has no value yet. */
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

void hist_print_percentiles(const struct hist *h, double ns_per_unit,
                            struct buf *out)
{
    struct hdr_histogram *hdr = borrow(h);
    bool is_empty = hdr->total_count == 0;
    struct hdr_iter at;

    buf_addf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile",
             "TotalCount", "1/(1-Percentile)");
    hdr_iter_percentile_init(&at, hdr, STEPS_PER_HALVING);
    while (!is_empty && hdr_iter_next(&at)) {
        double share = at.specifics.percentiles.percentile / 100;

        buf_addf(out, "%12.6f %2.12f %10lld",
                 (double)at.highest_equivalent_value / ns_per_unit, share,
                 (long long)at.cumulative_count);
        if (share < 1) /* the format omits an infinite number */
            buf_addf(out, " %14.2f", 1 / (1 - share));
        buf_adds(out, "\n");
    }
    buf_addf(out,
             "#[Mean    = %12.6f, StdDeviation   = %12.6f]\n"
             "#[Max     = %12.6f, Total count    = %12lld]\n"
             "#[Buckets = %12d, SubBuckets     = %12d]\n",
             is_empty ? 0 : hdr_mean(hdr) / ns_per_unit,
             is_empty ? 0 : hdr_stddev(hdr) / ns_per_unit,
             is_empty ? 0 : (double)hdr_max(hdr) / ns_per_unit,
             (long long)hdr->total_count, hdr->bucket_count,
             hdr->sub_bucket_count);
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
                     "histogram logs are not available: HdrHistogram_c was "
                     "built without zlib");
    free(text);
    give_back(h, hdr);
    return rc;
}
