#include "common/stats/hist.h"

#include <hdr/hdr_histogram.h>
#include <stdlib.h>

#include "common/stats/intervals.h"

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

/* Value of the rank-th smallest, from 1: the middle of its bucket.  The counts
 * are read as they lie: HdrHistogram_c's own iterator takes 20 times as long,
 * which was half of a report. */
static int64_t value_at_rank(const struct hist *h, int64_t rank)
{
    int64_t seen = 0;

    for (int32_t i = 0; i < h->hdr->counts_len; i++) {
        seen += h->hdr->counts[i];
        if (seen >= rank) {
            int64_t value = hdr_value_at_index(h->hdr, i);
            int64_t middle = hdr_median_equivalent_value(h->hdr, value);

            return middle < h->max_ns ? middle : h->max_ns;
        }
    }
    return h->max_ns;
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
    if (h->n > 0 && h->n < stats_least_n(q))
        return HIST_TOO_FEW;
    return hist_rank_quantile(h, q);
}

/* Why there is neither a mean nor a maximum; 0 if there is. */
static int lacks(const struct hist *h)
{
    if (h->n == 0)
        return HIST_EMPTY;
    if (h->beyond > h->out_of_range)
        return HIST_BEYOND;
    return h->beyond > 0 ? HIST_OUT_OF_RANGE : 0;
}

double hist_mean_ns(const struct hist *h)
{
    return lacks(h) ? lacks(h) : h->sum_ns / (double)h->n;
}

int64_t hist_max_ns(const struct hist *h)
{
    return lacks(h) ? lacks(h) : h->max_ns;
}
