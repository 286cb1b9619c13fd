/* HTTP through libcurl: TLS, HTTP/2, proxies and unix sockets.
 *
 * One easy handle carries one request at a time.  libcurl's cost a request
 * grows with the handles in one multi, so there are many small multis, all on
 * the worker's event base.  The life of a request is curl_start() ->
 * on_prereq() -> on_header(), on_body() -> finish().
 */
#include <curl/curl.h>
#include <errno.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/err.h"
#include "common/http1.h"
#include "common/settings.h"
#include "common/xalloc.h"
#include "loadgen/request.h"
#include "loadgen/target.h"
#include "loadgen/transport/curl_options.h"
#include "loadgen/transport/curl_verdict.h"
#include "loadgen/transport/socket.h"
#include "loadgen/transport/transport.h"

#define HANDLES_A_MULTI 32
#define READ_SIZE       (16L << 10)
#define KEPT_BODY       512

#define MAX_LENGTH_DIGITS 18
#define HTTP_FINAL        200 /* statuses below are followed by another */

struct curl_transport;
struct multi;
struct pool;

/* Carries one request at a time. */
struct handle {
    struct multi *multi;
    CURL *easy;
    struct curl_slist *headers;
    char *id; /* the digits in them; NULL: none */
    struct request *request;
    struct handle *next; /* unused */

    /* Of the request. */
    int64_t began_ns; /* libcurl's times count from here */
    int64_t last_ns;  /* when the last byte came */
    int sends;        /* times that it was about to be sent */
    size_t head_len;
    bool is_whole_head;
    enum http1_error refusal; /* ours, who broke it off */
    bool broke_late;          /* not for want of a fresh connection */
    char body[KEPT_BODY];
    size_t body_len;
    char why[CURL_ERROR_SIZE];
};

/* A few handles and the connections that they share. */
struct multi {
    struct pool *pool;
    CURLM *curl;
    struct event timer;
    struct handle handles[HANDLES_A_MULTI];
    size_t n_handles;      /* that were made */
    struct handle *unused; /* of those */
    bool has_room;         /* it is on the pool's list of those */
    bool is_starting;      /* it will be driven at once, timer or not */
    struct multi *next_with_room;
    struct multi *next;
};

/* The way to one endpoint. */
struct pool {
    struct curl_transport *transport;
    const struct endpoint *endpoint;
    struct curl_slist *connect_to;
    int64_t rtt_ns; /* what the last connection took to establish */
    struct multi *with_room;
    struct multi *multis; /* all of them */
};

/* A socket of ours.  libcurl stops waiting for one whenever a response is
 * complete, and waits again a moment later, for the next: it stays with the
 * kernel meanwhile. */
struct watch {
    struct multi *multi;
    struct event event;
    short wanted;   /* what the event waits for */
    bool is_wanted; /* by libcurl */
    bool is_open;
    bool is_added;
};

struct curl_transport {
    const struct transport_env *env;
    struct pool *pools; /* one an endpoint */
    int64_t n_in_flight;
    int64_t n_sockets;
    struct watch **watches; /* by descriptor; NULL: it never was one of ours */
    size_t n_watches;
    struct socket_path path; /* of sockets that were closed */
};

static int64_t now_ns(const struct handle *h)
{
    return transport_now(h->multi->pool->transport->env);
}

/* ---- the end of a request ---- */

static void put_back(struct handle *h)
{
    struct multi *m = h->multi;

    curl_multi_remove_handle(m->curl, h->easy);
    h->request->conn = NULL;
    h->request = NULL;
    h->next = m->unused;
    m->unused = h;
    m->pool->transport->n_in_flight--;
    if (m->has_room)
        return;
    m->has_room = true;
    m->next_with_room = m->pool->with_room;
    m->pool->with_room = m;
}

static int64_t get_number(CURL *easy, CURLINFO what)
{
    curl_off_t value = 0;

    curl_easy_getinfo(easy, what, &value);
    return value;
}

static long get_long(CURL *easy, CURLINFO what)
{
    long value = 0;

    curl_easy_getinfo(easy, what, &value);
    return value;
}

static void take_connection(const struct handle *h, struct facts *f)
{
    int64_t connected_us;
    int64_t secured_us;

    if (get_long(h->easy, CURLINFO_NUM_CONNECTS) == 0)
        return;
    connected_us = get_number(h->easy, CURLINFO_CONNECT_TIME_T);
    secured_us = get_number(h->easy, CURLINFO_APPCONNECT_TIME_T);
    if (connected_us == 0 && h->sends == 0)
        return; /* it was tried; that to a unix socket may take no time */
    f->is_fresh = 1;
    f->connected = h->began_ns + connected_us * NS_PER_US;
    h->multi->pool->rtt_ns = connected_us * NS_PER_US;
    if (secured_us > 0)
        f->secured = h->began_ns + secured_us * NS_PER_US;
}

