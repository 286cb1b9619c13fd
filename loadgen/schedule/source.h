/* source.h - which request is due next, and when.
 *
 * The open loop draws due times from an arrival process and never learns how
 * the server is doing; a trace contains them.  The closed loop has N clients:
 * the next request of a client is due when its last one has ended.  Sessions
 * arrive as in the open loop; within a session each turn waits for the answer
 * to the last.  Offline, all requests are due at once.
 */
#ifndef LOADGEN_SCHEDULE_SOURCE_H
#define LOADGEN_SCHEDULE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "common/spec/shard_id.h"

struct err;
struct load_settings;
struct request;
struct row;
struct session;
struct window_limits;

/* It is not known yet when the next request is due. */
#define DUE_UNKNOWN INT64_MAX
/* No further request will be due. */
#define DUE_NEVER (INT64_MAX - 1)

/* The requests of the run that one worker sends: those with the sequence
 * numbers worker + k * workers, unless there is a probe shard.  The schedule of
 * the run does not depend on it. */
struct lane {
    int64_t worker; /* from 0 */
    int64_t workers;
    struct shard_layout shards; /* probe_every 0: it does not matter */
};

/* The lane of thread `thread` of a shard: together the lanes of a shard have
 * its sequence numbers, whatever the number of its threads. */
static inline struct lane lane_of_shard(int64_t index,
                                        struct shard_layout shards,
                                        int64_t thread, int64_t threads)
{
    return (struct lane){.worker = index + shards.count * thread,
                         .workers = shards.count * threads,
                         .shards = shards};
}

/* The requests of a lane, in an open loop: lane_seq() of its first turn, and of
 * each that is a step later. */
static inline int64_t lane_first_turn(struct lane lane)
{
    int64_t n = lane.shards.count;
    int64_t shard;

    if (lane.shards.probe_every == 0)
        return lane.worker;
    shard = lane.worker % n;
    return shard_is_probe(lane.shards, shard)
               ? lane.worker / n
               : shard + shard_peers(lane.shards, shard) * (lane.worker / n);
}

static inline int64_t lane_step(struct lane lane)
{
    int64_t n = lane.shards.count;

    return lane.shards.probe_every == 0
               ? lane.workers
               : shard_peers(lane.shards, lane.worker % n) * (lane.workers / n);
}

static inline int64_t lane_seq(struct lane lane, int64_t turn)
{
    return lane.shards.probe_every == 0
               ? turn
               : shard_turn_seq(lane.shards, lane.worker % lane.shards.count,
                                turn);
}

/* The lane's part of a total that is divided evenly. */
static inline int64_t lane_share(int64_t total, struct lane lane)
{
    return total / lane.workers + (lane.worker < total % lane.workers);
}

struct due {
    int64_t seq;   /* index in the schedule, increasing */
    int64_t at_ns; /* after the start of the run; never decreasing */

    /* What the request carries, if the schedule defines it; valid until the
     * next call.  NULL: it does not. */
    const struct row *row;

    /* The session that it is a turn of; owned by the source, valid until
     * ended() returns.  NULL: it belongs to no session. */
    struct session *session;
};

/* The caller allocates state_size zeroed bytes and passes them to every call as
 * `self`; calls come from one thread and must not block.  The state begins with
 * a struct window_limits: see source_limits(). */
struct source_ops {
    size_t state_size;

    /* Required. */
    int (*init)(void *self, const struct load_settings *load, struct lane lane,
                struct err *err);

    /* When the next request is due, DUE_UNKNOWN or DUE_NEVER.  Required. */
    int64_t (*peek_ns)(void *self);

    /* Take that request.  Only after a peek that returned a time.  Required. */
    struct due (*take)(void *self);

    /* Take all remaining requests: *n of them, due at the same time, with
     * sequence numbers lane.workers apart.  Returns the first.  Only after a
     * peek that returned a time.  Optional. */
    struct due (*take_rest)(void *self, int64_t *n);

    /* A request that was taken has ended and its facts are complete; its client
     * can send again at end_ns.  Optional. */
    void (*ended)(void *self, const struct request *r, int64_t end_ns);

    /* Once peek_ns() has returned DUE_NEVER: all requests of the lane that are
     * due before this time have been taken.  Required. */
    int64_t (*due_end_ns)(void *self);

    /* The error that cut the schedule short; NULL: none.  Optional. */
    const struct err *(*failure)(const void *self);

    /* Release what init acquired; safe after an init that failed.  Optional. */
    void (*fini)(void *self);
};

/* When the window begins and ends, as far as known.  To share the window with
 * other lanes or threads, call window_limits_publish() before the first peek.
 */
static inline struct window_limits *source_limits(void *self)
{
    return self;
}

extern const struct source_ops source_open;
extern const struct source_ops source_closed;
extern const struct source_ops source_offline;
extern const struct source_ops source_trace;
extern const struct source_ops source_session;

/* The source for the scenario. */
const struct source_ops *source_for(const struct load_settings *load);

#endif
