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

/* A connection of HTTP/2 may bring this much without content at a time: about
 * 30,000 frames, which take libcurl some 10 ms. */
#define MAX_BARREN ((size_t)256 << 10)

/* More than a socket holds. */
#define MAX_CUTS 64
#define CUT_SIZE ((size_t)1 << 20)

/* A time for which libcurl does not wait for a socket. */
struct rest {
    int64_t since_ns;
    int64_t acked; /* socket_acked() then */
};

/* A socket of ours.  libcurl stops waiting for one whenever a response is
 * complete, and waits again a moment later, for the next: it stays with the
 * kernel meanwhile. */
struct curl_watch {
    struct curl_driver *driver;
    struct event event;
    short wanted;   /* what the event waits for */
    bool is_wanted; /* by libcurl */
    bool is_open;
    bool is_added;
    int64_t socket;              /* its number */
    struct rest rest;            /* that began last, ... */
    struct rest rest_before;     /* ... and before libcurl waited again */
    struct curl_closing closing; /* of the last one with this descriptor */

    /* Of HTTP/2. */
    struct curl_loop *loop;
    int fd;
    int64_t turn;     /* of the last record */
    int64_t contents; /* n_contents then */
    size_t barren;    /* bytes received since either changed */
    bool is_flooded;
};

/* ---- driving ---- */

static struct curl_transfer *transfer_of(CURL *easy)
{
    char *transfer = NULL;

    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
    return (struct curl_transfer *)(void *)transfer;
}

static void report_ended(struct curl_driver *d)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(d->multi, &left))) {
        CURLcode code = message->data.result;

        d->loop->ended(transfer_of(message->easy_handle)->handle, code);
    }
}

static void drive(struct curl_driver *d, curl_socket_t fd, int flags)
{
    int running;

    d->loop->n_turns++;
    curl_multi_socket_action(d->multi, fd, flags, &running);
    report_ended(d);
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

static struct curl_watch *watch_of(struct curl_loop *loop, int fd)
{
    size_t n = (size_t)fd + 1;

    if (n > loop->n_watches) {
        loop->watches = xrealloc(loop->watches, n, sizeof(struct curl_watch *));
        memset(loop->watches + loop->n_watches, 0,
               (n - loop->n_watches) * sizeof(struct curl_watch *));
        loop->n_watches = n;
    }
    if (!loop->watches[fd])
        loop->watches[fd] = xcalloc(1, sizeof(struct curl_watch));
    return loop->watches[fd];
}

static void watch_stop(struct curl_watch *w)
{
    if (w->is_added)
        event_del(&w->event);
    w->is_added = false;
}

/* Whatever came is thrown away, and nothing more will come. */
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
    struct curl_watch *w = arg;

    if (w->is_wanted) {
        drive(w->driver, fd,
              (what & EV_READ ? CURL_CSELECT_IN : 0) |
                  (what & EV_WRITE ? CURL_CSELECT_OUT : 0));
        return;
    }
    /* An idle one was closed.  libcurl looks before it uses it, and takes one
     * with something to read for alive; over TLS that may be the server's
     * goodbye. */
    watch_stop(w);
    if (!w->loop->is_multiplexed)
        cut(fd);
}

static void watch_begin(struct curl_watch *w, struct curl_driver *d, int fd,
                        short wanted)
{
    if (w->is_added && w->wanted == wanted && w->driver == d)
        return;
    watch_stop(w);
    w->driver = d;
    w->wanted = wanted;
    event_assign(&w->event, d->loop->base, fd, wanted, on_event, w);
    event_add(&w->event, NULL);
    w->is_added = true;
}

static void watch_rest(struct curl_watch *w, int fd)
{
    if (!w->is_open) { /* of its resolver, which closes it as it likes */
        watch_stop(w);
        return;
    }
    w->rest = (struct rest){clk_now(w->loop->clk), socket_acked(fd)};
}