/* What only libcurl knows. */
static void take_facts(const struct handle *h, struct facts *f)
{
    f->status = get_long(h->easy, CURLINFO_RESPONSE_CODE);
    f->retries = h->sends > 1;
    f->bytes_out = get_long(h->easy, CURLINFO_REQUEST_SIZE) +
                   get_number(h->easy, CURLINFO_SIZE_UPLOAD_T);
    f->bytes_in = get_long(h->easy, CURLINFO_HEADER_SIZE) +
                  get_number(h->easy, CURLINFO_SIZE_DOWNLOAD_T);
    take_connection(h, f);
}

static struct curl_verdict judge(const struct handle *h, CURLcode code)
{
    bool wants_2 = h->multi->pool->transport->env->settings->http2;

    return curl_judge(&(struct curl_ending){
        .code = code,
        .error = (int)get_long(h->easy, CURLINFO_OS_ERRNO),
        .status = (int)h->request->facts.status,
        .was_sent = h->sends > 0,
        .has_begun = h->head_len > 0,
        .is_whole_head = h->is_whole_head,
        .refusal = h->refusal,
        .broke_late = h->broke_late,
        .is_downgrade = wants_2 && get_long(h->easy, CURLINFO_HTTP_VERSION) <
                                       CURL_HTTP_VERSION_2_0,
        .text = h->why,
    });
}

/* Why, in libcurl's words unless there are better. */
static void explain(struct handle *h, const struct curl_verdict *v,
                    CURLcode code)
{
    const char *text = v->text ? v->text : curl_easy_strerror(code);

    if (v->outcome == OUTCOME_STATUS)
        snprintf(h->why, sizeof(h->why), "HTTP status %d", (int)v->detail);
    else if (v->text || !h->why[0])
        snprintf(h->why, sizeof(h->why), "%s", text);
}

static void finish(struct handle *h, CURLcode code)
{
    const struct transport_env *env = h->multi->pool->transport->env;
    struct request *r = h->request;
    struct curl_verdict v;

    take_facts(h, &r->facts);
    v = judge(h, code);
    explain(h, &v, code);
    r->facts.end = now_ns(h);
    if (v.outcome == OUTCOME_OK || v.outcome == OUTCOME_STATUS)
        r->facts.first = r->facts.last = h->last_ns;
    r->facts.outcome = v.outcome;
    r->facts.detail = v.detail;
    r->why = h->why;
    r->body = h->body;
    r->body_len = h->body_len;
    put_back(h);
    env->ended(env->arg, r);
}

static void finish_all(struct multi *m)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(m->curl, &left))) {
        CURLcode code = message->data.result;
        char *h = NULL;

        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &h);
        finish((struct handle *)(void *)h, code);
    }
}

/* ---- what libcurl tells of a request ---- */

/* libcurl sends again whatever broke on a connection that it had used before.
 * If that took longer than a round trip, the server had the request.  HTTP/2
 * says itself which streams it has not looked at, and libcurl goes by that. */
static bool is_stale(struct handle *h)
{
    int64_t waited_ns = now_ns(h) - h->request->facts.sent;
    int64_t rtt_ns = h->multi->pool->rtt_ns;

    h->broke_late = !h->multi->pool->transport->env->settings->http2 &&
                    waited_ns > TRANSPORT_STALE_GRACE_NS + 2 * rtt_ns;
    return !h->broke_late;
}

static int on_prereq(void *arg, char *ip, char *local_ip, int port,
                     int local_port)
{
    struct handle *h = arg;
    struct facts *f = &h->request->facts;

    (void)ip;
    (void)local_ip;
    (void)port;
    (void)local_port;
    if (h->sends > 0 && !is_stale(h))
        return CURL_PREREQFUNC_ABORT;
    h->sends++;
    if (f->sent == TIME_ABSENT)
        f->sent = now_ns(h);
    return CURL_PREREQFUNC_OK;
}

static enum http1_error judge_length(const struct handle *h)
{
    const struct transport_env *env = h->multi->pool->transport->env;

    if (h->head_len > HTTP1_MAX_HEAD)
        return HTTP1_LONG_HEAD;
    if (h->request->facts.bytes_in > env->settings->max_response)
        return HTTP1_LONG_BODY;
    return HTTP1_FINE;
}

