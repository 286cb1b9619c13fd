/* session.h - a conversation in progress: turns in sequence, each of which
 * carries the history before it.
 *
 * The source owns the session and decides when its turns are due; api/history.h
 * appends to the history.  All turns of a session run on one worker.
 */
#ifndef LOADGEN_SCHEDULE_SESSION_H
#define LOADGEN_SCHEDULE_SESSION_H

#include <stdint.h>

#include "common/base/buf.h"
#include "common/measure/measure.h"

#define SESSION_TURN_BITS 20
#define SESSION_MAX_TURNS (INT64_C(1) << SESSION_TURN_BITS)

/* Maximum size of the history, as it goes into a body. */
#define SESSION_MAX_PAST ((size_t)32 << 20)

struct session {
    int64_t id;          /* index among the arrivals of sessions */
    int64_t turn;        /* the one that is due or in flight; from 0 */
    int64_t n_turns;     /* planned number of turns */
    struct buf past;     /* the history before this turn */
    int64_t charged;     /* bytes taken from the budget for it */
    int64_t past_tokens; /* tokens in it; TIME_ABSENT: unknown */
    struct session *next_free;
    struct session *next; /* in the list of all that the source has allocated */
};

/* A unique number for each turn of each session.  Everything random about the
 * turn is drawn from it, so it does not depend on the worker or on other
 * requests. */
static inline int64_t session_key(int64_t session, int64_t turn)
{
    return (int64_t)((uint64_t)session << SESSION_TURN_BITS | (uint64_t)turn);
}

/* The same for a request; outside of sessions, its sequence number. */
static inline int64_t request_key(const struct facts *f)
{
    return f->session == TIME_ABSENT ? f->seq
                                     : session_key(f->session, f->turn);
}

/* Decides which target a request goes to: the same for all turns of a session.
 */
static inline int64_t request_place(const struct facts *f)
{
    return f->session == TIME_ABSENT ? f->seq : f->session;
}

#endif
