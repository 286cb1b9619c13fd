#include "loadgen/engine/handoff.h"

#include <event2/event.h>
#include <limits.h>
#include <time.h>

#include "common/base/clk.h"
#include "common/base/err.h"

/* So many in a row, then the worker's loop looks what else there is. */
#define BATCH 16

static struct post *pop(struct handoff *g)
{
    struct post *post = g->first;

    if (post)
        g->first = post->next;
    return post;
}

/* The mutex is held, and nobody is in.  Who waits at the door has something
 * that is due, and goes first; its leaving sees to the rest. */
static void serve(struct handoff *g, int max)
{
    struct post *post;

    g->is_taken = true;
    while (max-- > 0 && g->n_waiting == 0 && (post = pop(g))) {
        pthread_mutex_unlock(&g->mutex);
        post->run(post);
        pthread_mutex_lock(&g->mutex);
        g->n_run++;
    }
    g->is_taken = false;
    if (g->n_waiting + g->n_idle > 0)
        pthread_cond_broadcast(&g->changed);
}

/* In the next turn of the loop, when it has looked at its timers; an event that
 * is made active would come back in this one. */
static void leave_to_loop(struct handoff *g)
{
    static const struct timeval at_once = {0};

    event_add(g->rest, &at_once);
}

static void take(struct handoff *g)
{
    g->n_waiting++;
    while (g->is_taken)
        pthread_cond_wait(&g->changed, &g->mutex);
    g->n_waiting--;
    g->is_taken = true;
}

void handoff_enter(struct handoff *g)
{
    if (!g)
        return;
    pthread_mutex_lock(&g->mutex);
    take(g);
    pthread_mutex_unlock(&g->mutex);
}

void handoff_leave(struct handoff *g)
{
    bool has_rest;

    if (!g)
        return;
    pthread_mutex_lock(&g->mutex);
    g->is_taken = false;
    has_rest = g->first != NULL;
    if (g->n_waiting + g->n_idle > 0)
        pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->mutex);
    if (has_rest)
        leave_to_loop(g);
}

static void on_rest(evutil_socket_t fd, short what, void *arg)
{
    struct handoff *g = arg;
    bool has_rest = false;

    (void)fd;
    (void)what;
    pthread_mutex_lock(&g->mutex);
    if (!g->is_taken) { /* who is in sees to all */
        serve(g, BATCH);
        has_rest = g->first != NULL;
    }
    pthread_mutex_unlock(&g->mutex);
    if (has_rest)
        leave_to_loop(g);
}

static struct timespec wait_until(int64_t wait_ns)
{
    int64_t at_ns = clk_now(&clk_monotonic) + wait_ns;

    return (struct timespec){.tv_sec = at_ns / NS_PER_S,
                             .tv_nsec = at_ns % NS_PER_S};
}

void handoff_wait(struct handoff *g, int64_t wait_ns)
{
    struct timespec until = wait_until(wait_ns);
    int64_t n_run;

    pthread_mutex_lock(&g->mutex);
    n_run = g->n_run;
    serve(g, INT_MAX);
    g->n_idle++;
    while (g->n_run == n_run &&
           pthread_cond_timedwait(&g->changed, &g->mutex, &until) == 0)
        ;
    g->n_idle--;
    take(g);
    pthread_mutex_unlock(&g->mutex);
}

void handoff_post(struct handoff *g, struct post *post)
{
    post->next = NULL;
    pthread_mutex_lock(&g->mutex);
    if (g->first)
        g->last->next = post;
    else
        g->first = post;
    g->last = post;
    pthread_mutex_unlock(&g->mutex);
}

void handoff_serve(struct handoff *g)
{
    pthread_mutex_lock(&g->mutex);
    if (!g->is_taken)
        serve(g, INT_MAX);
    pthread_mutex_unlock(&g->mutex);
}

int handoff_init(struct handoff *g, struct event_base *base, struct err *err)
{
    pthread_condattr_t attr;

    g->rest = event_new(base, -1, 0, on_rest, g);
    if (!g->rest)
        return err_set(err, ERR_IO, "no event can be had");
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&g->mutex, NULL);
    pthread_cond_init(&g->changed, &attr);
    pthread_condattr_destroy(&attr);
    g->is_made = true;
    return 0;
}

void handoff_fini(struct handoff *g)
{
    if (!g->is_made)
        return;
    event_free(g->rest);
    pthread_cond_destroy(&g->changed);
    pthread_mutex_destroy(&g->mutex);
    *g = (struct handoff){0};
}
