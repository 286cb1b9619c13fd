#include "listen/listen_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/wire/http_message.h"

#define HEAD_NS  (5 * NS_PER_S)  /* to send a whole head, ... */
#define REPLY_NS (30 * NS_PER_S) /* ... to take the answer, ... */
#define STUCK_NS (30 * NS_PER_S) /* ... and to take any of an event */

/* At the end, how often it looks whether all is sent, and a stream that has not
 * taken an event for this long is given up. */
#define END_POLL_NS  (10 * NS_PER_MS)
#define END_STUCK_NS (1500 * NS_PER_MS)

/* What one event holds, for all streams that have not sent it yet. */
struct blob {
    int refs;
    char *data;
};

enum conn_state { CONN_HEAD, CONN_REPLY, CONN_STREAM };

struct listen_conn {
    struct listen_http *http;
    struct listen_conn *prev; /* the list is in the order of arrival */
    struct listen_conn *next;
    struct bufferevent *bev;
    struct http1 parser;
    size_t fed;
    enum conn_state state;
    bool is_head;     /* no body is sent */
    bool is_bad;      /* neither GET nor HEAD */
    int64_t until_ns; /* closed then; 0: not by time */
    int64_t moved_ns; /* a stream: when its buffer was last seen empty */
    struct listen_request request;
};

struct listen_http {
    struct listen_hooks hooks;
    struct event_base *base;
    struct evconnlistener *listener;
    struct event *second;
    struct event *woken;
    int wake_fd;
    char url[LISTEN_MAX_PATH + 32];
    struct listen_conn *first;
    struct listen_conn *last;
    size_t n_conns;
    atomic_size_t n_streams; /* other threads may read it */
    pthread_t thread;
    bool has_thread;
    atomic_bool is_ending;
    int64_t grace_ns; /* set before is_ending */
};

static int64_t now_ns(void)
{
    return clk_now(&clk_monotonic);
}

/* ---- connections ---- */

static void conn_close(struct listen_conn *c)
{
    struct listen_http *h = c->http;

    if (c->prev)
        c->prev->next = c->next;
    else
        h->first = c->next;
    if (c->next)
        c->next->prev = c->prev;
    else
        h->last = c->prev;
    h->n_conns--;
    h->n_streams -= c->state == CONN_STREAM;
    http1_fini(&c->parser);
    bufferevent_free(c->bev);
    free(c);
}

static struct evbuffer *output(const struct listen_conn *c)
{
    return bufferevent_get_output(c->bev);
}

static const char *reason(int status)
{
    static const struct {
        int status;
        const char *text;
    } known[] = {{200, "OK"},
                 {401, "Unauthorized"},
                 {403, "Forbidden"},
                 {404, "Not Found"},
                 {405, "Method Not Allowed"},
                 {431, "Request Header Fields Too Large"},
                 {503, "Service Unavailable"}};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].status == status)
            return known[i].text;
    }
    return "Bad Request";
}

/* `len` below 0: not known, the connection ends the body. */
static void put_head(struct listen_conn *c, int status, const char *type,
                     const char *headers, int64_t len)
{
    evbuffer_add_printf(output(c),
                        "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n"
                        "Connection: close\r\nCache-Control: no-store\r\n"
                        "X-Content-Type-Options: nosniff\r\n"
                        "X-Frame-Options: DENY\r\n"
                        "Referrer-Policy: no-referrer\r\n%s",
                        status, reason(status),
                        type ? type : "text/plain; charset=utf-8",
                        headers ? headers : "");
    if (len >= 0)
        evbuffer_add_printf(output(c), "Content-Length: %lld\r\n",
                            (long long)len);
    evbuffer_add_printf(output(c), "\r\n");
}

void listen_reply(struct listen_conn *c, const struct listen_answer *a)
{
    c->state = CONN_REPLY;
    c->until_ns = now_ns() + REPLY_NS;
    put_head(c, a->status, a->type, a->headers, (int64_t)a->len);
    if (!c->is_head)
        evbuffer_add(output(c), a->body, a->len);
    bufferevent_enable(c->bev, EV_WRITE);
}

static void refuse(struct listen_conn *c, int status, const char *why)
{
    listen_reply(c, &(struct listen_answer){
                        .status = status, .body = why, .len = strlen(why)});
}

