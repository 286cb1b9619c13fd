/* arrival.h - the gaps between requests of an open loop.
 *
 * An arrival process is a pure function of its settings and a seed.  It knows
 * no clock, no socket and no response: that is what keeps the load open-loop.
 */
#ifndef LOADGEN_ARRIVAL_ARRIVAL_H
#define LOADGEN_ARRIVAL_ARRIVAL_H

#include <stddef.h>

#include "common/settings.h"

struct err;
struct rng;

/* One arrival process.  The caller allocates state_size zeroed bytes and hands
 * them to every call as `self`; calls come from one thread and must not block.
 */
struct arrival_ops {
    const char *name; /* as written in the settings */
    size_t state_size;

    /* Check the rate and fill in self.  Required. */
    int (*init)(void *self, double rate_rps, struct err *err);

    /* Time from the last arrival to the next.  Required. */
    double (*gap_ns)(void *self, struct rng *rng);
};

const struct arrival_ops *arrival_of(enum arrival arrival);

#endif
