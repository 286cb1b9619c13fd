/* session.h - a conversation on its way: turns in sequence, each of which
 * carries what was said before it.
 *
 * The source owns it and says when its turns are due; what was said is added by
 * api/history.h.  One worker has all turns of a session.
 */
#ifndef LOADGEN_SCHEDULE_SESSION_H
#define LOADGEN_SCHEDULE_SESSION_H

#include <stdint.h>

#include "common/base/buf.h"
#include "common/measure/measure.h"

#define SESSION_TURN_BITS 20
#define SESSION_MAX_TURNS (INT64_C(1) << SESSION_TURN_BITS)

/* Of what was said, as it goes into a body. */
#define SESSION_MAX_PAST ((size_t)32 << 20)

struct session {
    int64_t id;          /* place among the arrivals of sessions */
    int64_t turn;        /* that is due, or in flight; from 0 */
    int64_t n_turns;     /* that it is to have */
    struct buf past;     /* what was said before this turn */
    int64_t past_tokens; /* of that; TIME_ABSENT: nobody knows */
    struct session *next_free;
    struct session *next; /* of all that the source has made */
};

/* A number for each turn of each session, from which all that is drawn for it
 * comes: who sends it, and what else was sent, has no part in it. */
static inline int64_t session_key(int64_t session, int64_t turn)
{
    return (int64_t)((uint64_t)session << SESSION_TURN_BITS | (uint64_t)turn);
}

/* The same of a request; outside of sessions it is its place. */
static inline int64_t request_key(const struct facts *f)
{
    return f->session == TIME_ABSENT ? f->seq
                                     : session_key(f->session, f->turn);
}

/* What decides where it goes: all turns of a session go the same way. */
static inline int64_t request_place(const struct facts *f)
{
    return f->session == TIME_ABSENT ? f->seq : f->session;
}

#endif
