/* stub_loop.h - the event loop of the stub's one thread, timers on the
 * monotonic clock, and the listening socket.
 *
 * A timer is a timerfd set to an absolute time: nanoseconds, no rounding, and
 * no system call in a pass of the loop that sets none.  (libevent's own timers
 * round to microseconds, and its precise ones cost a call per pass.)  A sleep
 * ends 30 to 100 us late on common machines.  A sharp timer ends it earlier and
 * makes the loop poll for the rest, so that it is late by about one pass.
 */
#ifndef SERVER_STUB_FRONT_STUB_LOOP_H
#define SERVER_STUB_FRONT_STUB_LOOP_H

#include <stdint.h>

struct err;
struct event_base;
struct listener;
struct loop;
struct loop_timer;

/* NULL and ERR_IO if the system refuses.  loop_free() accepts NULL. */
struct loop *loop_new(struct err *err);
void loop_free(struct loop *loop);

/* For events on sockets; borrowed. */
struct event_base *loop_base(const struct loop *loop);

/* Never sleep: poll, and use a whole CPU. */
void loop_stay_awake(struct loop *loop);

/* Run until loop_stop(). */
int loop_run(struct loop *loop, struct err *err);
void loop_stop(struct loop *loop);

/* Handle what is ready and return; for tests. */
int loop_poll(struct loop *loop, struct err *err);

/* A timer that is not set.  NULL and ERR_IO if the system refuses. */
struct loop_timer *loop_timer_new(struct loop *loop, void (*fired)(void *arg),
                                  void *arg, struct err *err);
void loop_timer_free(struct loop_timer *timer);

/* Make it sharp, unless there is only one CPU, which the client may need.  At
 * most one timer per loop. */
void loop_timer_sharpen(struct loop_timer *timer);

/* Fire once, not before `at_ns` of clk_monotonic; INT64_MAX disarms it.
 * Replaces the previous time. */
void loop_timer_set(struct loop_timer *timer, int64_t at_ns);

/* Fire every `every_ns` from now on. */
void loop_timer_repeat(struct loop_timer *timer, int64_t every_ns);

/* Where to listen: a numeric IPv4 or IPv6 address; port 0 chooses a free one.
 */
struct listener_place {
    const char *scheme; /* of the URL: "http" */
    const char *bind;
    int port;
};

/* Listen.  Each client's socket, non-blocking, is passed to `accepted`, which
 * owns it.  NULL with ERR_CONFIG if the address is invalid, ERR_IO if the
 * system refuses.  While the process is out of descriptors, new clients wait.
 */
struct listener *listener_new(struct loop *loop,
                              const struct listener_place *place,
                              void (*accepted)(void *arg, int fd), void *arg,
                              struct err *err);
void listener_free(struct listener *listener);

/* "http://127.0.0.1:8080", or "http://[::1]:8080". */
const char *listener_url(const struct listener *listener);

#endif
