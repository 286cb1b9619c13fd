#include "loadgen/transport/curl_loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/xalloc.h"

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
};

/* ---- driving ---- */

static void report_ended(struct curl_driver *d)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(d->multi, &left))) {
        CURLcode code = message->data.result;
        char *handle = NULL;

        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &handle);
        d->loop->ended(handle, code);
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

static void on_event(evutil_socket_t fd, short what, void *arg)
{
    struct curl_watch *w = arg;

    if (w->is_wanted)
        drive(w->driver, fd,
              (what & EV_READ ? CURL_CSELECT_IN : 0) |
                  (what & EV_WRITE ? CURL_CSELECT_OUT : 0));
    else /* an idle one was closed; libcurl will find out */
        watch_stop(w);
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

static int on_watch(CURL *easy, curl_socket_t fd, int what, void *arg,
                    void *known)
{
    struct curl_driver *d = arg;
    struct curl_watch *w = watch_of(d->loop, fd);
    short wanted = EV_PERSIST;

    (void)easy;
    (void)known;
    w->is_wanted = what != CURL_POLL_REMOVE;
    if (!w->is_wanted) {
        if (!w->is_open) /* of its resolver, which closes it as it likes */
            watch_stop(w);
        return 0;
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
    struct curl_opening *opening = arg;
    struct curl_loop *loop = opening->loop;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC,
                    address->protocol);

    (void)purpose;
    if (fd < 0) {
        opening->error = errno;
        return CURL_SOCKET_BAD;
    }
    watch_of(loop, fd)->is_open = true;
    loop->n_sockets++;
    return fd;
}

static int on_close(void *arg, curl_socket_t fd)
{
    struct curl_loop *loop = arg;
    struct curl_watch *w = loop->watches[fd];

    socket_add_path(fd, &loop->path);
    watch_stop(w);
    w->is_open = false;
    loop->n_sockets--;
    return close(fd);
}

void curl_loop_adopt(struct curl_opening *opening, CURL *easy)
{
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, opening);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, opening->loop);
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
                    void (*ended)(void *handle, CURLcode code))
{
    *loop = (struct curl_loop){.base = base, .ended = ended};
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
