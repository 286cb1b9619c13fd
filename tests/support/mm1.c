#include "tests/support/mm1.h"

#include <math.h>

double mm1_mean(const struct mm1 *q)
{
    return 1 / (1 / q->service - 1 / q->gap);
}

double mm1_quantile(const struct mm1 *q, double p)
{
    return -log1p(-p) * mm1_mean(q);
}

/* The first one waits with the probability of the load, and then as long as
 * others are in the system. */
struct mm1 mm1_start(uint64_t seed, double gap, double service)
{
    struct mm1 q = {.gap = gap,
                    .service = service,
                    .arrivals = rng_stream(seed, RNG_ARRIVAL),
                    .services = rng_stream(seed, RNG_SERVICE)};

    if (service < gap && rng_uniform(&q.arrivals) < service / gap)
        q.wait = rng_exponential(&q.arrivals) * mm1_mean(&q);
    return q;
}

double mm1_next(struct mm1 *q, double *due)
{
    double time = q->wait + rng_exponential(&q->services) * q->service;
    double gap = rng_exponential(&q->arrivals) * q->gap;

    *due = q->now;
    q->now += gap;
    q->wait = fmax(0, time - gap);
    return time;
}

void mm1_draw(struct mm1 *q, double *times, size_t n)
{
    double ignored;

    for (size_t i = 0; i < n; i++)
        times[i] = mm1_next(q, &ignored);
}
