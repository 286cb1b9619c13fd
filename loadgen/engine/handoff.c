#include "loadgen/engine/handoff.h"

#include <event2/event.h>
#include <limits.h>
#include <time.h>

#include "common/base/clk.h"
#include "common/base/err.h"

/* The loop runs this many posts in a row, then looks at its other events. */
#define BATCH 16

/* The mutex is held and the handoff is free.  A thread that waits to enter has
 * something that is due and goes first; when it leaves, it takes care of the
 * remaining posts. */
static void serve(struct handoff *h, int max)
{
    h->is_taken = true;
    while (max-- > 0 && h->n_waiting == 0 && h->first) {
        struct post *post = h->first;

        h->first = post->next;
        pthread_mutex_unlock(&h->mutex);
        post->run(post);
        pthread_mutex_lock(&h->mutex);
        h->n_run++;
    }
    h->is_taken = false;
    if (h->n_waiting + h->n_idle > 0)
        pthread_cond_broadcast(&h->changed);
}

/* In the next turn of the loop, after its timers; an event that is activated
 * would come back in this turn. */
static void leave_to_loop(struct handoff *h)
{
    static const struct timeval at_once = {0};

    event_add(h->rest, &at_once);
}

static void take(struct handoff *h)
{
    h->n_waiting++;
    while (h->is_taken)
        pthread_cond_wait(&h->changed, &h->mutex);
    h->n_waiting--;
    h->is_taken = true;
}

void handoff_enter(struct handoff *h)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->mutex);
    take(h);
    pthread_mutex_unlock(&h->mutex);
}

void handoff_leave(struct handoff *h)
{
    bool has_rest;

    if (!h)
        return;
    pthread_mutex_lock(&h->mutex);
    h->is_taken = false;
    has_rest = h->first != NULL;
    if (h->n_waiting + h->n_idle > 0)
        pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->mutex);
    if (has_rest)
        leave_to_loop(h);
}

static void on_rest(evutil_socket_t fd, short what, void *arg)
{
    struct handoff *h = arg;
    bool has_rest = false;

    (void)fd;
    (void)what;
    pthread_mutex_lock(&h->mutex);
    if (!h->is_taken) { /* else the thread that is inside runs them */
        serve(h, BATCH);
        has_rest = h->first != NULL;
    }
    pthread_mutex_unlock(&h->mutex);
    if (has_rest)
        leave_to_loop(h);
}

void handoff_wait(struct handoff *h, int64_t wait_ns)
{
    int64_t until_ns = clk_now(&clk_monotonic) + wait_ns;
    struct timespec until = {.tv_sec = until_ns / NS_PER_S,
                             .tv_nsec = until_ns % NS_PER_S};
    int64_t n_run;

    pthread_mutex_lock(&h->mutex);
    n_run = h->n_run;
    serve(h, INT_MAX);
    h->n_idle++;
    while (h->n_run == n_run &&
           pthread_cond_timedwait(&h->changed, &h->mutex, &until) == 0)
        ;
    h->n_idle--;
    take(h);
    pthread_mutex_unlock(&h->mutex);
}

void handoff_post(struct handoff *h, struct post *post)
{
    post->next = NULL;
    pthread_mutex_lock(&h->mutex);
    if (h->first)
        h->last->next = post;
    else
        h->first = post;
    h->last = post;
    pthread_mutex_unlock(&h->mutex);
}

void handoff_serve(struct handoff *h)
{
    pthread_mutex_lock(&h->mutex);
    if (!h->is_taken)
        serve(h, INT_MAX);
    pthread_mutex_unlock(&h->mutex);
}

int handoff_init(struct handoff *h, struct event_base *base, struct err *err)
{
    pthread_condattr_t attr;

    h->rest = event_new(base, -1, 0, on_rest, h);
    if (!h->rest)
        return err_set(err, ERR_IO, "cannot make an event");
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&h->mutex, NULL);
    pthread_cond_init(&h->changed, &attr);
    pthread_condattr_destroy(&attr);
    h->is_made = true;
    return 0;
}

void handoff_fini(struct handoff *h)
{
    if (!h->is_made)
        return;
    event_free(h->rest);
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->mutex);
    *h = (struct handoff){0};
}
