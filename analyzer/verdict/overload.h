/* overload.h - was more asked of the server than it takes?  Pure.
 *
 * Then requests pile up: those in flight grow through the window, and would go
 * on growing.  So the blocks of the window must rise (Mann and Kendall, at a
 * strict level), and by what matters: more than there would be in flight if all
 * that came took as long as the first requests of the run, more than a small
 * share of what came, and more than chance piles up in a server that is just at
 * its limit.  That last is what tells a queue that fills by accident from one
 * that fills for good: the net flow of a queue without a way back is a random
 * walk, and its steps tell how far one gets.
 */
#ifndef ANALYZER_VERDICT_OVERLOAD_H
#define ANALYZER_VERDICT_OVERLOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "common/stats/stats.h"

#define OVERLOAD_LEVEL  0.001
#define OVERLOAD_LEAST  5    /* requests that it must grow by ... */
#define OVERLOAD_SHARE  0.01 /* ... and of what came */
#define OVERLOAD_CHANCE 2.0  /* ... and times what chance does */
#define OVERLOAD_MARGIN                                                        \
    1.5                    /* on what is explained, which few requests tell    \
                            */
#define OVERLOAD_BLOCKS 30 /* at most; at least TREND_LEAST_N */

/* Fewer requests say nothing. */
#define OVERLOAD_LEAST_N 50

struct flight {
    const double *in_flight; /* mean in each bin, from the start of the run */
    const double *arrivals;  /* requests that were due in each */
    size_t n;                /* bins, at most SERIES_MAX */
    size_t first;            /* of the window, at least OVERLOAD_BLOCKS */
    double answer_bins; /* time in flight of the first requests of the run */
};

struct overload {
    size_t blocks;
    double p;             /* of the trend, two-sided */
    bool is_rising;       /* at OVERLOAD_LEVEL */
    double growth;        /* through the window, by Theil and Sen's slope */
    double rise;          /* the last block less the first */
    struct interval ci95; /* of the growth */
    bool has_ci95;
    double explained; /* of it, by what came, at the first requests' time */
    double arrivals;  /* in the window */
    double chance;    /* how far the steps of the series get by chance */
    bool is_over;
};

struct overload overload_judge(const struct flight *f);

#endif
