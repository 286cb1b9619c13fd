/* pacer.h - decides what to do with the request that is due next.  Pure.
 *
 * Every due request is sent, however late, with one exception: after the client
 * was suspended, the requests that became due meanwhile must not flood the
 * server.
 */
#ifndef LOADGEN_ENGINE_PACER_H
#define LOADGEN_ENGINE_PACER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/clk.h"

/* A client that wakes up this late was suspended. */
#define PACER_SUSPENDED_NS (250 * NS_PER_MS)

enum pace {
    PACE_ISSUE,  /* the request is due: send it */
    PACE_UNSENT, /* its deadline passed while it waited for room, or it exceeds
                    the burst allowed after a suspension */
    PACE_WAIT,   /* nothing is due before due_ns */
    PACE_FULL,   /* a request is due, but there is no room */
    PACE_IDLE,   /* nothing is due until a request ends */
    PACE_OVER,   /* nothing will be due any more */
};

/* Times in ns after the start of the run. */
struct pacer {
    int64_t timeout_ns;
    int64_t max_burst;
    int64_t resumed_ns; /* end of the last suspension */
    int64_t
        burst_left; /* how many requests due before resumed_ns may be sent */
};

struct pacer pacer_make(int64_t timeout_ns, int64_t max_burst);

/* The client should have woken at wake_ns and woke at now_ns.  Returns how long
 * it was suspended; 0 if it was not. */
int64_t pacer_wake(struct pacer *p, int64_t now_ns, int64_t wake_ns);

/* due_ns may be DUE_UNKNOWN or DUE_NEVER.  The caller must carry out
 * PACE_ISSUE: it counts against the burst. */
enum pace pacer_decide(struct pacer *p, int64_t now_ns, int64_t due_ns,
                       bool has_room);

#endif
