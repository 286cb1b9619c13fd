/* timer.h - a one-shot timer of the event loop that costs a system call when it
 * is set and none while it waits.
 *
 * libevent's precise timers set their timerfd on every turn of the loop, which
 * for a stream is every time something was received.
 */
#ifndef LOADGEN_ENGINE_TIMER_H
#define LOADGEN_ENGINE_TIMER_H

#include <event2/event.h>
#include <stdint.h>

struct err;

/* All zero: not made yet. */
struct timer {
    struct event *later; /* of a timerfd */
    struct event *soon;  /* in the next turn of the loop */
};

int timer_init(struct timer *t, struct event_base *base,
               event_callback_fn fired, void *arg, struct err *err);
void timer_fini(struct timer *t);

/* Fire once after wait_ns; 0 or less: after the sockets were polled once.  The
 * two kinds are independent: each replaces what was set of its own kind only,
 * so that a timer may fire early.  Callbacks must check the clock again. */
void timer_set(struct timer *t, int64_t wait_ns);

#endif
