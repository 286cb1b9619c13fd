#include "common/stats/dependence.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/xalloc.h"
#include "common/stats/stats.h"

/* Values per group of bins, on average: with fewer, the autocorrelation of
 * single groups drowns in noise. */
#define IN_GROUP 4

/* What the inflations, which are estimates themselves, are increased by:
 * without it, 8 % of runs of a batching server at load 0.9 that miss exactly
 * what is allowed are shown to pass, with it 4 % (bench_verdict). */
#define MARGIN 1.2

void dependence_fini(struct dependence *d)
{
    free(d->bins);
    *d = (struct dependence){0};
}

void dependence_add(struct dependence *d, double place, double value,
                    int64_t count)
{
    struct dependence_bin *bin;

    if (!d->bins)
        d->bins = xcalloc(DEPENDENCE_BINS, sizeof(*d->bins));
    bin = &d->bins[(size_t)(place * DEPENDENCE_BINS)];
    bin->n += count;
    bin->sum += value * (double)count;
    bin->squares += value * value * (double)count;
}

/* The variance of the sum of all values, divided by that of as many independent
 * ones.  Values of a group deviate from the mean by `off` together.  The
 * autocorrelation time is taken as one standard error longer than it seems
 * (Sokal's formula): a calm stretch has few misses and seems to have a short
 * one. */
double dependence_of_bins(const struct dependence_bin *bins, size_t n_bins)
{
    double off[DEPENDENCE_BINS];
    double n = 0;
    double sum = 0;
    double squares = 0;
    double variance = 0;
    size_t groups;
    size_t cut;
    double tau;

    for (size_t i = 0; i < n_bins; i++) {
        n += (double)bins[i].n;
        sum += bins[i].sum;
        variance += bins[i].squares;
    }
    if (!(n > 0))
        return 1;
    variance -= sum * sum / n;
    groups = (size_t)fmin(DEPENDENCE_BINS, fmin((double)n_bins, n / IN_GROUP));
    if (groups < 2 || !(variance > 0))
        return 1;
    for (size_t g = 0; g < groups; g++) {
        off[g] = 0;
        for (size_t i = g * n_bins / groups; i < (g + 1) * n_bins / groups; i++)
            off[g] += bins[i].sum - (double)bins[i].n * sum / n;
        squares += off[g] * off[g];
    }
    tau = autocorr_time_cut(off, groups, &cut);
    tau *= 1 + sqrt(2 * (2 * (double)cut + 1) / (double)groups);
    return fmax(1, fmin(n, squares * 2 * tau / variance));
}

double dependence_inflation(const struct dependence *d)
{
    return d->bins ? dependence_of_bins(d->bins, DEPENDENCE_BINS) : 1;
}

double effective_samples(double n, const struct batch *misses, size_t len,
                         double requests, double inflation)
{
    double effective =
        fmin(n / stats_inflation(misses, len), fmin(n, requests) / inflation);

    if (!(effective > 0))
        return 0;
    return fmax(1, n / (1 + MARGIN * (n / effective - 1)));
}
