/* run_view.h - the bins of a run as series over time: what the charts of
 * run_charts.c and run_load.c share. */
#ifndef ANALYZER_HTML_RUN_VIEW_H
#define ANALYZER_HTML_RUN_VIEW_H

#include <stddef.h>

#include "analyzer/html/chart/chart_time.h"
#include "analyzer/tally/run_bins.h"

struct run_page;

/* Bins of a chart over time: several of the recording's. */
struct bins_view {
    size_t merge;
    size_t n;
    double step_s;
};

/* Bins of at least this width. */
struct bins_view run_view_of(const struct run_bins *b, double min_s);

/* A chart over time without series and axis. */
struct time_chart run_view_chart(const struct run_bins *b,
                                 const struct bins_view *v);

/* A quantile in each bin; NAN: too few requests, INFINITY: failed. */
void run_view_quantiles(const struct run_bins *b, const struct bins_view *v,
                        enum bins_measure m, double q, double *out);

/* A log axis for durations, and the limit if there is one (else 0). */
struct axis run_view_log_axis(const double *a, const double *b, size_t n,
                              double limit);

/* Offered, answered and good requests per second. */
struct rates {
    double due[BINS_TIME];
    double ok[BINS_TIME];
    double good[BINS_TIME];
};

/* Borrows *x. */
struct time_chart run_rates_chart(const struct run_page *r, struct rates *x);

/* The section of load and server. */
struct page;
void run_load_put(struct page *p, const struct run_page *r);

#endif
