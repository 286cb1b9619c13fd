#include "analyzer/scaling/drain.h"

#include <math.h>

static double at(const double *ends_s, size_t n, double share)
{
    return ends_s[(size_t)ceil(share * (double)n) - 1];
}

struct drain drain_of(const double *ends_s, size_t n)
{
    double tenth, half, last, end;
    struct drain d = {0};

    if (n < DRAIN_LEAST)
        return d;
    tenth = at(ends_s, n, 0.1);
    half = at(ends_s, n, 0.5);
    last = at(ends_s, n, 1 - DRAIN_LAST);
    end = ends_s[n - 1];
    if (!(half > tenth) || !(end > last))
        return d; /* in one batch: no rate */
    d.runs = 1;
    d.bulk_rps = 0.4 * (double)n / (half - tenth);
    d.uneven = fmax(0, 1 - (tenth + 0.9 * (double)n / d.bulk_rps) / end);
    d.last_rps = DRAIN_LAST * (double)n / (end - last);
    return d;
}

static void average(double *mean, double x, int64_t n)
{
    *mean += (x - *mean) / (double)n;
}

void drain_add(struct drain *all, const struct drain *run)
{
    if (run->runs == 0)
        return;
    all->runs++;
    average(&all->bulk_rps, run->bulk_rps, all->runs);
    average(&all->uneven, run->uneven, all->runs);
    average(&all->last_rps, run->last_rps, all->runs);
}
