/* hist.h - a distribution of durations, in an HDR histogram.
 *
 * Failures rank after every value.  Percentiles are nearest rank ceil(q n) over
 * values and failures, with three significant digits from 1 ns to an hour.
 * Longer values are counted as out of range and rank between the values and the
 * failures.
 */
#ifndef COMMON_STATS_HIST_H
#define COMMON_STATS_HIST_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/clk.h"

struct buf;
struct err;
struct hdr_histogram;

/* n = values in the histogram + beyond, and failed = beyond - out_of_range.  A
 * zeroed struct is empty; memory is allocated with the first value. */
struct hist {
    struct hdr_histogram *hdr; /* owned; NULL: no value yet */
    int64_t n;
    int64_t beyond;       /* failed, or out of range */
    int64_t out_of_range; /* part of `beyond` */
    int64_t max_ns;       /* of the values, exact */
    double sum_ns;        /* of the values, exact */
};

#define HIST_HIGHEST_NS (3600 * NS_PER_S)

/* Results that are not a number of nanoseconds. */
#define HIST_BEYOND       (-1) /* among the failures */
#define HIST_TOO_FEW      (-2) /* n is too small to bound the quantile */
#define HIST_EMPTY        (-3)
#define HIST_OUT_OF_RANGE (-4) /* among the values out of range */

void hist_fini(struct hist *h);

/* Empty it, keep the memory. */
void hist_reset(struct hist *h);
void hist_add(struct hist *h, int64_t ns);

/* Add the same value `count` times, at least once. */
void hist_add_many(struct hist *h, int64_t ns, int64_t count);

/* Add failures. */
void hist_add_beyond(struct hist *h, int64_t count);

/* Add everything that another one holds. */
void hist_add_all(struct hist *h, const struct hist *other);

/* Nanoseconds, or one of the codes above. */
int64_t hist_quantile(const struct hist *h, double q);

/* The same, even if n is too small. */
int64_t hist_rank_quantile(const struct hist *h, double q);

/* The rank-th smallest, from 1.  A rank above n is HIST_BEYOND. */
int64_t hist_at_rank(const struct hist *h, int64_t rank);

/* The same for `n` ranks that do not descend, in one pass over the counts. */
void hist_at_ranks(const struct hist *h, const int64_t *ranks, size_t n,
                   int64_t *out);

/* Number of values below `ns`, to the three digits of the histogram: a bucket
 * that begins below counts as a whole. */
int64_t hist_count_below(const struct hist *h, int64_t ns);

/* Mean and maximum if there are only values; else HIST_EMPTY, HIST_BEYOND or,
 * if nothing failed, HIST_OUT_OF_RANGE. */
double hist_mean_ns(const struct hist *h);
int64_t hist_max_ns(const struct hist *h);

/* ---- formats of HdrHistogram's own tools, which hold only the values ---- */

/* Append the percentile distribution (.hgrm): Value, Percentile, TotalCount and
 * 1/(1-Percentile), five steps per halving of the remainder, and a footer.
 * Values are divided by ns_per_unit; mean, deviation and maximum are computed
 * from the buckets. */
void hist_print_percentiles(const struct hist *h, double ns_per_unit,
                            struct buf *out);

/* Append the compressed V2 encoding in base64, for an interval log in
 * nanoseconds.  -1 (ERR_CONFIG) if HdrHistogram_c was built without zlib. */
int hist_encode(const struct hist *h, struct buf *out, struct err *err);

#endif
