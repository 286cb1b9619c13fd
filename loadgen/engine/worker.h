/* worker.h - one thread that runs an engine.
 *
 * It owns its event base, its connections, its requests in flight and its
 * shard of the recording, and shares only const data.
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

/* Start the thread, which records to `shard` and owns it from here on; the
 * clock of the run starts at start_ns, soon.  The thread is pinned to `cpu`
 * unless that is WORKER_ANY_CPU.  ERR_IO. */
#define WORKER_ANY_CPU (-1)
int worker_start(struct worker *worker, struct shard *shard, int64_t start_ns,
                 int cpu, struct err *err);

/* Cut the run now, see engine_cut().  Any thread. */
void worker_cut(struct worker *worker);

/* End the load and wait for what is in flight, see engine_cut().  Any thread.
 */
void worker_stop(struct worker *worker);

/* Has its thread ended?  Any thread. */
bool worker_is_done(const struct worker *worker);

/* Wait for the thread; from here on the engine's results may be read.  ERR_IO
 * if its event loop failed or its schedule could not be read; then the run was
 * cut. */
int worker_join(struct worker *worker, struct err *err);

/* After worker_join(): by how much its thread was late for the start of the
 * clock; 0: it was not. */
int64_t worker_late_ns(const struct worker *worker);
const struct engine *worker_engine(const struct worker *worker);

#endif