void listen_stream(struct listen_conn *c, const struct buf *first)
{
    struct listen_http *h = c->http;

    if (h->n_streams >= LISTEN_MAX_STREAMS) {
        refuse(c, 503, "too many pages are open\n");
        return;
    }
    c->until_ns = 0;
    c->moved_ns = now_ns();
    put_head(c, 200, "text/event-stream", NULL, -1);
    if (c->is_head) {
        c->state = CONN_REPLY;
        return;
    }
    c->state = CONN_STREAM;
    h->n_streams++;
    if (first)
        evbuffer_add(output(c), first->data, first->len);
}

size_t listen_n_streams(const struct listen_http *h)
{
    return h->n_streams;
}

static void drop_blob(const void *data, size_t len, void *arg)
{
    struct blob *blob = arg;

    (void)data;
    (void)len;
    if (--blob->refs > 0)
        return;
    free(blob->data);
    free(blob);
}

void listen_broadcast(struct listen_http *h, const struct buf *event,
                      bool is_final)
{
    struct blob *blob = xcalloc(1, sizeof(*blob));
    int64_t now = now_ns();

    blob->refs = 1;
    blob->data = xcalloc(event->len + 1, 1);
    memcpy(blob->data, buf_text(event), event->len);
    for (struct listen_conn *c = h->first, *next; c; c = next) {
        next = c->next;
        if (c->state != CONN_STREAM)
            continue;
        if (evbuffer_get_length(output(c)) == 0) {
            c->moved_ns = now;
        } else if (!is_final) {
            continue;
        } else if (now - c->moved_ns > END_STUCK_NS) {
            conn_close(c);
            continue;
        }
        blob->refs++;
        if (evbuffer_add_reference(output(c), blob->data, event->len, drop_blob,
                                   blob))
            blob->refs--;
    }
    drop_blob(NULL, 0, blob);
}

/* ---- requests ---- */

static void keep_value(char *out, size_t size, const char *value, size_t len)
{
    if (len < size) {
        memcpy(out, value, len);
        out[len] = '\0';
    }
}

static void on_start(void *arg, const char *line, size_t len)
{
    struct listen_conn *c = arg;
    const char *end = line + len;
    const char *path = memchr(line, ' ', len);
    const char *stop;

    c->is_head = len > 5 && memcmp(line, "HEAD ", 5) == 0;
    c->is_bad = !c->is_head && !(len > 4 && memcmp(line, "GET ", 4) == 0);
    if (!path)
        return;
    path++;
    for (stop = path; stop < end && *stop != ' ' && *stop != '?'; stop++)
        continue;
    keep_value(c->request.path, sizeof(c->request.path), path,
               (size_t)(stop - path));
}

static void on_header(void *arg, const char *name, size_t name_len,
                      const char *value, size_t value_len)
{
    struct listen_conn *c = arg;
    const struct {
        const char *name;
        char *out;
    } wanted[] = {{"host", c->request.host},
                  {"accept", c->request.accept},
                  {"authorization", c->request.authorization}};

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (name_len == strlen(wanted[i].name) &&
            strncasecmp(name, wanted[i].name, name_len) == 0)
            keep_value(wanted[i].out, LISTEN_MAX_VALUE, value, value_len);
    }
}

static const struct http1_hooks parser_hooks = {.start = on_start,
                                                .header = on_header};

static void answer(struct listen_conn *c)
{
    struct listen_http *h = c->http;

    if (c->is_bad)
        refuse(c, 405, "only GET and HEAD are answered\n");
    else
        h->hooks.get(h->hooks.arg, c, &c->request);
}

static void on_read(struct bufferevent *bev, void *arg)
{
    struct listen_conn *c = arg;
    char bytes[4096];
    size_t n;

    while ((n = bufferevent_read(bev, bytes, sizeof(bytes))) > 0) {
        if (c->state != CONN_HEAD)
            continue; /* nothing more is wanted */
        c->fed += n;
        if (http1_feed(&c->parser, bytes, n) < 0)
            refuse(c, c->parser.error == HTTP1_LONG_HEAD ? 431 : 400,
                   "not a request of HTTP/1\n");
        else if (http1_has_head(&c->parser))
            answer(c);
        else if (c->fed > LISTEN_MAX_HEAD)
            refuse(c, 431, "the head of the request is too large\n");
    }
}

/* Everything is sent. */
static void on_written(struct bufferevent *bev, void *arg)
{
    struct listen_conn *c = arg;

    (void)bev;
    c->moved_ns = now_ns();
    if (c->state == CONN_REPLY)
        conn_close(c);
}

