#include "common/stats/dependence.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/xalloc.h"
#include "common/stats/stats.h"

/* Values per group of bins, on average: with fewer, the autocorrelation of
 * single groups drowns in noise. */
#define IN_GROUP 4

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
 * ones.  Values of a group deviate from the mean by `off` together. */
double dependence_inflation(const struct dependence *d, double part)
{
    size_t bins = (size_t)ceil(part * DEPENDENCE_BINS);
    double off[DEPENDENCE_BINS];
    double n = 0;
    double sum = 0;
    double squares = 0;
    size_t groups;
    double variance = 0;
    double tau;

    if (!d->bins)
        return 1;
    for (size_t i = 0; i < bins; i++) {
        n += (double)d->bins[i].n;
        sum += d->bins[i].sum;
        variance += d->bins[i].squares;
    }
    if (!(n > 0))
        return 1;
    variance -= sum * sum / n;
    groups = (size_t)fmax(1, fmin((double)bins, n / IN_GROUP));
    if (groups < 2 || !(variance > 0))
        return 1;
    for (size_t g = 0; g < groups; g++) {
        off[g] = 0;
        for (size_t i = g * bins / groups; i < (g + 1) * bins / groups; i++)
            off[g] += d->bins[i].sum - (double)d->bins[i].n * sum / n;
        squares += off[g] * off[g];
    }
    tau = autocorr_time(off, groups);
    return fmax(1, fmin(n, squares * 2 * tau / variance));
}
