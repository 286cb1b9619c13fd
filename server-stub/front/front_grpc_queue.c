#include "server-stub/front/front_grpc_queue.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <event2/event.h>
#include <grpc/grpc.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "server-stub/front/stub_loop.h"

struct note {
    void *tag;
    bool ok;
    int64_t at_ns;
};

struct notes {
    struct note *items; /* owned */
    size_t len;
    size_t cap;
};

struct grpc_queue {
    const struct clk *clk;
    grpc_queue_hook *hook;
    void *arg;
    grpc_completion_queue *cq;
    int fd; /* readable: there are notes */
    struct event *event;
    bool has_thread;
    pthread_t thread;
    struct notes taken;   /* the loop's */
    pthread_mutex_t lock; /* of what is below */
    struct notes notes;
};

/* ---- the thread ---- */

static void notes_add(struct notes *notes, struct note note)
{
    if (notes->len == notes->cap) {
        notes->cap = notes->cap ? 2 * notes->cap : 64;
        notes->items =
            xrealloc(notes->items, notes->cap, sizeof(*notes->items));
    }
    notes->items[notes->len++] = note;
}

/* Whoever finds it empty wakes the loop, which takes all there is. */
static void put(struct grpc_queue *q, const grpc_event *event)
{
    const uint64_t one = 1;
    bool was_empty;

    pthread_mutex_lock(&q->lock);
    was_empty = q->notes.len == 0;
    notes_add(&q->notes,
              (struct note){event->tag, event->success != 0, clk_now(q->clk)});
    pthread_mutex_unlock(&q->lock);
    while (was_empty && write(q->fd, &one, sizeof(one)) < 0 && errno == EINTR)
        continue;
}

static void *watch(void *arg)
{
    struct grpc_queue *q = arg;

    for (;;) {
        grpc_event event = grpc_completion_queue_next(
            q->cq, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);

        if (event.type == GRPC_QUEUE_SHUTDOWN)
            return NULL;
        if (event.type == GRPC_OP_COMPLETE)
            put(q, &event);
    }
}

/* ---- the loop ---- */

static void handle(struct grpc_queue *q)
{
    struct notes there;

    pthread_mutex_lock(&q->lock);
    there = q->notes;
    q->notes = q->taken; /* empty, with room */
    pthread_mutex_unlock(&q->lock);
    q->taken = there;
    for (size_t i = 0; i < there.len; i++)
        q->hook(q->arg, there.items[i].tag, there.items[i].ok,
                there.items[i].at_ns);
    q->taken.len = 0;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    uint64_t times;

    (void)what;
    if (read((int)fd, &times, sizeof(times)) == sizeof(times))
        handle(arg);
}

void grpc_queue_wait(struct grpc_queue *q)
{
    struct pollfd ready = {.fd = q->fd, .events = POLLIN};

    if (poll(&ready, 1, -1) > 0)
        on_readable(q->fd, 0, q);
}

/* ---- making and ending ---- */

static int watch_on(struct grpc_queue *q, struct loop *loop, struct err *err)
{
    int rc;

    q->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (q->fd < 0)
        return err_set(err, ERR_IO, "cannot watch a queue of gRPC: %s",
                       strerror(errno));
    q->event =
        event_new(loop_base(loop), q->fd, EV_READ | EV_PERSIST, on_readable, q);
    if (!q->event || event_add(q->event, NULL))
        return err_set(err, ERR_IO, "cannot watch a queue of gRPC");
    rc = pthread_create(&q->thread, NULL, watch, q);
    if (rc)
        return err_set(err, ERR_IO, "a thread for gRPC: %s", strerror(rc));
    q->has_thread = true;
    return 0;
}

struct grpc_queue *grpc_queue_new(struct loop *loop, const struct clk *clk,
                                  grpc_queue_hook *hook, void *arg,
                                  struct err *err)
{
    struct grpc_queue *q = xcalloc(1, sizeof(*q));

    *q = (struct grpc_queue){.clk = clk, .hook = hook, .arg = arg, .fd = -1};
    pthread_mutex_init(&q->lock, NULL);
    q->cq = grpc_completion_queue_create_for_next(NULL);
    if (watch_on(q, loop, err) == 0)
        return q;
    grpc_queue_free(q);
    return NULL;
}

/* Without its thread somebody has to see that the queue is empty. */
void grpc_queue_free(struct grpc_queue *q)
{
    if (!q)
        return;
    grpc_completion_queue_shutdown(q->cq);
    if (q->has_thread)
        pthread_join(q->thread, NULL);
    else
        watch(q);
    grpc_completion_queue_destroy(q->cq);
    if (q->event)
        event_free(q->event);
    if (q->fd >= 0)
        close(q->fd);
    pthread_mutex_destroy(&q->lock);
    free(q->notes.items);
    free(q->taken.items);
    free(q);
}

struct grpc_completion_queue *grpc_queue_of(const struct grpc_queue *q)
{
    return q->cq;
}
