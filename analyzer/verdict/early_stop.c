#include "analyzer/verdict/early_stop.h"

#include "common/stats/stats.h"

#define DOUBT 0.01 /* 1 - the confidence */

bool early_stop_proves(double p, int64_t n, int64_t t)
{
    return stats_binomial_upper_tail(n, p, n - t) < DOUBT;
}

int64_t early_stop_least_within(double p, int64_t t)
{
    int64_t low = 0; /* too few */
    int64_t high = 1;

    while (!early_stop_proves(p, high + t, t)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;

        if (early_stop_proves(p, middle + t, t))
            high = middle;
        else
            low = middle;
    }
    return high;
}

int64_t early_stop_most_over(double p, int64_t n)
{
    int64_t low = -1; /* allowed */
    int64_t high = n;

    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;

        if (early_stop_proves(p, n, middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Its own value is not over it, so one more may stand from it on. */
int64_t early_stop_rank(double p, int64_t n)
{
    int64_t over = early_stop_most_over(p, n);

    return over > 0 ? n - over + 1 : 0;
}
