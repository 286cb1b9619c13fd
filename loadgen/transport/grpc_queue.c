#include "loadgen/transport/grpc_queue.h"

#include <event2/event.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/err.h"

/* So many events in a row, then the worker is told. */
#define BATCH 16

/* ---- the queue's thread ---- */

static void wake_worker(struct rpc_queue *q)
{
    uint64_t one = 1;

    q->has_news = false;
    q->n_unsaid = 0;
    if (write(q->wake_fd, &one, sizeof(one)) < 0)
        return; /* it is full: the worker will come */
}

/* The worker is woken once for what comes together: on a CPU that both share,
 * it would otherwise take turns with this thread for each of them. */
static grpc_event next_event(struct rpc_queue *q)
{
    grpc_event e;

    if (q->has_news) {
        e = grpc_completion_queue_next(q->cq, gpr_inf_past(GPR_CLOCK_MONOTONIC),
                                       NULL);
        if (++q->n_unsaid >= BATCH || e.type == GRPC_QUEUE_TIMEOUT)
            wake_worker(q);
        if (e.type != GRPC_QUEUE_TIMEOUT)
            return e;
    }
    return grpc_completion_queue_next(
        q->cq, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
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

void rpc_queue_post(struct rpc_queue *q, struct rpc_post *post)
{
    struct rpc_post *newest =
        atomic_load_explicit(&q->posts, memory_order_relaxed);

    do {
        post->next = newest;
    } while (!atomic_compare_exchange_weak_explicit(
        &q->posts, &newest, post, memory_order_release, memory_order_relaxed));
    q->has_news |= !newest;
}

/* ---- the worker's ---- */

static struct rpc_post *take_all(struct rpc_queue *q)
{
    struct rpc_post *post =
        atomic_exchange_explicit(&q->posts, NULL, memory_order_acquire);
    struct rpc_post *oldest = NULL;

    while (post) {
        struct rpc_post *next = post->next;

        post->next = oldest;
        oldest = post;
        post = next;
    }
    return oldest;
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
    struct rpc_queue *q = arg;
    struct rpc_post *post;
    uint64_t count;

    (void)what;
    if (read(fd, &count, sizeof(count)) < 0)
        return; /* somebody was here before */
    post = take_all(q);
    while (post) {
        struct rpc_post *next = post->next;

        post->run(post);
        post = next;
    }
}

void rpc_queue_wait(struct rpc_queue *q)
{
    struct pollfd poller = {.fd = q->wake_fd, .events = POLLIN};

    poll(&poller, 1, -1);
    on_wake(q->wake_fd, EV_READ, q);
}

int64_t rpc_queue_cpu_ns(const struct rpc_queue *q)
{
    return q->has_thread ? clk_cpu_ns_of(q->thread) : 0;
}

int rpc_queue_init(struct rpc_queue *q, struct event_base *base,
                   const struct clk *clk, struct err *err)
{
    q->clk = clk;
    q->cq = grpc_completion_queue_create_for_next(NULL);
    q->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    q->wake = event_new(base, q->wake_fd, EV_READ | EV_PERSIST, on_wake, q);
    if (q->wake_fd < 0 || !q->wake || event_add(q->wake, NULL))
        return err_set(err, ERR_IO, "no event can be had for gRPC");
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
    if (q->wake)
        event_free(q->wake);
    if (q->wake_fd >= 0)
        close(q->wake_fd);
    *q = (struct rpc_queue){0};
}
