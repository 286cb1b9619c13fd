#include "analyzer/stats/steady_tests.h"

#include <math.h>
#include <string.h>

#include "analyzer/stats/order_stats.h"
#include "common/stats/stats.h"

/* ---- MSER-5 ---- */

#define MIN_LEFT 5 /* batches */

/* Backwards from the end, so that the sum of squares grows by one batch at a
 * time.  The earliest of several equal minima wins. */
struct mser mser_truncate(const double *x, size_t n)
{
    size_t batches = n / MSER_BATCH;
    double mean = 0;
    double squares = 0;
    double min = INFINITY;
    size_t at = batches;

    for (size_t d = batches; d-- > 0;) {
        double left = (double)(batches - d);
        double sum = 0;
        double off;

        for (size_t i = 0; i < MSER_BATCH; i++)
            sum += x[d * MSER_BATCH + i];
        off = sum / MSER_BATCH - mean;
        mean += off / left;
        squares += off * off * (left - 1) / left;
        if (batches - d >= MIN_LEFT && squares / (left * left) <= min) {
            min = squares / (left * left);
            at = d;
        }
    }
    return (struct mser){.is_found = n >= MSER_MIN_N && at <= batches / 2,
                         .drop = at * MSER_BATCH};
}

/* ---- Mann and Kendall, Theil and Sen ---- */

/* n (n - 1) (2 n + 5): 18 times the variance of s over n values, and what n
 * tied values subtract from it. */
static double part(size_t n)
{
    double k = (double)n;

    return k * (k - 1) * (2 * k + 5);
}

static double variance_of_s(const double *x, size_t n, double *sorted)
{
    double sum = part(n);
    size_t tied;

    if (n == 0)
        return 0;
    memcpy(sorted, x, n * sizeof(*x));
    order_sort(sorted, n);
    for (size_t i = 0; i < n; i += tied) {
        tied = 1;
        while (i + tied < n && sorted[i + tied] <= sorted[i])
            tied++;
        sum -= part(tied);
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
    if (n >= TREND_MIN_N)
        t.p = fmin(1, 2 * normal_upper_tail(fabs(t.z)));
    return t;
}

/* The slopes beyond which s would be significant. */
struct trend_slope trend_slope(const double *x, size_t n, double confidence,
                               double *scratch)
{
    struct trend_slope t = {0};
    size_t pairs = TREND_PAIRS(n);
    double reach;
    double below;
    size_t k = 0;

    if (n < 2)
        return t;
    reach = normal_quantile((1 + confidence) / 2) *
            sqrt(variance_of_s(x, n, scratch));
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++)
            scratch[k++] = (x[j] - x[i]) / (double)(j - i);
    }
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

/* ---- Little's law and drift ---- */

struct little little_check(double in_flight, double rate_rps, double time_s,
                           double limit)
{
    struct little l = {.expected = rate_rps * time_s};

    if (l.expected > 0)
        l.off = in_flight / l.expected - 1;
    else if (in_flight > 0)
        l.off = INFINITY;
    l.holds = fabs(l.off) <= limit;
    return l;
}

struct drift drift_of(const double *blocks, size_t n, double confidence)
{
    size_t half = n / 2;
    const double *later = blocks + (n - half);
    struct drift d = {.first = trials_mean(blocks, half, confidence).value,
                      .second = trials_mean(later, half, confidence).value};
    double both = (d.first + d.second) / 2;

    d.difference = trials_contrast(CONTRAST_DIFFERENCE, blocks, half, later,
                                   half, confidence);
    if (fabs(both) > 0)
        d.relative = d.difference.value / both;
    return d;
}
