#include "analyzer/spread.h"

#include "common/hist.h"

const double summary_quantile[SUMMARY_QUANTILES] = {0.5, 0.9, 0.95, 0.99,
                                                    0.999};
const char *const summary_quantile_name[SUMMARY_QUANTILES] = {
    "p50", "p90", "p95", "p99", "p99.9"};

struct spread spread_of(const struct hist *h)
{
    struct spread s = {
        .n = h->n,
        .failed = h->beyond - h->out_of_range,
        .out_of_range = h->out_of_range,
        .mean_ns = hist_mean_ns(h),
        .max_ns = hist_max_ns(h),
    };

    for (int i = 0; i < SUMMARY_QUANTILES; i++)
        s.quantile_ns[i] = hist_quantile(h, summary_quantile[i]);
    return s;
}
