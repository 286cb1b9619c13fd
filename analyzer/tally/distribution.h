/* distribution.h - how a measure is distributed over requests, in the three
 * forms that reports show: quantiles (spread), about a dozen rows for the eye
 * (bars), and the share within each of many limits (curve).  Pure.
 */
#ifndef ANALYZER_TALLY_DISTRIBUTION_H
#define ANALYZER_TALLY_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/tally/tally.h"
#include "common/measure/measure.h"
#include "common/spec/slo.h"
#include "common/stats/hist.h"
#include "common/stats/stats.h"

/* ---- spread ---- */

enum summary_place {
    SUMMARY_P50,
    SUMMARY_P90,
    SUMMARY_P95,
    SUMMARY_P99,
    SUMMARY_P999,
    SUMMARY_QUANTILES
};

/* 0.5, 0.9, 0.95, 0.99, 0.999 and their names. */
extern const double summary_quantile[SUMMARY_QUANTILES];
extern const char *const summary_quantile_name[SUMMARY_QUANTILES];

/* Times in ns; a value below 0 is HIST_BEYOND or another HIST_ constant. */
struct spread {
    int64_t n;
    int64_t failed;
    int64_t out_of_range;
    double mean_ns;
    int64_t quantile_ns[SUMMARY_QUANTILES];
    int64_t max_ns;
};

struct spread spread_of(const struct hist *h);

/* ---- bars ---- */

#define BARS_MAX 12

/* from <= value < to, to the three digits of a histogram; the last bar includes
 * the largest value. */
struct bar {
    int64_t from_ns;
    int64_t to_ns;
    int64_t count;
};

/* n of the histogram = the sum of the bars + failed + out_of_range. */
struct bars {
    enum measure measure;
    int64_t limit_ns; /* of the SLO, 0: none; an edge if it is in range */
    int64_t failed;
    int64_t out_of_range;
    struct bar list[BARS_MAX]; /* each wider than the last by one factor */
    size_t len;                /* 0: there are no values */
};

void bars_make(const struct hist *h, enum measure m, int64_t limit_ns,
               struct bars *out);

/* ---- curve ---- */

#define CURVE_MAX 128

/* Exact counts at every limit of the curve.  Requests that failed or were never
 * sent are within no limit. */
struct curve {
    enum measure measure;
    int64_t limit_ns[CURVE_MAX]; /* ascending */
    bool is_slo[CURVE_MAX];      /* an SLO term has this limit */
    size_t len;

    int64_t n[TALLY_SLICES]; /* samples, including failures */
    /* Samples below limit i that are not below limit i - 1. */
    int64_t within[CURVE_MAX][TALLY_SLICES];
};

struct curve_point {
    int64_t limit_ns;
    bool is_slo;
    int64_t within; /* of curve_n() */
    double share;
    struct interval ci95;
};

/* Ten limits per power of ten, and those of the SLO on this measure. */
void curve_init(struct curve *c, enum measure measure, const struct slo *slo);

/* Add a request that was due in the window. */
void curve_add(struct curve *c, size_t slice, const struct facts *f);

/* Add `count` samples of one value; below 0: within no limit. */
void curve_add_many(struct curve *c, size_t slice, int64_t ns, int64_t count);

int64_t curve_n(const struct curve *c);

/* The limits worth showing: those of the SLO, and each one whose neighbours
 * differ.  Returns how many. */
size_t curve_points(const struct curve *c,
                    struct curve_point points[static CURVE_MAX]);

#endif
