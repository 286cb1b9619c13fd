#include "server-stub/front/listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "server-stub/front/stub_loop.h"

/* How long to leave new clients alone when there are no descriptors left. */
#define PAUSE_NS (50 * NS_PER_MS)

struct listener {
    int fd;
    struct event *event;
    struct loop_timer *resume;
    void (*accepted)(void *arg, int fd);
    void *arg;
    char url[96];
};

/* One client.  False: none left for now. */
static bool accept_one(struct listener *l)
{
    int one = 1;
    int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        l->accepted(l->arg, fd);
        return true;
    }
    if (errno == EAGAIN)
        return false;
    if (errno == EINTR || errno == ECONNABORTED)
        return true; /* that client is gone; the next may be fine */
    event_del(l->event);
    loop_timer_set(l->resume, clk_now(&clk_monotonic) + PAUSE_NS);
    return false;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    while (accept_one(arg))
        continue;
}

static void on_resume(void *arg)
{
    struct listener *l = arg;

    event_add(l->event, NULL);
}

static int open_socket(struct listener *l, const struct addrinfo *address)
{
    int one = 1;

    l->fd = socket(address->ai_family,
                   SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (l->fd < 0 ||
        setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
        bind(l->fd, address->ai_addr, address->ai_addrlen) ||
        listen(l->fd, SOMAXCONN))
        return -1;
    return 0;
}

static int make_url(struct listener *l, const char *scheme)
{
    struct sockaddr_storage name = {0};
    socklen_t len = sizeof(name);
    char host[64];
    char port[8];

    if (getsockname(l->fd, (struct sockaddr *)&name, &len) ||
        getnameinfo((struct sockaddr *)&name, len, host, sizeof(host), port,
                    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
        return -1;
    snprintf(l->url, sizeof(l->url),
             name.ss_family == AF_INET6 ? "%s://[%s]:%s" : "%s://%s:%s", scheme,
             host, port);
    return 0;
}

static int listen_on(struct listener *l, const struct listener_place *place,
                     struct err *err)
{
    const char *host = place->bind;
    struct addrinfo hints = {.ai_flags =
                                 AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *address;
    char digits[16];
    int rc;

    snprintf(digits, sizeof(digits), "%d", place->port);
    if (getaddrinfo(host, digits, &hints, &address))
        return err_set(err, ERR_CONFIG,
                       "stub.bind: '%s' is not an address; write 127.0.0.1, "
                       "0.0.0.0 or ::1",
                       host);
    rc = open_socket(l, address) || make_url(l, place->scheme);
    freeaddrinfo(address);
    if (rc)
        return err_set(err, ERR_IO,
                       strchr(host, ':') ? "[%s]:%d: %s" : "%s:%d: %s", host,
                       place->port, strerror(errno));
    return 0;
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
        event_new(loop_base(loop), l->fd, EV_READ | EV_PERSIST, on_readable, l);
    if (l->event && !event_add(l->event, NULL))
        return l;
    err_set(err, ERR_IO, "%s: cannot wait for clients", l->url);
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
