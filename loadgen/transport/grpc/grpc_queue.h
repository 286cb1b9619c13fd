/* grpc_queue.h - gRPC's completion queue, and the thread that waits on it.
 *
 * That thread takes the time of each completion, starts the next read of a
 * stream, and does the rest inside the handoff that it shares with the worker.
 */
#ifndef LOADGEN_TRANSPORT_GRPC_QUEUE_H
#define LOADGEN_TRANSPORT_GRPC_QUEUE_H

#include <grpc/grpc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/clk.h"
#include "loadgen/engine/handoff.h"

struct err;
struct event_base;

/* What gRPC returns when an operation is complete: seen() is then called on the
 * queue's thread, outside the handoff. */
struct rpc_tag;
typedef void rpc_seen_fn(struct rpc_tag *tag, bool ok, int64_t at_ns);
struct rpc_tag {
    _Atomic(rpc_seen_fn *) seen;
};

/* Before each time that gRPC is given the tag.  What was written before is
 * visible to seen(): gRPC ensures it as well, but a sanitizer cannot see that.
 */
static inline void rpc_tag_arm(struct rpc_tag *tag, rpc_seen_fn *seen)
{
    atomic_store_explicit(&tag->seen, seen, memory_order_release);
}

struct rpc_queue {
    grpc_completion_queue *cq;
    const struct clk *clk;
    struct handoff handoff;
    pthread_t thread;
    bool has_thread;
    int n_posts; /* not yet served by the queue's thread */
    _Atomic int64_t
        backlog; /* bytes of messages that the worker has not taken */
};

/* Above this backlog the next read of a stream waits until the worker has taken
 * the message, and HTTP/2's flow control stops the server.  A client that keeps
 * up has a backlog of some kilobytes. */
#define RPC_MAX_BACKLOG ((int64_t)16 << 20)

/* In zeroed memory, which must not move.  ERR_IO.  rpc_queue_fini() may
 * follow either way. */
int rpc_queue_init(struct rpc_queue *q, struct event_base *base,
                   const struct clk *clk, struct err *err);

/* No operation may be under way. */
void rpc_queue_fini(struct rpc_queue *q);

/* The queue's thread: something to be done inside the handoff. */
void rpc_queue_post(struct rpc_queue *q, struct post *post, int64_t at_ns);

/* The queue's thread, before it posts a message of this length.  Returns true
 * if the backlog is full: then the worker starts the next read. */
bool rpc_queue_add_backlog(struct rpc_queue *q, size_t len);

/* Inside: the worker has taken that message. */
void rpc_queue_drop_backlog(struct rpc_queue *q, size_t len);

#endif
