/* worker.h - one thread that runs an engine.
 *
 * It owns its event base, its connections, its requests in flight and its
 * shard of the recording; it shares const data and nothing else.
 */
#ifndef LOADGEN_ENGINE_WORKER_H
#define LOADGEN_ENGINE_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "loadgen/engine/engine.h"

struct err;
struct shard;
struct worker;

/* See engine_new().  ERR_IO, ERR_CONFIG. */
int worker_new(struct worker **worker, const struct engine_env *env,
               struct err *err);

/* Accepts NULL; not while its thread runs. */
void worker_free(struct worker *worker);

/* Record to `shard`, which is its alone from here on; the clock of the run
 * starts at start_ns, soon.  The thread is kept on `cpu`; WORKER_ANY_CPU: on
 * none.  ERR_IO. */
#define WORKER_ANY_CPU (-1)
int worker_start(struct worker *worker, struct shard *shard, int64_t start_ns,
                 int cpu, struct err *err);

/* Cut the run now, see engine_cut().  Any thread. */
void worker_cut(struct worker *worker);

/* Has its thread nothing left to do?  Any thread. */
bool worker_is_done(const struct worker *worker);

/* Wait for the thread.  From here on the engine may be asked how it went.
 * ERR_IO if its event loop failed, or what the schedule is read from; then the
 * run was cut. */
int worker_join(struct worker *worker, struct err *err);
const struct engine *worker_engine(const struct worker *worker);

#endif
