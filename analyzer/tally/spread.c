#include "analyzer/tally/spread.h"

#include "common/stats/hist.h"

const double summary_quantile[SUMMARY_QUANTILES] = {
    [SUMMARY_P50] = 0.5,  [SUMMARY_P90] = 0.9,    [SUMMARY_P95] = 0.95,
    [SUMMARY_P99] = 0.99, [SUMMARY_P999] = 0.999,
};
const char *const summary_quantile_name[SUMMARY_QUANTILES] = {
    [SUMMARY_P50] = "p50", [SUMMARY_P90] = "p90",    [SUMMARY_P95] = "p95",
    [SUMMARY_P99] = "p99", [SUMMARY_P999] = "p99.9",
};

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
