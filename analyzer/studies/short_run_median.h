/* short_run_median.h - the median latency of a short run with Student's
 * interval over the medians of slices of the window.  For runs that are too
 * short for sectioning (analyzer/stats/sectioning.h), which is stronger. */
#ifndef ANALYZER_STUDIES_SHORT_RUN_MEDIAN_H
#define ANALYZER_STUDIES_SHORT_RUN_MEDIAN_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/trial_stats.h"
#include "common/measure/measure.h"

struct err;
struct recording;
struct summary;

#define SHORT_RUN_MAX_SLICES 10
#define SHORT_RUN_MIN_SLICES 3
#define SHORT_RUN_PER_SLICE  4 /* minimum number of requests */

/* The median of n values in the order of their due times; INFINITY marks a
 * failed request.  Without a range if there are too few values, or a median is
 * infinite.  Pure; reorders the values within their slices. */
struct uncertain sliced_median(double *values, size_t n, double confidence);

struct latency {
    int64_t due_ns;
    double ns; /* INFINITY: it failed */
};

/* In the order of their due times. */
struct latencies {
    struct latency *list; /* owned */
    size_t n;
};

void latencies_fini(struct latencies *l);

/* The requests due in the window; reads the recording again. */
int latencies_read(struct recording *rec, const struct summary *s,
                   enum measure measure, struct latencies *out,
                   struct err *err);

struct uncertain latencies_median(const struct latencies *l, double confidence);

/* The median over requests of the ratio of b's latency to a's, for two runs
 * with identical arrivals.  Much sharper than two intervals, since both runs
 * have the same long answers and the same bursts.  Without a range if the
 * arrivals differ.  Pure. */
struct uncertain latencies_ratio(const struct latencies *a,
                                 const struct latencies *b, double confidence);

#endif
