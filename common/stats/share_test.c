#include "common/stats/share_test.h"

#include <math.h>

#include "common/stats/stats.h"

/* More effective samples than any run has. */
#define MOST 1e12

double share_pass_p(const struct share_sample *s, double allowed)
{
    double misses;

    if (!(s->n > 0) || !(s->n_effective > 0))
        return 1;
    misses = s->misses * s->n_effective / s->n;
    if (misses >= s->n_effective)
        return 1;
    return stats_beta(1 - allowed, s->n_effective - misses, misses + 1);
}

double share_fail_p(const struct share_sample *s, double allowed)
{
    double misses;

    if (!(s->misses > 0) || !(s->n_effective > 0))
        return 1;
    misses = s->misses * s->n_effective / s->n;
    return stats_beta(allowed, misses, s->n_effective - misses + 1);
}

/* Of n effective samples, of which a share are misses. */
static double p_of(double share, double allowed, double n)
{
    const struct share_sample s = {
        .n = n, .misses = share * n, .n_effective = n};

    return share < allowed ? share_pass_p(&s, allowed)
                           : share_fail_p(&s, allowed);
}

double share_needed(double share, double allowed, double level)
{
    double low = 0;
    double high = 1;

    if (share == allowed)
        return INFINITY;
    while (p_of(share, allowed, high) > level) {
        low = high;
        high *= 2;
        if (high > MOST)
            return INFINITY;
    }
    while (high - low > 1e-6 * high) {
        double middle = low + (high - low) / 2;

        if (p_of(share, allowed, middle) > level)
            low = middle;
        else
            high = middle;
    }
    return high;
}
