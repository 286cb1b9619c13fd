/* hist.h - a distribution of durations, in an HDR histogram.
 *
 * Failures sit beyond every value.  Percentiles are nearest rank ceil(q n) over
 * all of it; three significant digits, 1 ns to an hour.  What is longer is
 * counted as out of range and lies between the values and the failures.
 */
#ifndef COMMON_STATS_HIST_H
#define COMMON_STATS_HIST_H

#include <stdint.h>

#include "common/base/clk.h"

struct buf;
struct err;
struct hdr_histogram;
struct hist;

/* n = in the histogram + beyond, and failed = beyond - out_of_range.  All zero
 * is an empty one; the memory comes with its first value. */
struct hist {
    struct hdr_histogram *hdr; /* owned; NULL: no value yet */
    int64_t n;
    int64_t beyond;       /* failed, or out of range */
    int64_t out_of_range; /* of those beyond */
    int64_t max_ns;       /* of the finite ones, exact */
    double sum_ns;        /* likewise */
};

#define HIST_HIGHEST_NS (3600 * NS_PER_S)

/* A quantile that is not a number. */
#define HIST_BEYOND       (-1) /* it falls among the failures */
#define HIST_TOO_FEW      (-2) /* n cannot bound it */
#define HIST_EMPTY        (-3)
#define HIST_OUT_OF_RANGE (-4) /* it falls among those out of range */

void hist_fini(struct hist *h);

/* Empty it, keep the memory. */
void hist_reset(struct hist *h);
void hist_add(struct hist *h, int64_t ns);

/* The same value `count` times, at least once. */
void hist_add_many(struct hist *h, int64_t ns, int64_t count);
void hist_add_beyond(struct hist *h, int64_t count);

/* All that another one holds. */
void hist_add_all(struct hist *h, const struct hist *other);

/* Nanoseconds, or one of the above. */
int64_t hist_quantile(const struct hist *h, double q);

/* The same, whether or not n can bound it. */
int64_t hist_rank_quantile(const struct hist *h, double q);

/* The rank-th smallest, from 1.  A rank above n is beyond. */
int64_t hist_at_rank(const struct hist *h, int64_t rank);

/* How many values lie below, to the three digits of the histogram: those of a
 * bucket that begins below do. */
int64_t hist_count_below(const struct hist *h, int64_t ns);

/* Mean and maximum, if all are finite; else HIST_EMPTY, HIST_BEYOND or, if
 * nothing failed, HIST_OUT_OF_RANGE. */
double hist_mean_ns(const struct hist *h);
int64_t hist_max_ns(const struct hist *h);

/* hist_export.h - a distribution in the formats of HdrHistogram's own tools.
 *
 * They hold the values alone: what is beyond is for the caller to say.
 */
/* The percentile distribution (.hgrm): Value, Percentile, TotalCount and
 * 1/(1-Percentile), five steps to each halving of what is left, and a footer.
 * Values are divided by ns_per_unit, and mean, deviation and maximum are those
 * of the buckets. */
void hist_print_percentiles(const struct hist *h, double ns_per_unit,
                            struct buf *out);

/* Append the base64 of the compressed V2 encoding, for a log of intervals; the
 * values are nanoseconds.  -1 (ERR_CONFIG) where HdrHistogram_c was built
 * without zlib. */
int hist_encode(const struct hist *h, struct buf *out, struct err *err);

#endif
