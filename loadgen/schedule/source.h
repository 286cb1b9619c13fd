/* source.h - which request is due next, and when.
 *
 * The open loop draws due times from an arrival process and never learns how
 * the server is doing; a trace says them itself.  The closed loop has N
 * clients: the next request of a client is due when its last one ended.
 * Sessions arrive as in the open loop, and are clients of their own inside.
 * Offline, all are due at once.
 */
#ifndef LOADGEN_SCHEDULE_SOURCE_H
#define LOADGEN_SCHEDULE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct load_settings;
struct phases;
struct window_limits;
struct request;
struct row;
struct session;

/* No request is due at any time that is known now ... */
#define DUE_UNKNOWN INT64_MAX
/* ... and none ever will be. */
#define DUE_NEVER (INT64_MAX - 1)

/* Which of the run's requests are this worker's: those at places
 * worker + k * workers.  The schedule of the run does not depend on it. */
struct lane {
    int64_t worker; /* from 0 */
    int64_t workers;
};

/* The lane's part of what is shared out evenly. */
static inline int64_t lane_share(int64_t total, struct lane lane)
{
    return total / lane.workers + (lane.worker < total % lane.workers);
}

struct due {
    int64_t seq;   /* place in the schedule, in order */
    int64_t at_ns; /* after the start of the run; never decreasing */

    /* What it is to carry, where the schedule says that too; valid until the
     * next call.  NULL: it does not. */
    const struct row *row;

    /* Whose turn it is, the source's until ended() is told; NULL: nobody's. */
    struct session *session;
};

/* The caller allocates state_size zeroed bytes and hands them to every call as
 * `self`; calls come from one thread and must not block. */
struct source_ops {
    const char *name;
    size_t state_size;

    /* Required. */
    int (*init)(void *self, const struct load_settings *load, struct lane lane,
                struct err *err);

    /* There are other lanes, or others who want to know: by these all agree on
     * the window.  Borrowed; before the first peek.  Optional. */
    void (*share)(void *self, struct phases *phases);

    /* When the next request is due, DUE_UNKNOWN or DUE_NEVER.  Required. */
    int64_t (*peek_ns)(void *self);

    /* Take it.  Only after a peek that told a time.  Required. */
    struct due (*take)(void *self);

    /* Take all that is left, *n requests due at the same time, at places that
     * are lane.workers apart; returns the first.  Only after a peek that told a
     * time.  Optional. */
    struct due (*take_rest)(void *self, int64_t *n);

    /* A request that was taken is over; its facts are complete, and at end_ns
     * whoever sent it can send again.  Optional. */
    void (*ended)(void *self, const struct request *r, int64_t end_ns);

    /* Every request of the lane due before this has been given out, once
     * peek_ns() has said DUE_NEVER.  Required. */
    int64_t (*due_end_ns)(void *self);

    /* What is left to send: when the window begins and ends, as far as that is
     * known.  Required. */
    const struct window_limits *(*limits)(const void *self);

    /* What broke the schedule off, if anything did.  Optional. */
    const struct err *(*failure)(const void *self);

    /* Release what init took; safe after an init that failed.  Optional. */
    void (*fini)(void *self);
};

extern const struct source_ops source_open;
extern const struct source_ops source_closed;
extern const struct source_ops source_offline;
extern const struct source_ops source_trace;
extern const struct source_ops source_session;

/* The one that fits the scenario. */
const struct source_ops *source_for(const struct load_settings *load);

#endif