static int on_watch(CURL *easy, curl_socket_t fd, int what, void *arg,
                    void *known)
{
    struct curl_driver *d = arg;
    struct curl_watch *w = watch_of(d->loop, fd);
    struct curl_transfer *t = transfer_of(easy);
    short wanted = EV_PERSIST;

    (void)known;
    if (!w->is_wanted)
        w->rest_before = w->rest;
    w->is_wanted = what != CURL_POLL_REMOVE;
    if (!w->is_wanted) {
        watch_rest(w, fd);
        return 0;
    }
    if (t && t->socket == 0 &&
        !t->has_opened) { /* NULL: libcurl's own handle */
        t->socket = w->socket;
        t->fd = fd;
    }
    if (what & CURL_POLL_IN)
        wanted |= EV_READ;
    if (what & CURL_POLL_OUT)
        wanted |= EV_WRITE;
    watch_begin(w, d, fd, wanted);
    return 0;
}

/* Sockets are counted, and asked about their path before they go. */
static curl_socket_t on_open(void *arg, curlsocktype purpose,
                             struct curl_sockaddr *address)
{
    struct curl_transfer *t = arg;
    struct curl_loop *loop = t->loop;
    struct curl_watch *w;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC,
                    address->protocol);

    (void)purpose;
    if (fd < 0) {
        t->open_error = errno;
        return CURL_SOCKET_BAD;
    }
    w = watch_of(loop, fd);
    w->is_open = true;
    w->socket = ++loop->n_opened;
    w->rest = (struct rest){0};
    w->loop = loop;
    w->fd = fd;
    w->is_flooded = false;
    t->has_opened = true;
    t->opened = w;
    loop->n_sockets++;
    return fd;
}

static void note_closing(struct curl_watch *w, int fd, int64_t now)
{
    int64_t acked = socket_acked(fd);

    w->closing = (struct curl_closing){
        .socket = w->socket,
        .at_ns = now,
        .idle_ns = w->rest_before.since_ns,
        .acked = acked >= 0 ? acked - w->rest_before.acked : -1,
        .rtt_ns = socket_rtt_ns(fd),
    };
    if (w->driver)
        w->driver->closed_ns = now;
}

static int on_close(void *arg, curl_socket_t fd)
{
    struct curl_loop *loop = arg;
    struct curl_watch *w = loop->watches[fd];

    note_closing(w, fd, clk_now(loop->clk));
    socket_add_path(fd, &loop->path);
    watch_stop(w);
    w->is_open = false;
    w->driver = NULL;
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

struct curl_watch *curl_loop_guarded(CURL *easy)
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

void curl_loop_received(struct curl_watch *w, size_t len)
{
    const struct curl_loop *loop = w->loop;

    if (w->turn != loop->n_turns || w->contents != loop->n_contents)
        w->barren = 0;
    w->turn = loop->n_turns;
    w->contents = loop->n_contents;
    w->barren += len;
    if (w->barren <= MAX_BARREN || w->is_flooded || !w->driver)
        return;
    w->is_flooded = true;
    w->driver->flooded_port = local_port(w->fd);
    w->driver->flooded_ns = clk_now(w->loop->clk);
    cut(w->fd);
}

const struct curl_closing *curl_loop_closing(const struct curl_transfer *t)
{
    const struct curl_closing *c =
        t->socket > 0 ? &t->loop->watches[t->fd]->closing : NULL;

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
    curl_multi_setopt(d->multi, CURLMOPT_SOCKETFUNCTION, on_watch);
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
    for (size_t fd = 0; fd < loop->n_watches; fd++)
        free(loop->watches[fd]);
    free(loop->watches);
}

struct socket_path curl_loop_path(const struct curl_loop *loop)
{
    struct socket_path path = loop->path;

    for (size_t fd = 0; fd < loop->n_watches; fd++) {
        if (loop->watches[fd] && loop->watches[fd]->is_open)
            socket_add_path((int)fd, &path);
    }
    return path;
}
