/* pacer.h - what to do with the request that is due next.  Pure. */
#ifndef LOADGEN_PACER_H
#define LOADGEN_PACER_H

#include <stdbool.h>
#include <stdint.h>

enum pace {
    PACE_ISSUE,  /* it is due: send it */
    PACE_UNSENT, /* its deadline passed while it waited for room */
    PACE_WAIT,   /* nothing is due before due_ns */
    PACE_FULL,   /* it is due, but every connection is taken */
    PACE_IDLE,   /* nothing is known to become due */
};

/* Times in ns after the start of the run; due_ns may be DUE_UNKNOWN. */
enum pace pacer_decide(int64_t now_ns, int64_t due_ns, int64_t timeout_ns,
                       bool has_room);

#endif
