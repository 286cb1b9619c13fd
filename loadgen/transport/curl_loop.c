#include "loadgen/transport/curl_loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"

/* An HTTP/2 connection may receive this much without content at a time: about
 * 30,000 frames, which take libcurl about 10 ms. */
#define MAX_EMPTY ((size_t)256 << 10)

/* More than a socket holds. */
#define MAX_CUTS 64
#define CUT_SIZE ((size_t)1 << 20)

/* A time in which libcurl does not wait for a socket. */
struct idle {
    int64_t since_ns;
    int64_t acked; /* socket_acked() then */
};

/* libcurl stops waiting for a socket when a response is complete, and waits for
 * it again a moment later, for the next one: its event stays registered with
 * the kernel meanwhile. */
struct curl_socket {
    struct curl_driver *driver;
    struct event event;
    short wanted;   /* what the event waits for */
    bool is_wanted; /* by libcurl */
    bool is_open;
    bool is_added;
    int64_t socket;              /* its number */
    struct idle idle;            /* that began last, ... */
    struct idle idle_before;     /* ... and before libcurl waited again */
    struct curl_closing closing; /* of the last one with this descriptor */

    /* Of HTTP/2. */
    struct curl_loop *loop;
    int fd;
    int64_t turn;     /* of the last record */
    int64_t contents; /* n_contents then */
    size_t empty;     /* bytes received since either changed */
    bool is_flooded;
};

/* ---- driving ---- */

static struct curl_transfer *transfer_of(CURL *easy)
{
    char *transfer = NULL;

    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
    return (struct curl_transfer *)(void *)transfer;
}

static void drive(struct curl_driver *d, curl_socket_t fd, int flags)
{
    CURLMsg *message;
    int running;
    int left;

    d->loop->n_turns++;
    curl_multi_socket_action(d->multi, fd, flags, &running);
    while ((message = curl_multi_info_read(d->multi, &left))) {
        CURLcode code = message->data.result;

        d->loop->ended(transfer_of(message->easy_handle)->handle, code);
    }
}

void curl_driver_start(struct curl_driver *d, CURL *easy)
{
    d->is_starting = true;
    curl_multi_add_handle(d->multi, easy);
    d->is_starting = false;
    drive(d, CURL_SOCKET_TIMEOUT, 0);
}

void curl_driver_stop(struct curl_driver *d, CURL *easy)
{
    curl_multi_remove_handle(d->multi, easy);
}

/* ---- sockets ---- */

static struct curl_socket *socket_of(struct curl_loop *loop, int fd)
{
    size_t n = (size_t)fd + 1;

    if (n > loop->n_slots) {
        loop->sockets =
            xrealloc(loop->sockets, n, sizeof(struct curl_socket *));
        memset(loop->sockets + loop->n_slots, 0,
               (n - loop->n_slots) * sizeof(struct curl_socket *));
        loop->n_slots = n;
    }
    if (!loop->sockets[fd])
        loop->sockets[fd] = xcalloc(1, sizeof(struct curl_socket));
    return loop->sockets[fd];
}

static void stop_waiting(struct curl_socket *s)
{
    if (s->is_added)
        event_del(&s->event);
    s->is_added = false;
}

/* Discard what was received, and stop the connection. */
static void cut(int fd)
{
    shutdown(fd, SHUT_RDWR);
    for (int i = 0; i < MAX_CUTS; i++) {
        /* TCP reads nothing into memory then (tcp(7)). */
        /* cppcheck-suppress nullPointer */
        if (recv(fd, NULL, CUT_SIZE, MSG_TRUNC | MSG_DONTWAIT) <= 0)
            return;
    }
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
    struct curl_socket *s = arg;

    if (s->is_wanted) {
        drive(s->driver, fd,
              (what & EV_READ ? CURL_CSELECT_IN : 0) |
                  (what & EV_WRITE ? CURL_CSELECT_OUT : 0));
        return;
    }
    /* An idle connection was closed.  libcurl checks a connection before it
     * uses it, and takes one with something to read for alive; over TLS that
     * may be the server's close notification. */
    stop_waiting(s);
    if (!s->loop->is_multiplexed)
        cut(fd);
}

static void wait_for(struct curl_socket *s, struct curl_driver *d, int fd,
                     short wanted)
{
    if (s->is_added && s->wanted == wanted && s->driver == d)
        return;
    stop_waiting(s);
    s->driver = d;
    s->wanted = wanted;
    event_assign(&s->event, d->loop->base, fd, wanted, on_event, s);
    event_add(&s->event, NULL);
    s->is_added = true;
}

static int on_wanted(CURL *easy, curl_socket_t fd, int what, void *arg,
                     void *known)
{
    struct curl_driver *d = arg;
    struct curl_socket *s = socket_of(d->loop, fd);
    struct curl_transfer *t = transfer_of(easy);

    (void)known;
    if (!s->is_wanted)
        s->idle_before = s->idle;
    s->is_wanted = what != CURL_POLL_REMOVE;
    if (!s->is_wanted && s->is_open) {
        s->idle = (struct idle){clk_now(s->loop->clk), socket_acked(fd)};
    } else if (!s->is_wanted) { /* the resolver's, which closes it itself */
        stop_waiting(s);
    } else {
        /* t is NULL for libcurl's own handle. */
        if (t && t->socket == 0 && !t->has_opened) {
            t->socket = s->socket;
            t->fd = fd;
        }
        wait_for(s, d, fd,
                 (short)(EV_PERSIST | (what & CURL_POLL_IN ? EV_READ : 0) |
                         (what & CURL_POLL_OUT ? EV_WRITE : 0)));
    }
    return 0;
}

