/* A metronome; the first request is due at once. */
#include "loadgen/schedule/arrival_impl.h"

#include <stdbool.h>

struct constant {
    bool has_begun;
};

static double constant_gap(void *self, struct rng *rng)
{
    struct constant *c = self;
    bool is_first = !c->has_begun;

    (void)rng;
    c->has_begun = true;
    return is_first ? 0 : 1;
}

const struct arrival_ops arrival_constant = {
    .name = "constant",
    .state_size = sizeof(struct constant),
    .gap = constant_gap,
};