/* False: that is enough of it. */
static bool take_bytes(struct handle *h, size_t len)
{
    h->request->facts.bytes_in += (int64_t)len;
    if (!h->refusal)
        h->refusal = judge_length(h);
    return !h->refusal;
}

/* A length that was only told, as in the answer to HEAD, is not too long. */
static bool announces_too_much(const struct handle *h)
{
    const struct transport_env *env = h->multi->pool->transport->env;

    return !env->targets->is_head &&
           get_number(h->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T) >
               env->settings->max_response;
}

/* libcurl reads a length that is too long for it as none. */
static bool is_bad_length(const char *line, size_t len)
{
    static const char name[] = "content-length:";
    size_t at = sizeof(name) - 1;
    size_t digits = 0;

    if (len < at || strncasecmp(line, name, at) != 0)
        return false;
    while (at < len && line[at] == ' ')
        at++;
    for (; at < len && line[at] >= '0' && line[at] <= '9'; at++)
        digits += digits > 0 || line[at] != '0';
    return digits > MAX_LENGTH_DIGITS;
}

/* The empty line, unless it is that of a 1xx. */
static bool take_end_of_head(struct handle *h)
{
    if (h->is_whole_head ||
        get_long(h->easy, CURLINFO_RESPONSE_CODE) < HTTP_FINAL)
        return true;
    h->is_whole_head = true;
    h->last_ns = now_ns(h);
    h->request->facts.head = h->last_ns;
    if (announces_too_much(h))
        h->refusal = HTTP1_LONG_BODY;
    return !h->refusal;
}

static size_t on_header(char *data, size_t size, size_t n, void *arg)
{
    struct handle *h = arg;
    size_t len = size * n;
    bool is_end = data[0] == '\n' || (data[0] == '\r' && len == 2);

    h->head_len += len;
    if (h->is_whole_head) /* of a trailer */
        h->last_ns = now_ns(h);
    if (is_bad_length(data, len))
        h->refusal = HTTP1_BAD_LENGTH;
    if (!take_bytes(h, len) || (is_end && !take_end_of_head(h)))
        return 0;
    return len;
}

static size_t on_body(char *data, size_t size, size_t n, void *arg)
{
    struct handle *h = arg;
    size_t len = size * n;
    size_t room = KEPT_BODY - h->body_len;
    size_t kept = len < room ? len : room;

    h->last_ns = now_ns(h);
    memcpy(h->body + h->body_len, data, kept);
    h->body_len += kept;
    return take_bytes(h, len) ? len : 0;
}

/* ---- sockets and timers ---- */

static void watch_stop(struct watch *w)
{
    if (w->is_added)
        event_del(&w->event);
    w->is_added = false;
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
    struct watch *w = arg;
    struct multi *m = w->multi;
    int flags = (what & EV_READ ? CURL_CSELECT_IN : 0) |
                (what & EV_WRITE ? CURL_CSELECT_OUT : 0);
    int running;

    if (!w->is_wanted) { /* an idle one was closed; libcurl will find out */
        watch_stop(w);
        return;
    }
    curl_multi_socket_action(m->curl, fd, flags, &running);
    finish_all(m);
}

static void on_timeout(evutil_socket_t fd, short what, void *arg)
{
    struct multi *m = arg;
    int running;

    (void)fd;
    (void)what;
    curl_multi_socket_action(m->curl, CURL_SOCKET_TIMEOUT, 0, &running);
    finish_all(m);
}

static struct watch *watch_of(struct curl_transport *t, int fd)
{
    size_t n = (size_t)fd + 1;

    if (n > t->n_watches) {
        t->watches = xrealloc(t->watches, n, sizeof(struct watch *));
        memset(t->watches + t->n_watches, 0,
               (n - t->n_watches) * sizeof(struct watch *));
        t->n_watches = n;
    }
    if (!t->watches[fd])
        t->watches[fd] = xcalloc(1, sizeof(struct watch));
    return t->watches[fd];
}

static void watch_begin(struct watch *w, struct multi *m, int fd, short wanted)
{
    if (w->is_added && w->wanted == wanted && w->multi == m)
        return;
    watch_stop(w);
    w->multi = m;
    w->wanted = wanted;
    event_assign(&w->event, m->pool->transport->env->base, fd, wanted, on_event,
                 w);
    event_add(&w->event, NULL);
    w->is_added = true;
}

static int on_watch(CURL *easy, curl_socket_t fd, int what, void *arg,
                    void *known)
{
    struct multi *m = arg;
    struct watch *w = watch_of(m->pool->transport, fd);
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
    watch_begin(w, m, fd, wanted);
    return 0;
}

