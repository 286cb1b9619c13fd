#include "common/stats.h"

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

static double log_choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

double stats_binomial_upper_tail(int64_t n, double p, int64_t k)
{
    double sum = 0;

    if (k <= 0)
        return 1;
    if (k > n || p <= 0)
        return 0;
    if (p >= 1)
        return 1;
    for (int64_t i = k; i <= n; i++) {
        double term = exp(log_choose((double)n, (double)i) +
                          (double)i * log(p) + (double)(n - i) * log1p(-p));

        sum += term;
        if (term < sum * 1e-17 && (double)i > (double)n * p)
            break;
    }
    return sum < 1 ? sum : 1;
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
