/* worker.h - one thread that sends requests and records what became of them.
 *
 * It owns its event base, its connections, its requests in flight and its
 * shard of the recording; it shares const data and nothing else.
 */
#ifndef LOADGEN_WORKER_H
#define LOADGEN_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clk.h"
#include "common/recording/failures.h"

struct err;
struct settings;
struct shard;
struct target;
struct transport_ops;
struct worker;

/* Everything is borrowed. */
struct worker_env {
    const struct settings *settings;
    const struct target *target;
    const struct transport_ops *transport;
    const struct clk *clk;
    int64_t max_connections;
};

/* taken = issued + unsent, issued = done + in flight. */
struct worker_counts {
    int64_t issued;
    int64_t unsent;
    int64_t done;
    int64_t failed; /* of those done */
};

/* Makes the transport, which tries one connection.  ERR_IO, ERR_CONFIG. */
int worker_new(struct worker **worker, const struct worker_env *env,
               struct err *err);

/* Record to `shard`, which is its alone from here on; the clock of the run
 * starts at start_ns, soon. */
int worker_start(struct worker *worker, struct shard *shard, int64_t start_ns,
                 struct err *err);

/* Cut the run now: what is due and not issued is unsent, what is in flight is
 * unfinished.  Any thread. */
void worker_cut(struct worker *worker);

/* Has its thread nothing left to do?  Any thread. */
bool worker_is_done(const struct worker *worker);

/* As of the last second.  Any thread. */
struct worker_counts worker_progress(const struct worker *worker);

/* After the thread has ended; the rest is valid from here on. */
void worker_join(struct worker *worker);
struct worker_counts worker_counts(const struct worker *worker);
const struct failures *worker_failures(const struct worker *worker);

/* Every request due before this is in the recording. */
int64_t worker_due_end_ns(const struct worker *worker);

/* Accepts NULL; not while its thread runs. */
void worker_free(struct worker *worker);

#endif
