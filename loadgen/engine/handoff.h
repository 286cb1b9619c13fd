/* handoff.h - lets a worker's thread and a thread of its transport take turns:
 * what both touch is touched only inside the handoff, by one thread at a time.
 *
 * The worker's thread enters for what its event loop finds, and leaves to wait.
 * The transport's thread posts things to be done inside.  If the handoff is
 * free, it does them itself, and no thread has to wake another; if the worker
 * is inside, they wait for its loop, and the transport's thread continues.  The
 * transport's thread never waits; the worker waits for one post at most.
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
    int64_t at_ns; /* when the event that it reports was seen, by the clock */
};

/* While there are posts, one of these holds: a thread is inside and will run
 * them or leave them to the loop; the loop will come for them; or the thread
 * that posted them is about to. */
struct handoff {
    pthread_mutex_t mutex; /* for what follows; held for moments only */
    pthread_cond_t changed;
    bool is_taken; /* a thread is inside */
    int n_waiting; /* threads that wait to enter */
    int n_idle;    /* threads in handoff_wait() */
    int64_t n_run; /* posts run so far */
    struct post *first;
    struct post *last;

    struct event *rest; /* makes the loop run the remaining posts */
    bool is_made;
};

/* In zeroed memory, which must not move; `base` is the worker's, made for
 * calls from other threads.  ERR_IO.  handoff_fini() may follow either way. */
int handoff_init(struct handoff *h, struct event_base *base, struct err *err);
void handoff_fini(struct handoff *h);

/* The worker's thread, or the one that acts for it while it does not run; not
 * recursive.  NULL: there is no other thread, and nothing happens. */
void handoff_enter(struct handoff *h);
void handoff_leave(struct handoff *h);

/* Inside: let others in until a post has been run, for wait_ns at most; the
 * loop need not run. */
void handoff_wait(struct handoff *h, int64_t wait_ns);

/* The transport's thread: add a post; run them unless a thread is inside. */
void handoff_post(struct handoff *h, struct post *post);
void handoff_serve(struct handoff *h);

#endif
