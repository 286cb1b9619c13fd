/* window_slices.h - the quantities of one recording: for its whole window, and
 * for equal slices of it in time, which replace trials if there are none. */
#ifndef ANALYZER_COMPARE_WINDOW_SLICES_H
#define ANALYZER_COMPARE_WINDOW_SLICES_H

#include <stdint.h>

#include "analyzer/compare/quantity.h"
#include "analyzer/stats/sectioning.h"
#include "analyzer/tally/window.h"
#include "common/measure/good.h"
#include "common/measure/measure.h"
#include "common/stats/hist.h"

#define SLICES SECTION_COUNT

/* Index of the whole window, after the slices. */
#define SLICES_ALL SLICES

/* Requests belong to the slice of their due time; `ended_ok` counts by end time
 * as in a summary. */
struct slice {
    int64_t due;
    int64_t good;
    int64_t failed; /* or never sent */
    int64_t checked;
    int64_t passed;
    int64_t ended_ok;
    double tokens; /* of the output, spread evenly from the first event of a
                      stream to its last */
    struct hist hist[MEASURE_COUNT];
};

struct window_slices {
    struct window window;
    const struct good_table *good; /* borrowed */
    double usd_per_hour;           /* of all replicas; 0: unknown */
    bool wants[MEASURE_COUNT];     /* a histogram is kept */
    struct slice slice[SLICES + 1];
};

/* Value of a quantity in one recording or slice. */
struct reading {
    double value;    /* INFINITY: the quantile falls among the failures */
    int64_t n;       /* number of requests behind it; 0: no value */
    bool is_too_few; /* n cannot bound it */
};

void window_slices_init(struct window_slices *s, struct window window,
                        const struct good_table *good,
                        const struct quantities *qs);
void window_slices_fini(struct window_slices *s);
void window_slices_add(struct window_slices *s, const struct facts *f);

/* The value in slice i, or in the whole window (SLICES_ALL). */
struct reading window_slices_reading(const struct window_slices *s,
                                     const struct quantity *q, int i);

/* The values in all slices. */
struct slice_readings {
    double value[SLICES];
    bool has_all;  /* each slice can bound it */
    int64_t min_n; /* n of the smallest slice */
    double beyond; /* for a quantile: the number of independent requests beyond
                      it, or below it if it is below the median; else 0 */
};

void window_slices_readings(const struct window_slices *s,
                            const struct quantity *q,
                            struct slice_readings *out);

#endif
