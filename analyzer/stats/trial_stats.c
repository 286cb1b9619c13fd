#include "analyzer/stats/trial_stats.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "analyzer/stats/order_stats.h"
#include "common/stats/stats.h"

double contrast_scale(enum contrast contrast, double x)
{
    if (contrast == CONTRAST_DIFFERENCE)
        return x;
    return x > 0 ? log(x) : NAN;
}

double contrast_back(enum contrast contrast, double x)
{
    return contrast == CONTRAST_DIFFERENCE ? x : exp(x);
}

struct moments {
    double n;
    double mean;
    double variance; /* of one value; NAN with fewer than two */
};

static void add(struct moments *m, double *squares, double x)
{
    double off = x - m->mean;

    m->n++;
    m->mean += off / m->n;
    *squares += off * (x - m->mean);
}

static struct moments moments_of(enum contrast contrast, const double *x,
                                 size_t n)
{
    struct moments m = {0};
    double squares = 0;

    for (size_t i = 0; i < n; i++)
        add(&m, &squares, contrast_scale(contrast, x[i]));
    m.variance = n > 1 ? squares / (m.n - 1) : NAN;
    return m;
}

/* Interval for a mean with this squared error and these degrees of freedom. */
static struct uncertain around(enum contrast contrast, double mean,
                               double error2, double freedom, double confidence)
{
    struct uncertain u = {.value = contrast_back(contrast, mean)};
    double half;

    if (!isfinite(mean) || !isfinite(error2))
        return u;
    half = error2 > 0 ? student_reach(confidence, freedom) * sqrt(error2) : 0;
    u.has_range = true;
    u.range.low = contrast_back(contrast, mean - half);
    u.range.high = contrast_back(contrast, mean + half);
    return u;
}

struct uncertain trials_mean(const double *x, size_t n, double confidence)
{
    struct moments m = moments_of(CONTRAST_DIFFERENCE, x, n);

    return around(CONTRAST_DIFFERENCE, m.mean, m.variance / m.n, m.n - 1,
                  confidence);
}

struct uncertain trials_mean_amount(const double *x, size_t n,
                                    double confidence)
{
    struct uncertain u = trials_mean(x, n, confidence);

    u.range.low = fmax(0, u.range.low);
    return u;
}

struct uncertain trials_contrast(enum contrast contrast, const double *a,
                                 size_t n_a, const double *b, size_t n_b,
                                 double confidence)
{
    struct moments of_a = moments_of(contrast, a, n_a);
    struct moments of_b = moments_of(contrast, b, n_b);
    double e_a = of_a.variance / of_a.n;
    double e_b = of_b.variance / of_b.n;
    double freedom = (e_a + e_b) * (e_a + e_b) /
                     (e_a * e_a / (of_a.n - 1) + e_b * e_b / (of_b.n - 1));

    return around(contrast, of_b.mean - of_a.mean, e_a + e_b, freedom,
                  confidence);
}

struct uncertain trials_paired(enum contrast contrast, const double *a,
                               const double *b, size_t n, double confidence)
{
    struct moments m = {0};
    double squares = 0;

    for (size_t i = 0; i < n; i++)
        add(&m, &squares,
            contrast_scale(contrast, b[i]) - contrast_scale(contrast, a[i]));
    m.variance = n > 1 ? squares / (m.n - 1) : NAN;
    return around(contrast, m.mean, m.variance / m.n, m.n - 1, confidence);
}

/* 1 minus the probability of fewer than `rank` values on one side. */
static double confidence_of(size_t n, size_t rank)
{
    return 1 - 2 * stats_binomial_upper_tail((int64_t)n, 0.5,
                                             (int64_t)(n - rank + 1));
}

struct median_rank trials_median_rank(size_t n, double confidence)
{
    struct median_rank r = {.rank = 1};

    if (n == 0)
        return r;
    while (2 * (r.rank + 1) <= n && confidence_of(n, r.rank + 1) >= confidence)
        r.rank++;
    r.confidence = confidence_of(n, r.rank);
    return r;
}

struct trials_median trials_median(const double *x, size_t n, double confidence,
                                   double *scratch)
{
    struct median_rank r = trials_median_rank(n, confidence);
    struct trials_median t = {.confidence = r.confidence};

    memcpy(scratch, x, n * sizeof(*x));
    t.median.value = order_median(scratch, n);
    t.is_reached = t.confidence >= confidence;
    t.median.has_range = n > 1;
    t.median.range.low = order_select(scratch, n, r.rank);
    t.median.range.high = order_select(scratch, n, n - r.rank + 1);
    return t;
}
