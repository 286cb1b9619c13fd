#include "analyzer/stats/trend.h"

#include <math.h>
#include <string.h>

#include "analyzer/stats/order_stats.h"
#include "common/stats/stats.h"

/* n (n - 1) (2 n + 5): 18 times the variance of s over n values, and what n
 * that are alike take from it. */
static double part(size_t n)
{
    double k = (double)n;

    return k * (k - 1) * (2 * k + 5);
}

static double variance_of_s(const double *x, size_t n, double *sorted)
{
    double sum = part(n);
    size_t alike;

    if (n == 0)
        return 0;
    memcpy(sorted, x, n * sizeof(*x));
    order_sort(sorted, n);
    for (size_t i = 0; i < n; i += alike) {
        alike = 1;
        while (i + alike < n && sorted[i + alike] <= sorted[i])
            alike++;
        sum -= part(alike);
    }
    return sum / 18;
}

struct trend_test trend_test(const double *x, size_t n, double *scratch)
{
    struct trend_test t = {.variance = variance_of_s(x, n, scratch), .p = 1};

    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++)
            t.s += (x[j] > x[i]) - (x[j] < x[i]);
    }
    if (t.variance > 0 && t.s != 0)
        t.z = (double)(t.s > 0 ? t.s - 1 : t.s + 1) / sqrt(t.variance);
    if (n >= TREND_LEAST_N)
        t.p = fmin(1, 2 * normal_upper_tail(fabs(t.z)));
    return t;
}

size_t trend_pairs(size_t n)
{
    return n < 2 ? 1 : n * (n - 1) / 2;
}

static void slopes_of(const double *x, size_t n, double *slopes)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++)
            slopes[k++] = (x[j] - x[i]) / (double)(j - i);
    }
}

/* The slopes beyond which s would be significant. */
struct trend_slope trend_slope(const double *x, size_t n, double confidence,
                               double *scratch)
{
    struct trend_slope t = {0};
    size_t pairs = trend_pairs(n);
    double reach;
    double below;

    if (n < 2)
        return t;
    reach = normal_quantile((1 + confidence) / 2) *
            sqrt(variance_of_s(x, n, scratch));
    slopes_of(x, n, scratch);
    t.slope = order_median(scratch, pairs);
    below = floor(((double)pairs - reach) / 2);
    if (below < 1)
        return t;
    t.has_range = true;
    t.range.low = order_select(scratch, pairs, (size_t)below);
    t.range.high = order_select(scratch, pairs, pairs - (size_t)below + 1);
    return t;
}

enum trend trend_verdict(const struct trend_test *t, double level)
{
    if (t->p >= level)
        return TREND_NONE;
    return t->s > 0 ? TREND_RISING : TREND_FALLING;
}
