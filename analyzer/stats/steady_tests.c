#include "analyzer/stats/steady_tests.h"

#include <math.h>

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
