/* recorder.h - from the workers' memory to the disk, off the hot path.
 *
 * Each worker has a shard: a ring of chunks that it fills and hands over.  One
 * thread encodes and writes them, so that a slow disk delays no request until
 * the ring is full; then the worker waits, and counts for how long.  Memory
 * does not grow with the run.
 */
#ifndef LOADGEN_RECORD_RECORDER_H
#define LOADGEN_RECORD_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/measure/measure.h"
#include "common/recording/schema.h"

struct err;
struct recorder;
struct shard;

/* Create DIR/requests.tgr and DIR/client.tgr, and DIR/events.tgr for streams,
 * and start the thread.  ERR_IO. */
int recorder_new(struct recorder **recorder, const char *dir, int n_shards,
                 bool has_events, struct err *err);

/* Write what is left, end the thread, close the files.  Fails with the first
 * write error, if any: what came before it is on disk.  Accepts NULL. */
int recorder_finish(struct recorder *recorder, struct err *err);

/* Has the disk failed?  Any thread. */
bool recorder_has_failed(const struct recorder *recorder);

/* Called with every chunk: a shard's rows, and its observation or NULL; both
 * are borrowed for the call.  On the recorder's thread, in order for each
 * shard, even if the disk has failed. */
struct watcher {
    void (*saw)(void *arg, unsigned shard, const struct facts *rows, size_t n,
                const struct observation *seen);
    void *arg;
};

/* At most one watcher, before any shard is filled. */
void recorder_watch(struct recorder *recorder, struct watcher watcher);

int recorder_n_shards(const struct recorder *recorder);

/* The functions below are for the one thread that owns the shard. */
struct shard *recorder_shard(struct recorder *recorder, int i);

/* An event of a stream, before its request; only if there are events. */
void shard_add_event(struct shard *shard, const struct content_event *event);
void shard_add(struct shard *shard, const struct facts *facts);

/* A request that is left unsent because the run was cut: joins those of one
 * class that are due within a millisecond into one row.  `is_first`: the first
 * of a phase of the run, which is not joined with those before it. */
void shard_add_unsent(struct shard *shard, const struct facts *facts,
                      bool is_first);

/* Once per second; also hands over the rows so far. */
void shard_observe(struct shard *shard, const struct observation *seen);

/* Hand over everything, before the thread ends. */
void shard_flush(struct shard *shard);

/* Total time spent waiting for an empty chunk. */
int64_t shard_waited_ns(const struct shard *shard);

#endif
