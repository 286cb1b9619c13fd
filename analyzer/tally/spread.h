/* spread.h - how a measure is spread over requests: the numbers that reports
 * show of it. */
#ifndef ANALYZER_TALLY_SPREAD_H
#define ANALYZER_TALLY_SPREAD_H

#include <stdint.h>

struct hist;

enum summary_place {
    SUMMARY_P50,
    SUMMARY_P90,
    SUMMARY_P95,
    SUMMARY_P99,
    SUMMARY_P999,
    SUMMARY_QUANTILES
};

/* 0.5, 0.9, 0.95, 0.99, 0.999 and what they are called. */
extern const double summary_quantile[SUMMARY_QUANTILES];
extern const char *const summary_quantile_name[SUMMARY_QUANTILES];

/* Times in ns; below 0 they are HIST_BEYOND and the like. */
struct spread {
    int64_t n;
    int64_t failed;
    int64_t out_of_range;
    double mean_ns;
    int64_t quantile_ns[SUMMARY_QUANTILES];
    int64_t max_ns;
};

struct spread spread_of(const struct hist *h);

#endif
