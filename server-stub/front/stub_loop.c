#include "server-stub/front/stub_loop.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"

/* How long a sharp timer polls: longer than most sleeps are late. */
#define LEAD_NS (100 * NS_PER_US)

struct loop_timer {
    struct loop *loop;
    int fd;
    struct event *event;
    void (*fired)(void *arg);
    void *arg;
    int64_t lead_ns; /* 0: not sharp */
    int64_t at_ns;   /* INT64_MAX: not set */
};

struct loop {
    struct event_base *base;
    struct loop_timer *near; /* poll for this one; NULL: sleep */
    bool is_stopped;
    bool is_awake; /* polls always */
};

/* ---- the loop ---- */

struct loop *loop_new(struct err *err)
{
    const int flags = EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_NO_CACHE_TIME;
    struct event_config *config = event_config_new();
    struct loop *loop = xcalloc(1, sizeof(*loop));

    if (config && !event_config_set_flag(config, flags))
        loop->base = event_base_new_with_config(config);
    if (config)
        event_config_free(config);
    if (loop->base)
        return loop;
    err_set(err, ERR_IO, "cannot create an event loop");
    free(loop);
    return NULL;
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    event_base_free(loop->base);
    free(loop);
}

struct event_base *loop_base(const struct loop *loop)
{
    return loop->base;
}

/* One pass of the loop, and a check of the sharp timer that is due soon. */
static int pass(struct loop *loop, int flags, struct err *err)
{
    struct loop_timer *timer;
    int64_t left_ns;

    if (event_base_loop(loop->base, flags) < 0)
        return err_set(err, ERR_IO, "the event loop failed: %s",
                       strerror(errno));
    timer = loop->near;
    if (!timer)
        return 0;
    left_ns = timer->at_ns - clk_now(&clk_monotonic);
    if (left_ns > 0 && left_ns <= timer->lead_ns)
        return 0;
    loop->near = NULL;
    if (left_ns > 0)
        return 0; /* it was set again */
    timer->at_ns = INT64_MAX;
    timer->fired(timer->arg);
    return 0;
}

int loop_run(struct loop *loop, struct err *err)
{
    while (!loop->is_stopped) {
        bool polls = loop->near || loop->is_awake;

        if (pass(loop, polls ? EVLOOP_NONBLOCK : EVLOOP_ONCE, err))
            return -1;
    }
    return 0;
}

int loop_poll(struct loop *loop, struct err *err)
{
    return pass(loop, EVLOOP_NONBLOCK, err);
}

void loop_stay_awake(struct loop *loop)
{
    loop->is_awake = true;
}

void loop_stop(struct loop *loop)
{
    loop->is_stopped = true;
}

/* ---- timers ---- */

/* Reading acknowledges the timer.  One that was set again in the meantime has
 * nothing to read and has not fired. */
static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct loop_timer *timer = arg;
    uint64_t times;

    (void)what;
    if (read((int)fd, &times, sizeof(times)) != sizeof(times))
        return;
    if (timer->lead_ns > 0)
        timer->loop->near = timer; /* checked after this pass */
    else
        timer->fired(timer->arg);
}

struct loop_timer *loop_timer_new(struct loop *loop, void (*fired)(void *arg),
                                  void *arg, struct err *err)
{
    struct loop_timer *timer = xcalloc(1, sizeof(*timer));

    timer->loop = loop;
    timer->fired = fired;
    timer->arg = arg;
    timer->at_ns = INT64_MAX;
    timer->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (timer->fd >= 0)
        timer->event = event_new(loop->base, timer->fd, EV_READ | EV_PERSIST,
                                 on_readable, timer);
    if (timer->event && !event_add(timer->event, NULL))
        return timer;
    err_set(err, ERR_IO, "cannot create a timer: %s", strerror(errno));
    loop_timer_free(timer);
    return NULL;
}

void loop_timer_free(struct loop_timer *timer)
{
    if (!timer)
        return;
    if (timer->loop->near == timer)
        timer->loop->near = NULL;
    if (timer->event)
        event_free(timer->event);
    if (timer->fd >= 0)
        close(timer->fd);
    free(timer);
}

void loop_timer_sharpen(struct loop_timer *timer)
{
    cpu_set_t cpus;

    if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) > 1)
        timer->lead_ns = LEAD_NS;
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

