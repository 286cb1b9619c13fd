#include "loadgen/transport/curl_pool.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/payload/workload.h"
#include "loadgen/prepare/target.h"
#include "loadgen/transport/curl_connect.h"
#include "loadgen/transport/transport.h"

#define MULTI_HANDLES 32
#define READ_SIZE     (16L << 10)

/* An HTTP/2 connection may receive this much without content at a time: about
 * 30,000 frames, which take libcurl about 10 ms. */
#define MAX_EMPTY ((size_t)256 << 10)

/* More than a socket holds. */
#define MAX_CUTS 64
#define CUT_SIZE ((size_t)1 << 20)

/* A few handles and the connections that they share. */
struct curl_multi {
    struct curl_pool *pool;
    CURLM *multi;
    struct event timer;
    bool is_starting;   /* it will be driven at once, without the timer */
    int64_t closed_ns;  /* when one of its connections was last closed */
    int flooded_port;   /* local port of the last flooded connection; 0: none */
    int64_t flooded_ns; /* when that was */

    struct curl_handle handles[MULTI_HANDLES];
    size_t n_handles;           /* in use or unused */
    struct curl_handle *unused; /* of those */
    bool has_room;              /* it is in the place's list with_room */
    struct curl_multi *next_with_room;
    struct curl_multi *next;
};

/* A time in which libcurl does not wait for a socket. */
struct idle {
    int64_t since_ns;
    int64_t acked; /* socket_acked() then */
};

/* libcurl stops waiting for a socket when a response is complete, and waits for
 * it again a moment later, for the next one: its event stays registered with
 * the kernel meanwhile. */
struct curl_socket {
    struct curl_multi *multi;
    struct event event;
    short wanted;   /* what the event waits for */
    bool is_wanted; /* by libcurl */
    bool is_open;
    bool is_added;
    int64_t socket;              /* its number */
    struct idle idle;            /* that began last, ... */
    struct idle idle_before;     /* ... and before libcurl waited again */
    struct curl_closing closing; /* of the last one with this descriptor */

    /* HTTP/2 only. */
    struct curl_pool *pool;
    int fd;
    int64_t turn;     /* of the last record */
    int64_t contents; /* n_contents then */
    size_t empty;     /* bytes received since either changed */
    bool is_flooded;
};

/* ---- driving ---- */

/* NULL for a handle that libcurl uses itself. */
static struct curl_handle *handle_of(CURL *easy)
{
    char *handle = NULL;

    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &handle);
    return (struct curl_handle *)(void *)handle;
}

static void drive(struct curl_multi *m, curl_socket_t fd, int flags)
{
    CURLMsg *message;
    int running;
    int left;

    m->pool->n_turns++;
    curl_multi_socket_action(m->multi, fd, flags, &running);
    while ((message = curl_multi_info_read(m->multi, &left))) {
        CURLcode code = message->data.result;

        m->pool->user->ended(handle_of(message->easy_handle), code);
    }
}

/* ---- sockets ---- */

static struct curl_socket *socket_of(struct curl_pool *p, int fd)
{
    size_t n = (size_t)fd + 1;

    if (n > p->n_slots) {
        p->sockets = xrealloc(p->sockets, n, sizeof(struct curl_socket *));
        memset(p->sockets + p->n_slots, 0,
               (n - p->n_slots) * sizeof(struct curl_socket *));
        p->n_slots = n;
    }
    if (!p->sockets[fd])
        p->sockets[fd] = xcalloc(1, sizeof(struct curl_socket));
    return p->sockets[fd];
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
        drive(s->multi, fd,
              (what & EV_READ ? CURL_CSELECT_IN : 0) |
                  (what & EV_WRITE ? CURL_CSELECT_OUT : 0));
        return;
    }
    /* An idle connection was closed.  libcurl checks a connection before it
     * uses it, and takes one with something to read for alive; over TLS that
     * may be the server's close notification. */
    stop_waiting(s);
    if (!s->pool->env->settings->http2)
        cut(fd);
}

static int on_wanted(CURL *easy, curl_socket_t fd, int what, void *arg,
                     void *known)
{
    struct curl_multi *m = arg;
    struct curl_socket *s = socket_of(m->pool, fd);
    struct curl_handle *h = handle_of(easy);
    short wanted = (short)(EV_PERSIST | (what & CURL_POLL_IN ? EV_READ : 0) |
                           (what & CURL_POLL_OUT ? EV_WRITE : 0));

    (void)known;
    if (!s->is_wanted)
        s->idle_before = s->idle;
    s->is_wanted = what != CURL_POLL_REMOVE;
    if (!s->is_wanted) {
        if (s->is_open)
            s->idle =
                (struct idle){clk_now(s->pool->env->clk), socket_acked(fd)};
        else /* the resolver's, which closes it itself */
            stop_waiting(s);
        return 0;
    }
    if (h && h->socket == 0 && !h->has_opened) {
        h->socket = s->socket;
        h->fd = fd;
    }
    if (s->is_added && s->wanted == wanted && s->multi == m)
        return 0;
    stop_waiting(s);
    s->multi = m;
    s->wanted = wanted;
    event_assign(&s->event, m->pool->env->base, fd, wanted, on_event, s);
    event_add(&s->event, NULL);
    s->is_added = true;
    return 0;
}

