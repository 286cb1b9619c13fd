/* short_run_median.h - the median of a short run, and how sure it is: Student's
 * interval over the medians of stretches of the window.  For runs that are too
 * short for sections (analyzer/verdict/sections.h); weaker, and better than
 * nothing. */
#ifndef ANALYZER_STUDIES_SHORT_RUN_MEDIAN_H
#define ANALYZER_STUDIES_SHORT_RUN_MEDIAN_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/trial_stats.h"
#include "common/measure/measure.h"

struct err;
struct recording;
struct summary;

#define BLOCKED_MOST  10 /* stretches */
#define BLOCKED_LEAST 3
#define BLOCKED_EACH  4 /* requests at least in each */

/* Of n values in the order in which they were due, INFINITY where a request
 * failed.  Without range where there are too few, or a median is infinite.
 * Pure; sorts the values within their stretch. */
struct uncertain blocked_median(double *values, size_t n, double confidence);

/* One request: when it was due, and its latency, INFINITY if it failed. */
struct latency {
    int64_t due_ns;
    double ns;
};

/* In the order in which they were due. */
struct latencies {
    struct latency *list; /* owned */
    size_t n;
};

void latencies_fini(struct latencies *l);

/* Those due in the window; reads the recording again. */
int blocked_read(struct recording *rec, const struct summary *s,
                 enum measure measure, struct latencies *out, struct err *err);

/* Their median. */
struct uncertain blocked_median_of(const struct latencies *l,
                                   double confidence);

/* How many times as long requests take in b as in a, of two runs under the very
 * same arrivals: the median over pairs.  Much sharper than two intervals, since
 * both have the same long answers and the same bursts.  Without range where the
 * arrivals are not the same.  Pure. */
struct uncertain blocked_ratio(const struct latencies *a,
                               const struct latencies *b, double confidence);

#endif
