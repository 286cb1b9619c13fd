/* recorder.h - from the workers' memory to the disk, off the hot path.
 *
 * Each worker has a shard: a ring of chunks that it fills and hands over.  One
 * thread takes them, encodes and writes, so that a slow disk delays nobody's
 * sends until the ring is full; then the worker waits, and says for how long.
 * Memory does not grow with the run.
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

/* Make DIR/requests.tgr and DIR/client.tgr, for streams DIR/events.tgr too, and
 * start the thread.  ERR_IO. */
int recorder_new(struct recorder **recorder, const char *dir, int n_shards,
                 bool has_events, struct err *err);

/* Write what is left, end the thread, close.  The first error of the disk's,
 * if there was any: what came before it is on disk.  Accepts NULL. */
int recorder_finish(struct recorder *recorder, struct err *err);

/* Has the disk failed?  Any thread. */
bool recorder_has_failed(const struct recorder *recorder);

/* Who wants to know of every chunk: a shard's rows, and what it saw of itself
 * or NULL; both borrowed for the call.  On the recorder's thread, which it
 * holds up, each shard's in order, whatever the disk does. */
struct watcher {
    void (*saw)(void *arg, unsigned shard, const struct facts *rows, size_t n,
                const struct observation *seen);
    void *arg;
};

/* At most one, before any shard is filled. */
void recorder_watch(struct recorder *recorder, struct watcher watcher);

int recorder_n_shards(const struct recorder *recorder);

/* The rest belongs to the one thread that owns the shard. */
struct shard *recorder_shard(struct recorder *recorder, int i);

/* Of a stream; before its request.  Only if the recorder has events. */
void shard_add_event(struct shard *shard, const struct content_event *event);
void shard_add(struct shard *shard, const struct facts *facts);

/* Of requests that are not sent any more since the run was cut, one after the
 * other: joins those of one class that are due within a millisecond into one
 * row.  `is_first`: of a phase of the run; it joins none before it. */
void shard_add_unsent(struct shard *shard, const struct facts *facts,
                      bool is_first);

/* Once a second; hands over what has gathered, unless it is a trickle that can
 * wait a few seconds more. */
void shard_observe(struct shard *shard, const struct observation *seen);

/* Hand over everything, before the thread ends. */
void shard_flush(struct shard *shard);

/* Total time spent waiting for room. */
int64_t shard_waited_ns(const struct shard *shard);

#endif