/* Sockets are counted here, and their path is noted when they are closed. */
static curl_socket_t on_open(void *arg, curlsocktype purpose,
                             struct curl_sockaddr *address)
{
    struct curl_handle *h = arg;
    struct curl_pool *p = h->route->pool;
    struct curl_socket *s;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC,
                    address->protocol);

    (void)purpose;
    if (fd < 0) {
        h->open_error = errno;
        return CURL_SOCKET_BAD;
    }
    s = socket_of(p, fd);
    s->is_open = true;
    s->socket = ++p->n_opened;
    s->idle = (struct idle){0};
    s->pool = p;
    s->fd = fd;
    s->is_flooded = false;
    h->has_opened = true;
    h->opened = s;
    p->n_sockets++;
    return fd;
}

static int on_close(void *arg, curl_socket_t fd)
{
    struct curl_pool *p = arg;
    struct curl_socket *s = p->sockets[fd];
    int64_t now = clk_now(p->env->clk);
    int64_t acked = socket_acked(fd);

    s->closing = (struct curl_closing){
        .socket = s->socket,
        .at_ns = now,
        .idle_ns = s->idle_before.since_ns,
        .acked = acked >= 0 ? acked - s->idle_before.acked : -1,
        .rtt_ns = socket_rtt_ns(fd),
    };
    if (s->multi)
        s->multi->closed_ns = now;
    socket_add_path(fd, &p->path);
    stop_waiting(s);
    s->is_open = false;
    s->multi = NULL;
    p->n_sockets--;
    return close(fd);
}

struct curl_socket *curl_pool_guarded(CURL *easy)
{
    const struct curl_handle *h = handle_of(easy);

    return h && h->route->pool->env->settings->http2 ? h->opened : NULL;
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

void curl_pool_received(struct curl_socket *s, size_t len)
{
    const struct curl_pool *p = s->pool;

    if (s->turn != p->n_turns || s->contents != p->n_contents)
        s->empty = 0;
    s->turn = p->n_turns;
    s->contents = p->n_contents;
    s->empty += len;
    if (s->empty <= MAX_EMPTY || s->is_flooded || !s->multi)
        return;
    s->is_flooded = true;
    s->multi->flooded_port = local_port(s->fd);
    s->multi->flooded_ns = clk_now(s->pool->env->clk);
    cut(s->fd);
}

bool curl_pool_was_flooded(const struct curl_handle *h)
{
    const struct curl_multi *m = h->multi;

    /* A later connection may have the same port. */
    return h->local_port > 0 && m->flooded_port == h->local_port &&
           h->asked_ns <= m->flooded_ns;
}

const struct curl_closing *curl_pool_closing(const struct curl_handle *h)
{
    const struct curl_closing *c =
        h->socket > 0 ? &h->route->pool->sockets[h->fd]->closing : NULL;

    return c && c->socket == h->socket ? c : NULL;
}

int64_t curl_pool_closed_ns(const struct curl_handle *h)
{
    return h->multi->closed_ns;
}

struct socket_path curl_pool_path(const struct curl_pool *p)
{
    struct socket_path path = p->path;

    for (size_t fd = 0; fd < p->n_slots; fd++) {
        if (p->sockets[fd] && p->sockets[fd]->is_open)
            socket_add_path((int)fd, &path);
    }
    return path;
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
    struct curl_multi *m = arg;
    struct timeval tv = clk_timeval(wait_ms * NS_PER_MS);

    (void)multi;
    if (wait_ms == 0 && m->is_starting)
        return 0;
    if (wait_ms < 0)
        event_del(&m->timer);
    else
        event_add(&m->timer, &tv);
    return 0;
}

/* ---- making handles ---- */

static void add_header(struct curl_handle *h, const char *line)
{
    struct curl_slist *longer = curl_slist_append(h->headers, line);

    if (!longer)
        abort(); /* out of memory */
    h->headers = longer;
}

/* Each handle has a list of its own, because of the id in it.  The headers that
 * libcurl would add by itself are removed. */
static void set_headers(struct curl_handle *h, const struct class *class)
{
    static const char *const unwanted[] = {
        "Expect:", "Accept:", "Content-Type:"};
    const struct strlist *lines = &class->targets->headers;

    for (size_t i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++)
        add_header(h, unwanted[i]);
    for (size_t i = 0; i < lines->len; i++) {
        const char *line = lines->items[i];
        size_t len = strcspn(line, ":");
        bool is_empty =
            line[len] && !line[len + 1 + strspn(line + len + 1, " \t")];

        if (is_empty) { /* "Name: " would remove a header, "Name;" is empty */
            char *empty = xasprintf("%.*s;", (int)len, line);

            add_header(h, empty);
            free(empty);
        } else {
            add_header(h, line);
        }
    }
    h->id = NULL;
    if (class->settings->request_id) { /* its header is the last */
        const struct curl_slist *last = h->headers;

        while (last->next)
            last = last->next;
        h->id = last->data + strlen(TARGET_ID_HEADER ": ");
    }
    curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, h->headers);
}

