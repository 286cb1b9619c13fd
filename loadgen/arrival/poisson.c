/* Independent users: exponential gaps with the given mean rate. */
#include "loadgen/arrival/arrival_impl.h"

#include "common/rng.h"

struct poisson {
    double mean_gap_ns;
};

static int poisson_init(void *self, double rate_rps, struct err *err)
{
    struct poisson *p = self;

    return arrival_mean_gap(rate_rps, &p->mean_gap_ns, err);
}

static double poisson_gap_ns(void *self, struct rng *rng)
{
    const struct poisson *p = self;

    return rng_exponential(rng) * p->mean_gap_ns;
}

const struct arrival_ops arrival_poisson = {
    .name = "poisson",
    .state_size = sizeof(struct poisson),
    .init = poisson_init,
    .gap_ns = poisson_gap_ns,
};
