/* grpc_queue.h - gRPC's completion queue, and the thread that waits on it.
 *
 * That thread stamps what it sees, starts the next read of a stream, and posts
 * the rest to the worker's thread, which owns requests and records.  The posts
 * are a list without locks; the worker is woken once for what comes together.
 */
#ifndef LOADGEN_TRANSPORT_GRPC_QUEUE_H
#define LOADGEN_TRANSPORT_GRPC_QUEUE_H

#include <grpc/grpc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/clk.h"

struct err;
struct event;
struct event_base;

/* Something for the worker's thread to do; run() may free it. */
struct rpc_post {
    struct rpc_post *next;
    void (*run)(struct rpc_post *post);
    int64_t at_ns; /* of the clock, when it was seen */
};

/* What gRPC is given to tell of something with: seen() is called on the queue's
 * thread. */
struct rpc_tag;
typedef void rpc_seen_fn(struct rpc_tag *tag, bool ok, int64_t at_ns);
struct rpc_tag {
    _Atomic(rpc_seen_fn *) seen;
};

/* Before each time that gRPC is given it.  What was written before is there for
 * seen(): gRPC sees to that as well, but a sanitizer does not look into it. */
static inline void rpc_tag_arm(struct rpc_tag *tag, rpc_seen_fn *seen)
{
    atomic_store_explicit(&tag->seen, seen, memory_order_release);
}

struct rpc_queue {
    grpc_completion_queue *cq;
    const struct clk *clk;
    pthread_t thread;
    bool has_thread;
    int wake_fd;
    struct event *wake;
    _Atomic(struct rpc_post *) posts; /* the newest first */

    /* The queue's thread's: there are posts of which the worker was not told,
     * since so many events. */
    bool has_news;
    int n_unsaid;
};

/* In zeroed memory.  ERR_IO.  rpc_queue_fini() may follow either way. */
int rpc_queue_init(struct rpc_queue *q, struct event_base *base,
                   const struct clk *clk, struct err *err);

/* Nothing that was started may be under way. */
void rpc_queue_fini(struct rpc_queue *q);

/* The queue's thread. */
void rpc_queue_post(struct rpc_queue *q, struct rpc_post *post);

/* The worker's thread: wait until there is a post, and run all there are. */
void rpc_queue_wait(struct rpc_queue *q);

/* CPU time of the queue's thread. */
int64_t rpc_queue_cpu_ns(const struct rpc_queue *q);

#endif