/* A zero value disarms the timer. */
static void set(struct loop_timer *timer, int flags,
                const struct itimerspec *spec)
{
    int rc = timerfd_settime(timer->fd, flags, spec, NULL);

    assert(rc == 0);
    (void)rc;
}

void loop_timer_set(struct loop_timer *timer, int64_t at_ns)
{
    struct itimerspec spec = {0};
    int64_t wake_ns = at_ns - timer->lead_ns;

    timer->at_ns = at_ns;
    if (at_ns != INT64_MAX)
        spec.it_value = timespec_of(wake_ns > 0 ? wake_ns : 1);
    set(timer, TFD_TIMER_ABSTIME, &spec);
}

void loop_timer_repeat(struct loop_timer *timer, int64_t every_ns)
{
    struct itimerspec spec = {.it_interval = timespec_of(every_ns),
                              .it_value = timespec_of(every_ns)};

    set(timer, 0, &spec);
}

/* ---- the listening socket ---- */

/* How long to stop accepting when there are no file descriptors left. */
#define PAUSE_NS (50 * NS_PER_MS)

struct listener {
    int fd;
    struct event *event;
    struct loop_timer *resume;
    void (*accepted)(void *arg, int fd);
    void *arg;
    char url[96];
};

/* Accept every client that waits. */
static void on_client(evutil_socket_t listening, short what, void *arg)
{
    struct listener *l = arg;
    int one = 1;

    (void)what;
    for (;;) {
        int fd =
            accept4((int)listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0) {
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
            l->accepted(l->arg, fd);
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            event_del(l->event);
            loop_timer_set(l->resume, clk_now(&clk_monotonic) + PAUSE_NS);
            return;
        }
    }
}

static void on_resume(void *arg)
{
    struct listener *l = arg;

    event_add(l->event, NULL);
}

/* Bind, listen, and find out the URL. */
static int listen_on(struct listener *l, const struct listener_place *place,
                     struct err *err)
{
    const char *host = place->bind;
    struct addrinfo hints = {.ai_flags =
                                 AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                             .ai_socktype = SOCK_STREAM};
    struct sockaddr_storage name = {0};
    socklen_t len = sizeof(name);
    struct addrinfo *address;
    char shown[64];
    char port[16];
    int one = 1;
    int rc = 0;

    snprintf(port, sizeof(port), "%d", place->port);
    if (getaddrinfo(host, port, &hints, &address))
        return err_set(err, ERR_CONFIG,
                       "stub.bind: '%s' is not an address; write 127.0.0.1, "
                       "0.0.0.0 or ::1",
                       host);
    l->fd = socket(address->ai_family,
                   SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (l->fd < 0 ||
        setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
        bind(l->fd, address->ai_addr, address->ai_addrlen) ||
        listen(l->fd, SOMAXCONN) ||
        getsockname(l->fd, (struct sockaddr *)&name, &len) ||
        getnameinfo((struct sockaddr *)&name, len, shown, sizeof(shown), port,
                    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
        rc = err_set(err, ERR_IO,
                     strchr(host, ':') ? "[%s]:%d: %s" : "%s:%d: %s", host,
                     place->port, strerror(errno));
    else
        snprintf(l->url, sizeof(l->url),
                 name.ss_family == AF_INET6 ? "%s://[%s]:%s" : "%s://%s:%s",
                 place->scheme, shown, port);
    freeaddrinfo(address);
    return rc;
}

struct listener *listener_new(struct loop *loop,
                              const struct listener_place *place,
                              void (*accepted)(void *arg, int fd), void *arg,
                              struct err *err)
{
    struct listener *l = xcalloc(1, sizeof(*l));

    l->fd = -1;
    l->accepted = accepted;
    l->arg = arg;
    if (listen_on(l, place, err))
        goto fail;
    l->resume = loop_timer_new(loop, on_resume, l, err);
    if (!l->resume)
        goto fail;
    l->event =
        event_new(loop_base(loop), l->fd, EV_READ | EV_PERSIST, on_client, l);
    if (l->event && !event_add(l->event, NULL))
        return l;
    err_set(err, ERR_IO, "%s: cannot watch for clients", l->url);
fail:
    listener_free(l);
    return NULL;
}

void listener_free(struct listener *listener)
{
    if (!listener)
        return;
    if (listener->event)
        event_free(listener->event);
    loop_timer_free(listener->resume);
    if (listener->fd >= 0)
        close(listener->fd);
    free(listener);
}

const char *listener_url(const struct listener *listener)
{
    return listener->url;
}
