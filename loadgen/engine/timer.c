#include "loadgen/engine/timer.h"

#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"

/* By its edge: a timer that has rung need not be read, setting it again clears
 * it. */
#define WHAT (EV_READ | EV_PERSIST | EV_ET)

int timer_init(struct timer *a, struct event_base *base, event_callback_fn rung,
               void *arg, struct err *err)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

    if (fd < 0)
        return err_set(err, ERR_IO, "cannot make a timer: %s", strerror(errno));
    a->later = event_new(base, fd, WHAT, rung, arg);
    a->soon = evtimer_new(base, rung, arg);
    if (!a->later)
        close(fd);
    if (!a->later || !a->soon || event_add(a->later, NULL)) {
        timer_fini(a);
        return err_set(err, ERR_IO, "cannot make a timer");
    }
    return 0;
}

void timer_fini(struct timer *a)
{
    int fd = a->later ? event_get_fd(a->later) : -1;

    if (a->later)
        event_free(a->later);
    if (fd >= 0)
        close(fd);
    if (a->soon)
        event_free(a->soon);
    *a = (struct timer){0};
}

void timer_set(struct timer *a, int64_t wait_ns)
{
    static const struct timeval at_once;
    struct itimerspec spec = {
        .it_value = {.tv_sec = wait_ns / NS_PER_S,
                     .tv_nsec = wait_ns % NS_PER_S},
    };

    if (wait_ns <= 0)
        event_add(a->soon, &at_once);
    else
        timerfd_settime(event_get_fd(a->later), 0, &spec, NULL);
}
