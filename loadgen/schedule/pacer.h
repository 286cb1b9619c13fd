/* pacer.h - what to do with the request that is due next.  Pure.
 *
 * Everything that is due is sent, however late, with one exception: after the
 * client was suspended the server is not to be flooded with what fell due
 * meanwhile.
 */
#ifndef LOADGEN_SCHEDULE_PACER_H
#define LOADGEN_SCHEDULE_PACER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/clk.h"

/* A client that does not run for this long though it has to was suspended. */
#define PACER_SUSPENDED_NS (250 * NS_PER_MS)

enum pace {
    PACE_ISSUE,  /* it is due: send it */
    PACE_UNSENT, /* its deadline passed while it waited for room, or it is
                    beyond the burst that may follow a suspension */
    PACE_WAIT,   /* nothing is due before due_ns */
    PACE_FULL,   /* it is due, but there is no room */
    PACE_IDLE,   /* nothing is due until a request ends */
    PACE_OVER,   /* nothing will be due any more */
};

/* Times in ns after the start of the run. */
struct pacer {
    int64_t timeout_ns;
    int64_t max_burst;
    int64_t resumed_ns; /* end of the last suspension */
    int64_t burst_left; /* of max_burst, for what was due before it */
};

struct pacer pacer_make(int64_t timeout_ns, int64_t max_burst);

/* The client had to run at wake_ns.  How long it was suspended; 0: it was not.
 */
int64_t pacer_wake(struct pacer *p, int64_t now_ns, int64_t wake_ns);

/* due_ns may be DUE_UNKNOWN or DUE_NEVER.  PACE_ISSUE is taken as done. */
enum pace pacer_decide(struct pacer *p, int64_t now_ns, int64_t due_ns,
                       bool has_room);

#endif