static int on_timer(CURLM *curl, long wait_ms, void *arg)
{
    struct multi *m = arg;
    struct timeval tv = {.tv_sec = wait_ms / 1000,
                         .tv_usec = wait_ms % 1000 * 1000};

    (void)curl;
    if (wait_ms == 0 && m->is_starting)
        return 0;
    if (wait_ms < 0)
        event_del(&m->timer);
    else
        event_add(&m->timer, &tv);
    return 0;
}

/* Sockets are counted, and asked about their path before they go. */
static curl_socket_t on_open(void *arg, curlsocktype purpose,
                             struct curl_sockaddr *address)
{
    struct curl_transport *t = arg;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC,
                    address->protocol);

    (void)purpose;
    if (fd < 0)
        return CURL_SOCKET_BAD;
    watch_of(t, fd)->is_open = true;
    t->n_sockets++;
    return fd;
}

static int on_close(void *arg, curl_socket_t fd)
{
    struct curl_transport *t = arg;
    struct watch *w = t->watches[fd];

    socket_add_path(fd, &t->path);
    watch_stop(w);
    w->is_open = false;
    t->n_sockets--;
    return close(fd);
}

/* ---- making handles ---- */

static void set_callbacks(struct handle *h)
{
    struct curl_transport *t = h->multi->pool->transport;
    CURL *easy = h->easy;

    curl_easy_setopt(easy, CURLOPT_PRIVATE, h);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, h->why);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_prereq);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, h);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, h);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, h);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, t);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, t);
}

/* Each handle has a list of its own, for the id in it. */
static void set_headers(struct handle *h, const struct strlist *lines)
{
    static const char id[] = "x-tailgate-id: ";

    h->headers = curl_slist_append(NULL, "Expect:");
    h->headers = curl_slist_append(h->headers, "Accept:");
    for (size_t i = 0; i < lines->len; i++)
        h->headers = curl_slist_append(h->headers, lines->items[i]);
    for (struct curl_slist *l = h->headers; l; l = l->next) {
        if (strncmp(l->data, id, sizeof(id) - 1) == 0)
            h->id = l->data + sizeof(id) - 1;
    }
    curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, h->headers);
}

static void handle_init(struct handle *h, struct multi *m)
{
    const struct transport_env *env = m->pool->transport->env;

    h->multi = m;
    h->easy = curl_easy_init();
    if (!h->easy)
        abort(); /* out of memory */
    curl_easy_setopt(h->easy, CURLOPT_URL, m->pool->endpoint->target->text);
    curl_easy_setopt(h->easy, CURLOPT_BUFFERSIZE, READ_SIZE);
    set_callbacks(h);
    set_headers(h, &env->targets->headers);
    curl_set_options(h->easy, env, m->pool->connect_to);
}

static struct multi *multi_new(struct pool *p)
{
    struct multi *m = xcalloc(1, sizeof(*m));

