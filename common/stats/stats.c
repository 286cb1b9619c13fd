#include "common/stats/stats.h"

#include <float.h>
#include <math.h>

/* ---- the normal distribution and Student's t ---- */

double normal_upper_tail(double z)
{
    return erfc(z / M_SQRT2) / 2;
}

double student_upper_tail(double t, double freedom)
{
    double half = stats_beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2;

    return t > 0 ? half : 1 - half;
}

static double normal_tail(double z, double unused)
{
    (void)unused;
    return normal_upper_tail(z);
}

/* The point above 0 whose upper tail is `share`, at most a half. */
static double beyond(double (*tail)(double, double), double freedom,
                     double share)
{
    double low = 0;
    double high = 1;

    while (tail(high, freedom) > share)
        high *= 2;
    while (high - low > 1e-13 * high) {
        double middle = low + (high - low) / 2;

        if (tail(middle, freedom) > share)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Both distributions are symmetric. */
static double quantile(double (*tail)(double, double), double freedom, double p)
{
    if (p < 0.5)
        return -beyond(tail, freedom, p);
    return p > 0.5 ? beyond(tail, freedom, 1 - p) : 0;
}

double normal_quantile(double p)
{
    return quantile(normal_tail, 0, p);
}

double student_quantile(double p, double freedom)
{
    if (!(freedom > 0))
        return NAN;
    return quantile(student_upper_tail, freedom, p);
}

double student_reach(double confidence, double freedom)
{
    if (!(freedom > 0))
        return NAN;
    return beyond(student_upper_tail, freedom, (1 - confidence) / 2);
}

/* ---- autocorrelation ---- */

static double covariance(const double *x, size_t n, double mean, size_t lag)
{
    double sum = 0;

    for (size_t i = 0; i + lag < n; i++)
        sum += (x[i] - mean) * (x[i + lag] - mean);
    return sum / (double)n;
}

/* The pairs begin at lag 1, not at 0 as Geyer's do, so that an alternating
 * series counts as independent and not as more than that. */
double autocorr_time_cut(const double *x, size_t n, size_t *cut)
{
    double mean = 0;
    double variance;
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    variance = n > 0 ? covariance(x, n, mean, 0) : 0;
    *cut = 1;
    if (!(variance > 0))
        return 0.5;
    for (; *cut + 1 < n; *cut += 2) {
        double pair =
            covariance(x, n, mean, *cut) + covariance(x, n, mean, *cut + 1);

        if (pair <= 0)
            break;
        sum += pair / variance;
    }
    return 0.5 + sum;
}

double autocorr_time(const double *x, size_t n)
{
    size_t cut;

    return autocorr_time_cut(x, n, &cut);
}

/* ---- quantiles and shares ---- */

/* 0.975 quantile of Student's t with 19 degrees of freedom: the spread is
 * estimated from 20 batches. */
#define T_19 2.093

/* q * n is rounded: 0.99 * 100 must not become rank 100, nor must 0.999 *
 * 999999 lose the thousandth that makes it the next rank. */
int64_t stats_rank(double q, int64_t n)
{
    int64_t rank = (int64_t)ceil(q * (double)n * (1 - 4 * DBL_EPSILON));

    return rank < 1 ? 1 : rank;
}

int64_t stats_min_n(double q)
{
    return (int64_t)ceil(log(0.05) / log(q) - 1e-9);
}

/* The continued fraction of the incomplete beta function, by Lentz's method
 * with two terms per step.  Converges in about sqrt(max(a, b)) steps if x < (a
 * + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300; /* avoids dividing by 0 */
    double c = 1;
    double d = 1 - (a + b) * x / (a + 1);
    double f;

    d = 1 / (fabs(d) < tiny ? tiny : d);
    f = d;
    for (int m = 1; m < 100000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd =
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double step;

        d = 1 + even * d;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = 1 + even / c;
        c = fabs(c) < tiny ? tiny : c;
        f *= c * d;
        d = 1 + odd * d;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = 1 + odd / c;
        c = fabs(c) < tiny ? tiny : c;
        step = c * d;
        f *= step;
        if (fabs(step - 1) < DBL_EPSILON)
            break;
    }
    return f;
}

double stats_beta(double x, double a, double b)
{
    double front;

    if (isnan(x + a + b)) /* the fraction would not converge */
        return NAN;
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    front =
        exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double stats_binomial_upper_tail(int64_t n, double p, int64_t k)
{
    if (k <= 0)
        return 1;
    if (k > n)
        return 0;
    return stats_beta(p, (double)k, (double)(n - k + 1));
}

double stats_inflation(const struct batch *batches, size_t len)
{
    double n = 0;
    double hits = 0;
    double squares = 0;
    size_t used = 0;
    double share;

    for (size_t i = 0; i < len; i++) {
        n += (double)batches[i].n;
        hits += (double)batches[i].hits;
        used += batches[i].n > 0;
    }
    if (used < 2 || hits <= 0 || hits >= n)
        return 1;
    share = hits / n;
    for (size_t i = 0; i < len; i++) {
        double d = (double)batches[i].hits - (double)batches[i].n * share;

        squares += d * d;
    }
    return fmax(1, squares / (double)(used - 1) /
                       (n * share * (1 - share) / (double)used));
}

struct interval stats_share_interval(double share, double n_effective)
{
    double z2n = T_19 * T_19 / n_effective;
    double centre = (share + z2n / 2) / (1 + z2n);
    double half =
        T_19 / (1 + z2n) *
        sqrt(share * (1 - share) / n_effective + z2n / (4 * n_effective));

    /* Rounding must not exclude the share itself. */
    return (struct interval){.low = fmin(share, fmax(0, centre - half)),
                             .high = fmax(share, fmin(1, centre + half))};
}
