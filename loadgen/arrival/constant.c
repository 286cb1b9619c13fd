#include "loadgen/arrival/arrival_impl.h"

struct constant {
    double gap_ns;
};

static int constant_init(void *self, double rate_rps, struct err *err)
{
    struct constant *c = self;

    return arrival_mean_gap(rate_rps, &c->gap_ns, err);
}

static double constant_gap_ns(void *self, struct rng *rng)
{
    const struct constant *c = self;

    (void)rng;
    return c->gap_ns;
}

const struct arrival_ops arrival_constant = {
    .name = "constant",
    .help = "a metronome: one request every 1/rate seconds",
    .state_size = sizeof(struct constant),
    .init = constant_init,
    .gap_ns = constant_gap_ns,
};
