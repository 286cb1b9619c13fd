#include "loadgen/engine/timer.h"

#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"

/* Edge-triggered: a timer that has fired need not be read, setting it again
 * clears it. */
#define WHAT (EV_READ | EV_PERSIST | EV_ET)

int timer_init(struct timer *t, struct event_base *base,
               event_callback_fn fired, void *arg, struct err *err)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

    if (fd < 0)
        return err_set(err, ERR_IO, "cannot make a timer: %s", strerror(errno));
    t->later = event_new(base, fd, WHAT, fired, arg);
    t->soon = evtimer_new(base, fired, arg);
    if (!t->later)
        close(fd);
    if (!t->later || !t->soon || event_add(t->later, NULL)) {
        timer_fini(t);
        return err_set(err, ERR_IO, "cannot make a timer");
    }
    return 0;
}

void timer_fini(struct timer *t)
{
    int fd = t->later ? event_get_fd(t->later) : -1;

    if (t->later)
        event_free(t->later);
    if (fd >= 0)
        close(fd);
    if (t->soon)
        event_free(t->soon);
    *t = (struct timer){0};
}

void timer_set(struct timer *t, int64_t wait_ns)
{
    static const struct timeval at_once;
    struct itimerspec spec = {
        .it_value = {.tv_sec = wait_ns / NS_PER_S,
                     .tv_nsec = wait_ns % NS_PER_S},
    };

    if (wait_ns <= 0)
        event_add(t->soon, &at_once);
    else
        timerfd_settime(event_get_fd(t->later), 0, &spec, NULL);
}
