#include "analyzer/stats/sectioning.h"

#include <math.h>
#include <string.h>

#include "analyzer/stats/order_stats.h"
#include "common/stats/stats.h"

struct section_quantile section_combine(const double *quantiles,
                                        size_t sections, double overall,
                                        double q, int64_t min_in_one,
                                        double confidence)
{
    struct section_quantile s = {.verdict = SECTION_TOO_FEW,
                                 .quantile.value = overall};
    double count = (double)sections;
    double squares = 0;
    double half;

    if (sections < 2 || min_in_one < stats_min_n(q))
        return s;
    s.verdict = SECTION_BEYOND;
    for (size_t i = 0; i < sections; i++)
        squares += (quantiles[i] - overall) * (quantiles[i] - overall);
    if (!isfinite(squares))
        return s;
    half = student_reach(confidence, count - 1) *
           sqrt(squares / (count - 1) / count);
    s.verdict = SECTION_KNOWN;
    s.quantile.has_range = true;
    s.quantile.range.low = overall - half;
    s.quantile.range.high = overall + half;
    return s;
}

struct section_quantile section_quantile(const double *x, size_t n, double q,
                                         size_t sections, double confidence,
                                         double *scratch)
{
    double *quantiles = scratch + n;
    size_t each = n / sections;

    memcpy(scratch, x, n * sizeof(*x));
    for (size_t i = 0; each > 0 && i < sections; i++) {
        size_t len = i + 1 < sections ? each : n - i * each;

        quantiles[i] = order_quantile(scratch + i * each, len, q);
    }
    return section_combine(quantiles, sections, order_quantile(scratch, n, q),
                           q, (int64_t)each, confidence);
}
