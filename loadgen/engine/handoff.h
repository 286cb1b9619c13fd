/* handoff.h - one at a time: what the worker's thread and a thread of a
 * transport both touch is touched inside.
 *
 * The worker's thread goes in for what its event loop finds, and out again to
 * wait.  The transport's thread brings posts, things to be done inside: if
 * nobody is in, it does them itself, and no thread has to wake another; if the
 * worker is, they wait for its loop, and the transport's thread goes on.  It
 * never waits; the worker waits for one post at the most.
 */
#ifndef LOADGEN_ENGINE_HANDOFF_H
#define LOADGEN_ENGINE_HANDOFF_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct err;
struct event;
struct event_base;

/* Something to be done inside; run() may free it. */
struct post {
    struct post *next;
    void (*run)(struct post *post);
    int64_t at_ns; /* of the clock, when what it tells of was seen */
};

/* If there are posts, then somebody is in and will do them or leave them to the
 * loop, or the loop will come for them, or who brought them is about to. */
struct handoff {
    pthread_mutex_t mutex; /* of what follows; held for moments only */
    pthread_cond_t changed;
    bool is_taken; /* somebody is in */
    int n_waiting; /* at the door */
    int n_idle;    /* in gate_wait() */
    int64_t n_run; /* posts, so far */
    struct post *first;
    struct post *last;

    struct event *rest; /* of the posts, for the loop */
    bool is_made;
};

/* In zeroed memory, which stays where it is; `base` is the worker's, and fit
 * for calls of another thread.  ERR_IO.  gate_fini() may follow either way. */
int handoff_init(struct handoff *g, struct event_base *base, struct err *err);
void handoff_fini(struct handoff *g);

/* The worker's thread, or whoever stands for it while it does not run; not
 * twice.  NULL: there is no other thread, and nothing to do. */
void handoff_enter(struct handoff *g);
void handoff_leave(struct handoff *g);

/* Inside: let others in until a post has been run, but no longer than so; the
 * loop need not run. */
void handoff_wait(struct handoff *g, int64_t wait_ns);

/* The transport's thread: leave a post; do what is there, unless somebody is
 * in. */
void handoff_post(struct handoff *g, struct post *post);
void handoff_serve(struct handoff *g);

#endif
