#include "loadgen/transport/grpc/grpc_queue.h"

#include "common/base/err.h"

/* The time of this many completions is taken before they are processed. */
#define BATCH 16

/* ---- the queue's thread ---- */

/* Completions that came together all get their time before the first of them is
 * processed, which may take as long as starting another call. */
static grpc_event next_event(struct rpc_queue *q)
{
    gpr_timespec now = gpr_inf_past(GPR_CLOCK_MONOTONIC);
    gpr_timespec ever = gpr_inf_future(GPR_CLOCK_MONOTONIC);
    grpc_event e;

    if (q->n_posts > 0 && q->n_posts < BATCH) {
        e = grpc_completion_queue_next(q->cq, now, NULL);
        if (e.type != GRPC_QUEUE_TIMEOUT)
            return e;
    }
    if (q->n_posts > 0)
        handoff_serve(&q->handoff);
    q->n_posts = 0;
    return grpc_completion_queue_next(q->cq, ever, NULL);
}

static void *queue_main(void *arg)
{
    struct rpc_queue *q = arg;

    for (;;) {
        grpc_event e = next_event(q);
        struct rpc_tag *tag = e.tag;

        if (e.type == GRPC_QUEUE_SHUTDOWN)
            return NULL;
        atomic_load_explicit(&tag->seen, memory_order_acquire)(tag, e.success,
                                                               clk_now(q->clk));
    }
}

void rpc_queue_post(struct rpc_queue *q, struct post *post, int64_t at_ns)
{
    post->at_ns = at_ns;
    q->n_posts++;
    handoff_post(&q->handoff, post);
}

bool rpc_queue_add_backlog(struct rpc_queue *q, size_t len)
{
    return atomic_fetch_add_explicit(&q->backlog, (int64_t)len,
                                     memory_order_relaxed) +
               (int64_t)len >
           RPC_MAX_BACKLOG;
}

void rpc_queue_drop_backlog(struct rpc_queue *q, size_t len)
{
    atomic_fetch_sub_explicit(&q->backlog, (int64_t)len, memory_order_relaxed);
}

/* ---- the worker's thread ---- */

int rpc_queue_init(struct rpc_queue *q, struct event_base *base,
                   const struct clk *clk, struct err *err)
{
    q->clk = clk;
    q->cq = grpc_completion_queue_create_for_next(NULL);
    if (handoff_init(&q->handoff, base, err))
        return -1;
    if (pthread_create(&q->thread, NULL, queue_main, q))
        return err_set(err, ERR_IO, "cannot start a thread for gRPC");
    q->has_thread = true;
    return 0;
}

void rpc_queue_fini(struct rpc_queue *q)
{
    if (!q->cq)
        return;
    grpc_completion_queue_shutdown(q->cq);
    if (q->has_thread)
        pthread_join(q->thread, NULL);
    grpc_completion_queue_destroy(q->cq);
    handoff_fini(&q->handoff);
    *q = (struct rpc_queue){0};
}