    m->pool = p;
    m->curl = curl_multi_init();
    if (!m->curl)
        abort(); /* out of memory */
    event_assign(&m->timer, p->transport->env->base, -1, 0, on_timeout, m);
    curl_multi_setopt(m->curl, CURLMOPT_SOCKETFUNCTION, on_watch);
    curl_multi_setopt(m->curl, CURLMOPT_SOCKETDATA, m);
    curl_multi_setopt(m->curl, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(m->curl, CURLMOPT_TIMERDATA, m);
    curl_multi_setopt(m->curl, CURLMOPT_MAXCONNECTS, (long)HANDLES_A_MULTI);
    curl_multi_setopt(m->curl, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    m->next = p->multis;
    p->multis = m;
    m->has_room = true;
    m->next_with_room = p->with_room;
    p->with_room = m;
    return m;
}

/* The one that was used last has the warmest connection. */
static struct handle *take_handle(struct pool *p)
{
    struct multi *m = p->with_room ? p->with_room : multi_new(p);
    struct handle *h = m->unused;

    if (h) {
        m->unused = h->next;
    } else {
        h = &m->handles[m->n_handles++];
        handle_init(h, m);
    }
    if (!m->unused && m->n_handles == HANDLES_A_MULTI) {
        p->with_room = m->next_with_room;
        m->has_room = false;
    }
    return h;
}

/* ---- the ops ---- */

static void begin(struct handle *h, struct request *r)
{
    h->request = r;
    r->conn = h;
    h->began_ns = now_ns(h);
    h->last_ns = h->began_ns;
    h->sends = 0;
    h->head_len = 0;
    h->is_whole_head = false;
    h->refusal = HTTP1_FINE;
    h->broke_late = false;
    h->body_len = 0;
    h->why[0] = '\0';
    if (h->id)
        target_put_id(h->id, r->facts.seq);
}

static void curl_start(void *self, struct request *r)
{
    struct curl_transport *t = self;
    struct pool *p = &t->pools[targets_route(t->env->targets, r->facts.seq)];
    struct handle *h = take_handle(p);
    struct multi *m = h->multi;
    int running;

    begin(h, r);
    t->n_in_flight++;
    m->is_starting = true;
    curl_multi_add_handle(m->curl, h->easy);
    m->is_starting = false;
    curl_multi_socket_action(m->curl, CURL_SOCKET_TIMEOUT, 0, &running);
    finish_all(m);
}

static bool curl_has_room(void *self)
{
    const struct curl_transport *t = self;

    return t->n_in_flight < t->env->max_connections;
}

static void curl_cancel(void *self, struct request *r)
{
    struct handle *h = r->conn;

    (void)self;
    take_facts(h, &r->facts);
    put_back(h);
}

static int64_t curl_connections(void *self)
{
    const struct curl_transport *t = self;

    return t->n_sockets;
}

static struct socket_path curl_path(void *self)
{
    const struct curl_transport *t = self;
    struct socket_path path = t->path;

    for (size_t fd = 0; fd < t->n_watches; fd++) {
        if (t->watches[fd] && t->watches[fd]->is_open)
            socket_add_path((int)fd, &path);
    }
    return path;
}

/* Is the host of the URL the address itself?  libcurl would read it again for
 * every request, for nothing. */
static bool is_spelled_out(const struct endpoint *e)
{
    const struct url *url = &e->target->url;
    char address[SOCKET_ADDRESS_TEXT];
    size_t len = strlen(url->host);

    socket_address_text(e->address, address);
    return strncmp(address, url->host, len) == 0 && address[len] == ':' &&
           strcmp(address + len + 1, url->port) == 0;
}

/* Host and port stay those of the URL for TLS and the Host header; only where
 * the connection goes is ours to say. */
static void pool_init(struct pool *p, struct curl_transport *t,
                      const struct endpoint *e)
{
    char address[SOCKET_ADDRESS_TEXT];
    char *text;

    p->transport = t;
    p->endpoint = e;
    if (!e->address || is_spelled_out(e))
        return;
    text = xasprintf("::%s", socket_address_text(e->address, address));
    p->connect_to = curl_slist_append(NULL, text);
    free(text);
}

/* libcurl would find out with the first request, and each one after it. */
static int check_file(const char *key, const char *path, struct err *err)
{
    if (!path || access(path, R_OK) == 0)
        return 0;
    return err_set(err, ERR_CONFIG, "target.%s: %s: %s", key, path,
                   strerror(errno));
}

static int curl_transport_init(void *self, const struct transport_env *env,
                               struct err *err)
{
    struct curl_transport *t = self;
    const struct target_settings *s = env->settings;

    if (check_file("ca_file", s->ca_file, err) ||
        check_file("cert", s->cert, err) || check_file("key", s->key, err))
        return -1;
    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        return err_set(err, ERR_IO, "libcurl cannot be used");
    t->env = env;
    t->pools = xcalloc(env->targets->n_endpoints, sizeof(*t->pools));
    for (size_t i = 0; i < env->targets->n_endpoints; i++)
        pool_init(&t->pools[i], t, &env->targets->endpoints[i]);
    return 0;
}

static void multi_free(struct multi *m)
{
    for (size_t i = 0; i < m->n_handles; i++) {
        curl_multi_remove_handle(m->curl, m->handles[i].easy);
        curl_easy_cleanup(m->handles[i].easy);
        curl_slist_free_all(m->handles[i].headers);
    }
    curl_multi_cleanup(m->curl);
    event_del(&m->timer);
    free(m);
}

static void curl_transport_fini(void *self)
{
    struct curl_transport *t = self;

    if (!t->env)
        return;
    for (size_t i = 0; i < t->env->targets->n_endpoints; i++) {
        while (t->pools[i].multis) {
            struct multi *m = t->pools[i].multis;

            t->pools[i].multis = m->next;
            multi_free(m);
        }
        curl_slist_free_all(t->pools[i].connect_to);
    }
    for (size_t fd = 0; fd < t->n_watches; fd++)
        free(t->watches[fd]);
    free(t->watches);
    free(t->pools);
    curl_global_cleanup();
}

const struct transport_ops transport_curl = {
    .name = "curl",
    .state_size = sizeof(struct curl_transport),
    .init = curl_transport_init,
    .has_room = curl_has_room,
    .start = curl_start,
    .cancel = curl_cancel,
    .connections = curl_connections,
    .path = curl_path,
    .fini = curl_transport_fini,
};
