/* engine.h - the single-threaded heart: sends what is due, follows each request
 * to its end, records it.
 *
 * It lives on one event base and is only ever called from that thread.  When
 * nothing is left to do it breaks the base's loop.
 */
#ifndef LOADGEN_ENGINE_H
#define LOADGEN_ENGINE_H

#include <stdint.h>

#include "common/clk.h"
#include "common/recording/failures.h"
#include "common/recording/schema.h"

struct engine;
struct err;
struct event_base;
struct settings;
struct shard;
struct target;
struct transport_ops;

/* Everything is borrowed. */
struct engine_env {
    const struct settings *settings;
    const struct target *target;
    const struct transport_ops *transport;
    const struct clk *clk;
    int64_t max_connections;
};

/* taken = issued + unsent, issued = done + in flight. */
struct engine_counts {
    int64_t issued;
    int64_t unsent;
    int64_t done;
    int64_t failed; /* of those done */
};

/* Makes the transport, which tries the target's addresses until one answers.
 * ERR_IO, ERR_CONFIG. */
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

/* What it saw of itself since the last call, to be recorded. */
struct observation engine_observe(struct engine *engine);

struct engine_counts engine_counts(const struct engine *engine);
const struct failures *engine_failures(const struct engine *engine);

/* Every request due before this has been recorded; valid at the end. */
int64_t engine_due_end_ns(const struct engine *engine);

#endif