static int on_debug(CURL *easy, curl_infotype type, char *data, size_t len,
                    void *arg)
{
    const struct transport_env *env = arg;
    bool is_sent = type == CURLINFO_HEADER_OUT || type == CURLINFO_DATA_OUT;

    (void)easy;
    if (is_sent || type == CURLINFO_HEADER_IN || type == CURLINFO_DATA_IN)
        env->tap(env->arg, is_sent, data, len);
    return 0;
}

static void make_easy(struct curl_handle *h)
{
    struct curl_route *route = h->route;
    struct curl_pool *p = route->pool;
    const struct targets *ts = route->class->targets;

    h->easy = curl_easy_init();
    if (!h->easy)
        abort(); /* out of memory */
    curl_easy_setopt(h->easy, CURLOPT_URL, route->endpoint->target->text);
    curl_easy_setopt(h->easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(h->easy, CURLOPT_BUFFERSIZE, READ_SIZE);
    h->open_error = 0;
    h->has_opened = false;
    h->socket = 0;
    h->opened = NULL;
    curl_easy_setopt(h->easy, CURLOPT_PRIVATE, h);
    curl_easy_setopt(h->easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    curl_easy_setopt(h->easy, CURLOPT_OPENSOCKETDATA, h);
    curl_easy_setopt(h->easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
    curl_easy_setopt(h->easy, CURLOPT_CLOSESOCKETDATA, p);
    set_headers(h, route->class);
    curl_easy_setopt(h->easy, CURLOPT_CUSTOMREQUEST,
                     route->class->settings->method);
    if (ts->is_head) {
        curl_easy_setopt(h->easy, CURLOPT_NOBODY, 1L);
    } else if (ts->has_length) {
        curl_easy_setopt(h->easy, CURLOPT_POSTFIELDS, buf_text(&ts->body));
        curl_easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                         (curl_off_t)ts->body.len);
    }
    curl_set_connection(h->easy, p->env->settings, p->trust, route->connect_to);
    if (p->env->tap) {
        curl_easy_setopt(h->easy, CURLOPT_DEBUGFUNCTION, on_debug);
        curl_easy_setopt(h->easy, CURLOPT_DEBUGDATA, p->env);
        curl_easy_setopt(h->easy, CURLOPT_VERBOSE, 1L);
    }
    p->user->prepare(h);
}

static void drop_easy(struct curl_handle *h)
{
    curl_easy_cleanup(h->easy);
    curl_slist_free_all(h->headers);
    h->headers = NULL;
}

/* ---- making multis ---- */

static void add_room(struct curl_place *place, struct curl_multi *m)
{
    if (m->has_room)
        return;
    m->has_room = true;
    m->next_with_room = place->with_room;
    place->with_room = m;
}

static struct curl_multi *multi_new(struct curl_route *route)
{
    struct curl_multi *m = xcalloc(1, sizeof(*m));

    m->pool = route->pool;
    m->multi = curl_multi_init();
    if (!m->multi)
        abort(); /* out of memory */
    event_assign(&m->timer, m->pool->env->base, -1, 0, on_timeout, m);
    curl_multi_setopt(m->multi, CURLMOPT_SOCKETFUNCTION, on_wanted);
    curl_multi_setopt(m->multi, CURLMOPT_SOCKETDATA, m);
    curl_multi_setopt(m->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(m->multi, CURLMOPT_TIMERDATA, m);
    curl_multi_setopt(m->multi, CURLMOPT_MAXCONNECTS, (long)MULTI_HANDLES);
    curl_multi_setopt(m->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    m->next = route->place->multis;
    route->place->multis = m;
    add_room(route->place, m);
    return m;
}

static void multi_free(struct curl_multi *m)
{
    for (size_t i = 0; i < m->n_handles; i++) {
        curl_multi_remove_handle(m->multi, m->handles[i].easy);
        drop_easy(&m->handles[i]);
        buf_fini(&m->handles[i].out);
        http1_fini(&m->handles[i].parser);
    }
    curl_multi_cleanup(m->multi);
    event_del(&m->timer);
    free(m);
}

/* ---- the life of a handle ---- */

/* One of this route, or any if there is no room for a new one; NULL: make a new
 * one. */
static struct curl_handle *take_unused(struct curl_multi *m,
                                       struct curl_route *route)
{
    struct curl_handle **at = &m->unused;
    struct curl_handle *h;

    while (*at && (*at)->route != route)
        at = &(*at)->next;
    if (!*at && m->n_handles == MULTI_HANDLES)
        at = &m->unused;
    h = *at;
    if (!h)
        return NULL;
    *at = h->next;
    if (h->route != route) {
        drop_easy(h);
        h->route = route;
        make_easy(h);
    }
    return h;
}

struct curl_handle *curl_pool_take(struct curl_route *route)
{
    static const struct http1_hooks no_hooks = {0};
    struct curl_place *place = route->place;
    struct curl_multi *m =
        place->with_room ? place->with_room : multi_new(route);
    struct curl_handle *h = take_unused(m, route);

    if (!h) {
        h = &m->handles[m->n_handles++];
        h->multi = m;
        h->route = route;
        buf_init(&h->out, TARGET_MAX_REQUEST);
        http1_init(&h->parser, HTTP1_RESPONSE, &no_hooks, NULL);
        make_easy(h);
    }
    if (!m->unused && m->n_handles == MULTI_HANDLES) {
        place->with_room = m->next_with_room;
        m->has_room = false;
    }
    route->pool->n_taken++;
    return h;
}

void curl_pool_start(struct curl_handle *h)
{
    struct curl_multi *m = h->multi;

    m->is_starting = true;
    curl_multi_add_handle(m->multi, h->easy);
    m->is_starting = false;
    drive(m, CURL_SOCKET_TIMEOUT, 0);
}

void curl_pool_restart(struct curl_handle *h)
{
    curl_multi_remove_handle(h->multi->multi, h->easy);
    curl_easy_setopt(h->easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_pool_start(h);
}

/* libcurl 7.88 carries the errno of a failure, and how often it has sent a
 * request again, over to the next transfer of an easy handle: such a handle is
 * replaced. */
void curl_pool_put_back(struct curl_handle *h)
{
    struct curl_multi *m = h->multi;
    long error = 0;

    curl_multi_remove_handle(m->multi, h->easy);
    curl_easy_getinfo(h->easy, CURLINFO_OS_ERRNO, &error);
    if (error != 0 || h->sends > 1 || h->is_again) {
        drop_easy(h);
        make_easy(h);
    }
    h->next = m->unused;
    m->unused = h;
    h->route->pool->n_taken--;
    add_room(h->route->place, m);
}

/* ---- making and ending ---- */

/* Is the host of the URL the address itself?  Then libcurl needs no
 * CURLOPT_CONNECT_TO, which it would parse again for every request. */
static bool is_spelled_out(const struct endpoint *e)
{
    const struct url *url = &e->target->url;
    char address[SOCKET_ADDRESS_TEXT];
    size_t len = strlen(url->host);

    if (!e->address)
        return false;
    socket_address_text(e->address, address);
    return strncmp(address, url->host, len) == 0 && address[len] == ':' &&
           strcmp(address + len + 1, url->port) == 0;
}

void curl_pool_init(struct curl_pool *p, const struct transport_env *env,
                    const struct tls_trust *trust, const struct curl_user *user)
{
    const struct workload *workload = env->workload;

    p->env = env;
    p->trust = trust;
    p->user = user;
    p->routes = xcalloc(workload->n_routes, sizeof(*p->routes));
    p->places = xcalloc(workload->n_places, sizeof(*p->places));
    for (size_t k = 0; k < workload->len; k++) {
        const struct class *class = &workload->classes[k];

        for (size_t i = 0; i < class->targets->n_endpoints; i++) {
            const struct endpoint *e = &class->targets->endpoints[i];

            p->routes[class->first_route + i] = (struct curl_route){
                .pool = p,
                .place = &p->places[e->place],
                .class = class,
                .endpoint = e,
                .connect_to = is_spelled_out(e) ? NULL : curl_connect_to(e),
            };
        }
    }
}

void curl_pool_fini(struct curl_pool *p)
{
    if (!p->env)
        return;
    for (size_t i = 0; i < p->env->workload->n_places; i++) {
        for (struct curl_multi *m = p->places[i].multis, *next; m; m = next) {
            next = m->next;
            multi_free(m);
        }
    }
    for (size_t i = 0; i < p->env->workload->n_routes; i++)
        curl_slist_free_all(p->routes[i].connect_to);
    for (size_t fd = 0; fd < p->n_slots; fd++)
        free(p->sockets[fd]);
    free(p->sockets);
    free(p->routes);
    free(p->places);
}
