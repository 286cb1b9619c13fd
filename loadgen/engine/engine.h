/* engine.h - the single-threaded heart: sends what is due, follows each request
 * to its end, records it.
 *
 * It lives on one event base and is only ever called from that thread, but for
 * a transport with a thread of its own, which takes turns with it (gate.h).
 * When nothing is left to do it breaks the base's loop.
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
struct workload;
struct phases;
struct settings;
struct shard;
struct transport_ops;

/* Everything is borrowed. */
struct engine_env {
    const struct settings *settings;
    const struct workload *workload; /* of what requests are like */
    const struct transport_ops *transport;
    const struct clk *clk;
    struct phases *phases;   /* of all lanes; NULL: this is the only one */
    struct lane lane;        /* this engine's share of the schedule ... */
    int64_t max_connections; /* ... of the connections */
    int64_t max_in_flight;   /* ... and of the bound on requests in flight */
    int64_t preconnect;      /* ... and of those opened ahead */
    bool stamps_all;         /* see struct transport_env */
    int64_t short_wait_ns;   /* nobody sleeps for less */
    int64_t observe_ns;      /* time between two observations; 0: 1 s */
    struct answers *answers; /* where they are kept; NULL: nowhere */
};

/* taken = issued + unsent, issued = done + in flight. */
struct engine_counts {
    int64_t issued;
    int64_t unsent;
    int64_t done;
    int64_t failed; /* of those done */
};

/* Makes the transport and opens the connections that are asked for ahead; may
 * block for that.  ERR_IO, ERR_CONFIG. */
int engine_new(struct engine **engine, const struct engine_env *env,
               struct event_base *base, struct err *err);

/* Accepts NULL. */
void engine_free(struct engine *engine);

/* Begin, with facts recorded to `shard` and the clock of the run starting at
 * start_ns, soon.  The caller then runs the base's loop. */
void engine_begin(struct engine *engine, struct shard *shard, int64_t start_ns);

/* Cut the run now: what is due and not issued is unsent, what is in flight is
 * unfinished. */
void engine_cut(struct engine *engine);

/* What stands between the caller and a thread of the transport, for what they
 * share besides the engine; the engine's functions go through it themselves.
 * NULL: there is no such thread. */
struct handoff *engine_gate(struct engine *engine);

/* What it saw of itself since the last call, to be recorded; inside. */
struct observation engine_observe(struct engine *engine);

/* How long after one the next is due. */
int64_t engine_observe_ns(const struct engine *engine);

struct engine_counts engine_counts(const struct engine *engine);
const struct failures *engine_failures(const struct engine *engine);

/* Why the schedule ended before its end; NULL: it did not. */
const struct err *engine_broken_off(const struct engine *engine);

/* How it ended; valid at the end. */
struct engine_end {
    int64_t due_end_ns; /* every request due before this has been recorded */
    int64_t window_start_ns; /* DUE_UNKNOWN: it never began ... */
    int64_t window_end_ns;   /* ... or nothing but due_end_ns ended it */
    bool was_cut;            /* before everything was sent and over */
    struct socket_path path;
};

struct engine_end engine_end(const struct engine *engine);

#endif
