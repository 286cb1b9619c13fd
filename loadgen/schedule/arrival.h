/* arrival.h - arrival processes: the gaps between the requests of an open loop,
 * in units of the mean gap.
 *
 * An arrival process is a pure function of its settings and a seed.  It sees
 * no clock, no socket and no response, which keeps the load open-loop.
 * loadgen/schedule/rate_shape.h turns units into time.
 */
#ifndef LOADGEN_SCHEDULE_ARRIVAL_H
#define LOADGEN_SCHEDULE_ARRIVAL_H

#include <stddef.h>

#include "common/settings/settings.h"

struct err;
struct rng;

/* One arrival process.  The caller allocates state_size zeroed bytes and passes
 * them to every call as `self`; calls come from one thread and must not block.
 */
struct arrival_ops {
    const char *name; /* as written in the settings */
    size_t state_size;

    /* Check the settings and fill in self.  ERR_CONFIG.  Optional. */
    int (*init)(void *self, const struct load_settings *load, struct err *err);

    /* The gap from the last arrival to the next; 1 on average.  Required. */
    double (*gap)(void *self, struct rng *rng);
};

const struct arrival_ops *arrival_of(enum arrival arrival);

#endif
