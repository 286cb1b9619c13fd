/* engine.h - the single-threaded core of a worker: sends what is due, follows
 * each request to its end and records it.
 *
 * An engine lives on one event base.  It is called from that base's thread
 * only, except by a transport with a thread of its own, which takes turns with
 * it (handoff.h).  When nothing is left to do it breaks the base's loop.
 */
#ifndef LOADGEN_ENGINE_ENGINE_H
#define LOADGEN_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/clk.h"
#include "common/recording/failures.h"
#include "common/recording/schema.h"
#include "loadgen/schedule/source.h"
#include "loadgen/transport/socket.h"

struct answers;
struct engine;
struct err;
struct event_base;
struct handoff;
struct phases;
struct settings;
struct shard;
struct transport_ops;
struct workload;

/* Everything is borrowed. */
struct engine_env {
    const struct settings *settings;
    const struct workload *workload; /* what requests are like */
    const struct transport_ops *transport;
    const struct clk *clk;
    struct phases *phases;   /* shared by all workers; NULL: only this one */
    struct lane lane;        /* this worker's share of the schedule, ... */
    int64_t max_connections; /* ... of the connections, ... */
    int64_t max_in_flight;   /* ... of the requests in flight ... */
    int64_t preconnect;      /* ... and of the connections opened ahead */
    bool stamps_all;         /* see struct transport_env */
    int64_t short_wait_ns;   /* shorter waits poll instead of sleeping */
    int64_t observe_ns;      /* time between two observations; 0: 1 s */
    struct answers *answers; /* where answers are kept; NULL: they are not */
};

/* taken = issued + unsent, issued = done + in flight. */
struct engine_counts {
    int64_t issued;
    int64_t unsent;
    int64_t done;
    int64_t failed; /* of those done */
};

/* Create the transport and open the connections that are wanted ahead; may
 * block for that.  ERR_IO, ERR_CONFIG. */
int engine_new(struct engine **engine, const struct engine_env *env,
               struct event_base *base, struct err *err);

/* Accepts NULL. */
void engine_free(struct engine *engine);

/* Begin: facts are recorded to `shard`, and the clock of the run starts at
 * start_ns, soon.  The caller then runs the base's loop. */
void engine_begin(struct engine *engine, struct shard *shard, int64_t start_ns);

/* Cut the run now: requests that are due but not issued are unsent, requests
 * in flight are unfinished.  With `waits`, for open loops, only the load ends
 * now: requests in flight have the drain time to end. */
void engine_cut(struct engine *engine, bool waits);

/* The handoff between the caller's thread and a thread of the transport, for
 * what they share besides the engine; the engine's functions enter it
 * themselves.  NULL: the transport has no thread. */
struct handoff *engine_handoff(struct engine *engine);

/* What the engine saw of itself since the last call, to be recorded.  The
 * caller is inside the handoff. */
struct observation engine_observe(struct engine *engine);

struct engine_counts engine_counts(const struct engine *engine);
const struct failures *engine_failures(const struct engine *engine);

/* Why the schedule ended early; NULL: it did not. */
const struct err *engine_schedule_error(const struct engine *engine);

/* How the run ended for this engine; valid at the end. */
struct engine_end {
    int64_t due_end_ns; /* every request due before this has been recorded */
    int64_t window_start_ns; /* DUE_UNKNOWN: the window never began ... */
    int64_t window_end_ns;   /* ... or only due_end_ns ended it */
    bool was_cut;            /* before everything was sent and answered */
    struct socket_path path;
};

struct engine_end engine_end(const struct engine *engine);

#endif
