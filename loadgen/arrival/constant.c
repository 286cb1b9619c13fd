/* A metronome: one request every 1/rate seconds. */
#include "loadgen/arrival/arrival_impl.h"

#include <stdbool.h>

struct constant {
    double gap_ns;
    bool has_begun; /* the first request is due at once */
};

static int constant_init(void *self, double rate_rps, struct err *err)
{
    struct constant *c = self;

    return arrival_mean_gap(rate_rps, &c->gap_ns, err);
}

static double constant_gap_ns(void *self, struct rng *rng)
{
    struct constant *c = self;
    bool is_first = !c->has_begun;

    (void)rng;
    c->has_begun = true;
    return is_first ? 0 : c->gap_ns;
}

const struct arrival_ops arrival_constant = {
    .name = "constant",
    .state_size = sizeof(struct constant),
    .init = constant_init,
    .gap_ns = constant_gap_ns,
};
