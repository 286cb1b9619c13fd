/* Independent users: exponential gaps. */
#include "loadgen/schedule/arrival_impl.h"

#include "common/base/rng.h"

static double poisson_gap(void *self, struct rng *rng)
{
    (void)self;
    return rng_exponential(rng);
}

const struct arrival_ops arrival_poisson = {
    .name = "poisson",
    .state_size = 1,
    .gap = poisson_gap,
};
