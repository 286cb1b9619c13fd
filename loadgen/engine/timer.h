/* timer.h - a timer of the event loop that costs a system call when it is set
 * and none while it waits.
 *
 * libevent's precise timers set their timerfd each time the loop goes round,
 * which for a stream is each time something came.
 */
#ifndef LOADGEN_ENGINE_TIMER_H
#define LOADGEN_ENGINE_TIMER_H

#include <event2/event.h>
#include <stdint.h>

struct err;

/* All zero: none. */
struct timer {
    struct event *later; /* of a timerfd */
    struct event *soon;  /* the next time round */
};

int timer_init(struct timer *a, struct event_base *base, event_callback_fn rung,
               void *arg, struct err *err);
void timer_fini(struct timer *a);

/* Ring once after so long; 0 or less: after the sockets were looked at once.
 * The two are apart: each takes the place of what was set of its kind, and may
 * find the other still ringing.  Who is rung looks whether it is time. */
void timer_set(struct timer *a, int64_t wait_ns);

#endif
