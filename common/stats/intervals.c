#include "common/stats/intervals.h"

#include <float.h>
#include <math.h>

/* 0.975 quantile of Student's t with 19 degrees of freedom: the spread is
 * estimated from 20 batches. */
#define T_19 2.093

/* q n carries rounding of its own: 0.99 * 100 must not become rank 100, nor
 * 0.999 * 999999 lose the thousandth that makes it the next one. */
int64_t stats_rank(double q, int64_t n)
{
    int64_t rank = (int64_t)ceil(q * (double)n * (1 - 4 * DBL_EPSILON));

    return rank < 1 ? 1 : rank;
}

int64_t stats_least_n(double q)
{
    return (int64_t)ceil(log(0.05) / log(q) - 1e-9);
}

/* The continued fraction of the incomplete beta function, by Lentz's method
 * with two terms a step.  Converges in about sqrt(max(a, b)) steps where
 * x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300; /* instead of a 0 to divide by */
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

    if (isnan(x + a + b)) /* nothing that would converge */
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

    /* Rounding must not put the share itself outside. */
    return (struct interval){.low = fmin(share, fmax(0, centre - half)),
                             .high = fmax(share, fmin(1, centre + half))};
}