/* It is closed, or broken. */
static void on_event(struct bufferevent *bev, short what, void *arg)
{
    (void)bev;
    (void)what;
    conn_close(arg);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd,
                      struct sockaddr *address, int len, void *arg)
{
    struct listen_http *h = arg;
    struct listen_conn *c;

    (void)listener;
    (void)address;
    (void)len;
    for (c = h->first; c && h->n_conns >= LISTEN_MAX_CONNS; c = c->next) {
        if (c->state != CONN_STREAM) {
            conn_close(c);
            break;
        }
    }
    c = xcalloc(1, sizeof(*c));
    c->http = h;
    c->bev = bufferevent_socket_new(h->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (!c->bev) {
        close(fd);
        free(c);
        return;
    }
    c->until_ns = now_ns() + HEAD_NS;
    http1_init(&c->parser, HTTP1_REQUEST, &parser_hooks, c);
    http1_begin(&c->parser);
    c->prev = h->last;
    *(h->last ? &h->last->next : &h->first) = c;
    h->last = c;
    h->n_conns++;
    bufferevent_setcb(c->bev, on_read, on_written, on_event, c);
    bufferevent_setwatermark(c->bev, EV_READ, 0, LISTEN_MAX_HEAD);
    bufferevent_enable(c->bev, EV_READ | EV_WRITE);
}

/* Out of file descriptors: the connection waits in the backlog, and would wake
 * the loop again at once.  The next second tries again. */
static void on_accept_error(struct evconnlistener *listener, void *arg)
{
    (void)arg;
    evconnlistener_disable(listener);
}

/* ---- the thread ---- */

static void close_late(struct listen_http *h)
{
    int64_t now = now_ns();

    for (struct listen_conn *c = h->first, *next; c; c = next) {
        next = c->next;
        if (evbuffer_get_length(output(c)) == 0)
            c->moved_ns = now;
        if ((c->until_ns > 0 && now > c->until_ns) ||
            (c->state == CONN_STREAM && now - c->moved_ns > STUCK_NS))
            conn_close(c);
    }
}

static void on_second(evutil_socket_t fd, short what, void *arg)
{
    struct listen_http *h = arg;

    (void)fd;
    (void)what;
    close_late(h);
    if (h->listener)
        evconnlistener_enable(h->listener);
    h->hooks.tick(h->hooks.arg);
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
    struct listen_http *h = arg;
    eventfd_t n;

    (void)what;
    if (eventfd_read(fd, &n) == 0 && !atomic_load(&h->is_ending))
        h->hooks.tick(h->hooks.arg);
}

static bool has_output(const struct listen_http *h)
{
    for (const struct listen_conn *c = h->first; c; c = c->next) {
        if (evbuffer_get_length(output(c)) > 0)
            return true;
    }
    return false;
}

static void *thread_main(void *arg)
{
    struct listen_http *h = arg;
    const struct timeval poll = clk_timeval(END_POLL_NS);
    int64_t until_ns;

    while (!atomic_load(&h->is_ending))
        event_base_loop(h->base, EVLOOP_ONCE);
    if (h->listener)
        evconnlistener_disable(h->listener);
    event_del(h->second);
    h->hooks.tick(h->hooks.arg); /* the last event, if there is one */
    until_ns = now_ns() + h->grace_ns;
    while (has_output(h) && now_ns() < until_ns) {
        event_base_loopexit(h->base, &poll);
        event_base_loop(h->base, 0);
    }
    return NULL;
}

int listen_http_start(struct listen_http *h, struct err *err)
{
    sigset_t all;
    sigset_t before;
    int rc;

    sigfillset(&all); /* signals are for the other threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&h->thread, NULL, thread_main, h);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    h->has_thread = rc == 0;
    return rc ? err_set(err, ERR_IO, "cannot start a thread: %s", strerror(rc))
              : 0;
}

void listen_http_wake(struct listen_http *h)
{
    eventfd_write(h->wake_fd, 1);
}

/* ---- making and ending ---- */

int listen_address_parse(const char *text, struct listen_address *out,
                         struct err *err)
{
    const char *colon = strrchr(text, ':');
    const char *host = colon ? text : "127.0.0.1";
    size_t len = colon ? (size_t)(colon - text) : strlen(host);
    const char *port = colon ? colon + 1 : text;
    char *end;
    unsigned long number = strtoul(port, &end, 10);

    *out = (struct listen_address){0};
    if (len >= 2 && host[0] == '[' && host[len - 1] == ']') {
        host++;
        len -= 2;
    } else if (memchr(host, ':', len)) {
        return err_set(err, ERR_USAGE,
                       "--listen: '%s': write an IPv6 address as [::1]:9100",
                       text);
    }
    if (*port < '0' || *port > '9' || *end || number > 65535 ||
        len >= sizeof(out->host))
        return err_set(err, ERR_USAGE,
                       "--listen: '%s' is not an address such as "
                       "127.0.0.1:9100 (port 0: any free one)",
                       text);
    memcpy(out->host, host, len);
    snprintf(out->port, sizeof(out->port), "%lu", number);
    /* A name such as 127.example.org can be any address. */
    out->is_loopback = (strncmp(out->host, "127.", 4) == 0 &&
                        out->host[strspn(out->host, "0123456789.")] == '\0') ||
                       strcmp(out->host, "::1") == 0 ||
                       strcasecmp(out->host, "localhost") == 0;
    return 0;
}

static void name_url(struct listen_http *h, const struct listen_address *at)
{
    struct sockaddr_storage bound = {0};
    socklen_t len = sizeof(bound);
    char port[8] = "0";

    getsockname(evconnlistener_get_fd(h->listener), (struct sockaddr *)&bound,
                &len);
    getnameinfo((struct sockaddr *)&bound, len, NULL, 0, port, sizeof(port),
                NI_NUMERICSERV);
    snprintf(h->url, sizeof(h->url),
             strchr(at->host, ':') ? "http://[%s]:%s/" : "http://%s:%s/",
             at->host[0] ? at->host : "0.0.0.0", port);
}

/* Events are small and must not wait: accepted sockets inherit TCP_NODELAY. */
static int bind_to(struct listen_http *h, const struct listen_address *at,
                   struct err *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE};
    struct addrinfo *list = NULL;
    int on = 1;
    int rc = getaddrinfo(at->host[0] ? at->host : "0.0.0.0", at->port, &hints,
                         &list);

    if (rc)
        return err_set(err, ERR_IO, "--listen: %s: %s", at->host,
                       gai_strerror(rc));
    h->listener = evconnlistener_new_bind(
        h->base, on_accept, h,
        LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE, -1,
        list->ai_addr, (int)list->ai_addrlen);
    freeaddrinfo(list);
    if (!h->listener)
        return err_set(err, ERR_IO, "--listen: cannot listen on %s:%s: %s",
                       at->host, at->port, strerror(errno));
    evconnlistener_set_error_cb(h->listener, on_accept_error);
    setsockopt(evconnlistener_get_fd(h->listener), IPPROTO_TCP, TCP_NODELAY,
               &on, sizeof(on));
    name_url(h, at);
    return 0;
}

int listen_http_new(struct listen_http **http, const struct listen_address *at,
                    const struct listen_hooks *hooks, struct err *err)
{
    const struct timeval second = {.tv_sec = 1};
    struct event_config *config = event_config_new();
    struct listen_http *h = xcalloc(1, sizeof(*h));

    h->hooks = *hooks;
    h->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (config) {
        event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
        h->base = event_base_new_with_config(config);
        event_config_free(config);
    }
    if (h->base) {
        h->second = event_new(h->base, -1, EV_PERSIST, on_second, h);
        h->woken =
            event_new(h->base, h->wake_fd, EV_READ | EV_PERSIST, on_wake, h);
    }
    if (!h->second || !h->woken || event_add(h->second, &second) ||
        event_add(h->woken, NULL)) {
        listen_http_free(h, 0);
        return err_set(err, ERR_IO, "--listen: cannot make an event loop");
    }
    if (at && bind_to(h, at, err)) {
        listen_http_free(h, 0);
        return -1;
    }
    *http = h;
    return 0;
}

const char *listen_http_url(const struct listen_http *h)
{
    return h->url;
}

void listen_http_free(struct listen_http *h, int64_t grace_ns)
{
    if (!h)
        return;
    h->grace_ns = grace_ns;
    atomic_store(&h->is_ending, true);
    if (h->has_thread) {
        listen_http_wake(h);
        pthread_join(h->thread, NULL);
    }
    for (struct listen_conn *c = h->first, *next; c; c = next) {
        next = c->next;
        conn_close(c);
    }
    if (h->listener)
        evconnlistener_free(h->listener);
    if (h->second)
        event_free(h->second);
    if (h->woken)
        event_free(h->woken);
    if (h->base)
        event_base_free(h->base);
    close(h->wake_fd);
    free(h);
}
