#include "common/stats/autocorr.h"

static double mean_of(const double *x, size_t n)
{
    double mean = 0;

    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    return mean;
}

static double covariance(const double *x, size_t n, double mean, size_t lag)
{
    double sum = 0;

    for (size_t i = 0; i + lag < n; i++)
        sum += (x[i] - mean) * (x[i + lag] - mean);
    return sum / (double)n;
}

/* The pairs begin at lag 1, not at 0 as Geyer's do, so that a series which
 * alternates counts as independent and never as more than that. */
double autocorr_time(const double *x, size_t n)
{
    double mean = mean_of(x, n);
    double variance = n > 0 ? covariance(x, n, mean, 0) : 0;
    double sum = 0;

    if (!(variance > 0))
        return 0.5;
    for (size_t lag = 1; lag + 1 < n; lag += 2) {
        double pair =
            covariance(x, n, mean, lag) + covariance(x, n, mean, lag + 1);

        if (pair <= 0)
            break;
        sum += pair / variance;
    }
    return 0.5 + sum;
}

double autocorr_effective(const double *x, size_t n)
{
    return (double)n / (2 * autocorr_time(x, n));
}