/* Sockets are counted here, and their path is noted when they are closed. */
static curl_socket_t on_open(void *arg, curlsocktype purpose,
                             struct curl_sockaddr *address)
{
    struct curl_transfer *t = arg;
    struct curl_loop *loop = t->loop;
    struct curl_socket *s;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC,
                    address->protocol);

    (void)purpose;
    if (fd < 0) {
        t->open_error = errno;
        return CURL_SOCKET_BAD;
    }
    s = socket_of(loop, fd);
    s->is_open = true;
    s->socket = ++loop->n_opened;
    s->idle = (struct idle){0};
    s->loop = loop;
    s->fd = fd;
    s->is_flooded = false;
    t->has_opened = true;
    t->opened = s;
    loop->n_sockets++;
    return fd;
}

static int on_close(void *arg, curl_socket_t fd)
{
    struct curl_loop *loop = arg;
    struct curl_socket *s = loop->sockets[fd];
    int64_t now = clk_now(loop->clk);
    int64_t acked = socket_acked(fd);

    s->closing = (struct curl_closing){
        .socket = s->socket,
        .at_ns = now,
        .idle_ns = s->idle_before.since_ns,
        .acked = acked >= 0 ? acked - s->idle_before.acked : -1,
        .rtt_ns = socket_rtt_ns(fd),
    };
    if (s->driver)
        s->driver->closed_ns = now;
    socket_add_path(fd, &loop->path);
    stop_waiting(s);
    s->is_open = false;
    s->driver = NULL;
    loop->n_sockets--;
    return close(fd);
}

void curl_loop_adopt(struct curl_transfer *t, CURL *easy)
{
    curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, t);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, t->loop);
}

struct curl_socket *curl_loop_guarded(CURL *easy)
{
    const struct curl_transfer *t = transfer_of(easy);

    return t && t->loop->is_multiplexed ? t->opened : NULL;
}

static int local_port(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in ipv4;
        struct sockaddr_in6 ipv6;
    } address = {0};
    socklen_t len = sizeof(address);

    if (getsockname(fd, &address.any, &len) < 0)
        return 0;
    return ntohs(address.any.sa_family == AF_INET6 ? address.ipv6.sin6_port
                                                   : address.ipv4.sin_port);
}

void curl_loop_received(struct curl_socket *s, size_t len)
{
    const struct curl_loop *loop = s->loop;

    if (s->turn != loop->n_turns || s->contents != loop->n_contents)
        s->empty = 0;
    s->turn = loop->n_turns;
    s->contents = loop->n_contents;
    s->empty += len;
    if (s->empty <= MAX_EMPTY || s->is_flooded || !s->driver)
        return;
    s->is_flooded = true;
    s->driver->flooded_port = local_port(s->fd);
    s->driver->flooded_ns = clk_now(s->loop->clk);
    cut(s->fd);
}

const struct curl_closing *curl_loop_closing(const struct curl_transfer *t)
{
    const struct curl_closing *c =
        t->socket > 0 ? &t->loop->sockets[t->fd]->closing : NULL;

    return c && c->socket == t->socket ? c : NULL;
}

/* ---- timers ---- */

static void on_timeout(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    drive(arg, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer(CURLM *multi, long wait_ms, void *arg)
{
    struct curl_driver *d = arg;
    struct timeval tv = clk_timeval(wait_ms * NS_PER_MS);

    (void)multi;
    if (wait_ms == 0 && d->is_starting)
        return 0;
    if (wait_ms < 0)
        event_del(&d->timer);
    else
        event_add(&d->timer, &tv);
    return 0;
}

/* ---- making and ending ---- */

void curl_driver_init(struct curl_driver *d, struct curl_loop *loop)
{
    *d = (struct curl_driver){.loop = loop, .multi = curl_multi_init()};
    if (!d->multi)
        abort(); /* out of memory */
    event_assign(&d->timer, loop->base, -1, 0, on_timeout, d);
    curl_multi_setopt(d->multi, CURLMOPT_SOCKETFUNCTION, on_wanted);
    curl_multi_setopt(d->multi, CURLMOPT_SOCKETDATA, d);
    curl_multi_setopt(d->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(d->multi, CURLMOPT_TIMERDATA, d);
}

void curl_driver_fini(struct curl_driver *d)
{
    curl_multi_cleanup(d->multi);
    event_del(&d->timer);
}

void curl_loop_init(struct curl_loop *loop, struct event_base *base,
                    const struct clk *clk,
                    void (*ended)(void *handle, CURLcode code))
{
    *loop = (struct curl_loop){.base = base, .clk = clk, .ended = ended};
}

void curl_loop_fini(struct curl_loop *loop)
{
    for (size_t fd = 0; fd < loop->n_slots; fd++)
        free(loop->sockets[fd]);
    free(loop->sockets);
}

struct socket_path curl_loop_path(const struct curl_loop *loop)
{
    struct socket_path path = loop->path;

    for (size_t fd = 0; fd < loop->n_slots; fd++) {
        if (loop->sockets[fd] && loop->sockets[fd]->is_open)
            socket_add_path((int)fd, &path);
    }
    return path;
}
