/* engine_parts.h - what the parts of the engine know of each other; nobody else
 * includes it.
 *
 *   engine_pump.c    the loop: what is due now, and how long to wait for it
 *   engine_issue.c   a request begins, or is left unsent
 *   engine_retire.c  a request ends: answered, too late or given up
 *   engine_end.c     the run ends: drained, or cut
 *   engine.c         the rest
 */
#ifndef LOADGEN_ENGINE_ENGINE_PARTS_H
#define LOADGEN_ENGINE_ENGINE_PARTS_H

#include <event2/event.h>

#include "common/base/buf.h"
#include "loadgen/engine/engine.h"
#include "loadgen/engine/handoff.h"
#include "loadgen/engine/inflight.h"
#include "loadgen/engine/request.h"
#include "loadgen/engine/timer.h"
#include "loadgen/schedule/pacer.h"
#include "loadgen/transport/transport.h"

struct engine {
    struct engine_env env;
    struct transport_env transport_env;
    void *transport;
    struct handoff
        *handoff; /* the transport's; NULL: there is only this thread */
    const struct source_ops *source_ops;
    void *source;
    struct shard *shard;
    struct buf line; /* of answers that are kept */

    struct timer due;      /* rings when the next request is due */
    struct timer deadline; /* rings when the oldest one times out */
    struct timer beat;     /* rings while the client runs */
    struct timer drain;    /* rings when nobody waits any longer: */
    int64_t drain_end_ns;  /* INT64_MAX: not set */
    bool has_end;          /* it is known when the load is over */

    struct pacer pacer;
    int64_t armed_ns;      /* the loop must run then for the pacer ... */
    int64_t beat_ns;       /* ... and then for the heartbeat */
    int64_t spin_until_ns; /* an answer may come soon */
    bool is_spinning;      /* since spin_from_ns, unless spin_mark has moved */
    int64_t spin_from_ns;
    int64_t spin_mark;
    int64_t spun_ns;
    int64_t suspended_max_ns; /* since the last observation */

    struct inflight inflight;
    struct engine_counts counts;
    bool is_pumping;
    bool waits_for_end;    /* only the end of a request can make progress */
    bool has_deadline;     /* its alarm is set */
    bool is_full;          /* the cap holds back what is due */
    int64_t full_until_ns; /* what was due by then waited for room */
    int64_t cap_waits;
    int64_t lag_max_ns;  /* since the last observation */
    int64_t n_left_due;  /* requests left unsent at the cut, ... */
    int64_t left_due_ns; /* ... and when the last of them was due */
    struct engine_end end;
    struct failures failures;
};

static inline int64_t engine_now_ns(const struct engine *e)
{
    return transport_now(&e->transport_env);
}

/* engine_pump.c: send what is due, and see to it that the loop comes round for
 * what will be. */
void engine_pump(struct engine *e);
void engine_beat(struct engine *e, int64_t now);

/* The loop has come round: was it when it had to? */
void engine_note_wake(struct engine *e, int64_t now);

/* engine_issue.c: what the source has next. */
void engine_issue(struct engine *e, int64_t now);
void engine_leave_unsent(struct engine *e);

/* What is due before cut_ns is not sent any more.  Returns the time up to which
 * the schedule was followed: less than cut_ns if that would take too long. */
int64_t engine_leave_due(struct engine *e, int64_t cut_ns);

/* engine_retire.c: write down what became of one. */
void engine_record(struct engine *e, const struct request *r);

/* Take one out of flight without waiting for its answer. */
void engine_give_up(struct engine *e, struct request *r, enum outcome outcome,
                    const char *why);

/* The same for streams that are over and go on.  Was there one? */
bool engine_let_go(struct engine *e, int64_t now);

/* From when on the server is waited for. */
int64_t engine_waits_from_ns(const struct engine *e, const struct facts *f);

void engine_arm_deadline(struct engine *e);

/* engine_end.c: everything ends a drain after the load, once it is known when
 * that is. */
void engine_limit_whole(struct engine *e);

/* Nothing is due any more: what is in flight has so much time to end. */
void engine_drain(struct engine *e);

/* Callbacks: of the transport, which is inside of the gate then, and of the
 * alarms of those names, which go in. */
void engine_on_ended(void *arg, struct request *r);
void engine_on_due(evutil_socket_t fd, short what, void *arg);
void engine_on_deadline(evutil_socket_t fd, short what, void *arg);
void engine_on_beat(evutil_socket_t fd, short what, void *arg);
void engine_on_drain(evutil_socket_t fd, short what, void *arg);

#endif
