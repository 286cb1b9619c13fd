/* hist.h - a distribution of durations, in an HDR histogram.
 *
 * Failures sit beyond every value.  Percentiles are nearest rank ceil(q n) over
 * all of it; three significant digits, 1 ns to an hour.  What is longer is
 * counted as out of range and treated as beyond.
 */
#ifndef ANALYZER_HIST_H
#define ANALYZER_HIST_H

#include <stdint.h>

#include "common/clk.h"

struct hdr_histogram;

/* n = in the histogram + beyond. */
struct hist {
    struct hdr_histogram *hdr; /* owned */
    int64_t n;
    int64_t beyond;       /* failed, or out of range */
    int64_t out_of_range; /* of those beyond */
    int64_t max_ns;       /* of the finite ones, exact */
    double sum_ns;        /* likewise */
};

#define HIST_HIGHEST_NS (3600 * NS_PER_S)

/* A quantile that is not a number. */
#define HIST_BEYOND  (-1) /* it falls among the failures */
#define HIST_TOO_FEW (-2) /* n cannot bound it */
#define HIST_EMPTY   (-3)

void hist_init(struct hist *h);
void hist_fini(struct hist *h);
void hist_add(struct hist *h, int64_t ns);
void hist_add_beyond(struct hist *h);

/* Nanoseconds, or one of the above. */
int64_t hist_quantile(const struct hist *h, double q);

/* The same, whether or not n can bound it. */
int64_t hist_rank_quantile(const struct hist *h, double q);

/* Mean of the finite ones; HIST_EMPTY if there are none, HIST_BEYOND if not
 * all are finite. */
double hist_mean_ns(const struct hist *h);

#endif
