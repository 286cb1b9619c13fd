/* series.h - a run in bins of time: arrivals, completions, requests in flight
 * and their times.  Filled in one pass, rows in any order; memory does not
 * depend on the length of the run.
 *
 * The window is cut into up to SERIES_WINDOW bins, and the time before it into
 * bins of the same width, so that no bin crosses its start.
 */
#ifndef ANALYZER_VERDICT_SERIES_H
#define ANALYZER_VERDICT_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/tally/window.h"

struct facts;

#define SERIES_WINDOW 1200
#define SERIES_MAX    (2 * SERIES_WINDOW + 2)
#define SERIES_VALUES 4 /* measures */

/* One measure of the requests that were due in a bin and have it. */
struct series_sum {
    int64_t n;
    double sum_ns;
};

struct series_bin {
    int64_t due;      /* requests due in it */
    int64_t sent;     /* of those due, the ones that were sent, ... */
    double flight_ns; /* ... and their time in flight */
    double area_ns;   /* time in flight in this bin of requests that were in
                         flight for a part of it */
    int64_t step;     /* requests in flight through the whole bin, minus those
                         through the whole bin before */
};

struct series {
    struct window window;
    double origin_ns; /* start of the first bin, at most 0 */
    double width_ns;
    double per_ns;          /* 1 / width_ns */
    size_t first;           /* first bin of the window */
    size_t n;               /* bins; 0: the window is empty */
    double ended;           /* requests that ended in the window, ... */
    double ended_flight_ns; /* ... and their time in flight */
    struct series_bin bins[SERIES_MAX];
    struct series_sum sums[SERIES_VALUES][SERIES_MAX];
};

void series_init(struct series *s, struct window window);

/* Add a request, which is in flight from `sent` to `end`.  Returns the bin in
 * which it was due; -1: none. */
ptrdiff_t series_add(struct series *s, const struct facts *f);

/* Add the value of a measure of that request. */
void series_add_value(struct series *s, ptrdiff_t bin, size_t measure,
                      int64_t value_ns);

/* After the last request: the mean number in flight in every bin. */
void series_in_flight(const struct series *s, double *out);

/* Means of `n` values in blocks: block i of `blocks` starts at i n / blocks. */
void series_blocks(const double *x, size_t n, double *out, size_t blocks);

/* Mean value of the requests due in bins [from, to), in `groups` groups of
 * bins; a group without a value repeats the one before.  Returns the number of
 * requests that had a value. */
int64_t series_means(const struct series *s, size_t measure, size_t from,
                     size_t to, double *out, size_t groups);

/* Number of groups with `each` measured requests on average; at most one per
 * bin. */
size_t series_groups(const struct series *s, size_t measure, size_t from,
                     size_t to, int64_t each);

/* Mean time in flight in seconds of about the first `count` requests that were
 * sent; 0 if none was. */
double series_first_flight_s(const struct series *s, int64_t count);

#endif
