/* HTTP/1.1 over plain sockets: recvmsg(2), send(2) and libevent's readiness,
 * nothing in between.
 *
 * A connection carries one request at a time.  Idle ones are kept on a stack
 * for each endpoint, so that the warmest is used first.  The life of a request
 * is begin() -> send_request() -> on_readable() -> finish().
 */
#include <errno.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/http1.h"
#include "common/settings.h"
#include "common/stop.h"
#include "common/xalloc.h"
#include "loadgen/request.h"
#include "loadgen/target.h"
#include "loadgen/transport/connlist.h"
#include "loadgen/transport/socket.h"
#include "loadgen/transport/transport.h"

#define READ_SIZE ((size_t)64 << 10)
#define KEPT_BODY 512

#define STAMP_SLOT_START_NS (500 * NS_PER_MS)
#define STAMP_SLOT_NS       (50 * NS_PER_MS)

struct http1_transport;

struct conn {
    struct connlink link; /* idle, or being established */
    struct http1_transport *transport;
    struct pool *pool;
    int fd;
    int64_t opened_ns;
    int64_t asked_ns; /* its request began to go out */
    bool is_connected;
    bool was_idle;         /* the server may have closed it meanwhile */
    bool is_stamped;       /* the kernel is asked when it got the answer */
    struct event readable; /* added while connected */
    struct event writable; /* added while connecting or half sent */
    struct http1 parser;
    struct request *request; /* NULL: none */
    struct buf unsent;       /* what the kernel did not take at once */
    char body[KEPT_BODY];    /* beginning of the body, for failures */
    size_t body_len;
    struct conn *next_unused;
};

/* The way to one endpoint. */
struct pool {
    const struct endpoint *endpoint;
    struct connlist idle;
    char *out; /* own copy of the request, for its id */
};

struct http1_transport {
    const struct transport_env *env;
    struct pool *pools; /* one an endpoint */
    struct connlist connecting;
    struct event connect_timer; /* fires when the oldest of those is late */
    uint64_t requests;          /* begun */
    struct conn *unused;        /* closed, kept for their memory */
    int64_t n_open;
    int64_t n_idle;
    size_t max_request; /* the longest of the endpoints' */
    char *in;           /* READ_SIZE, shared by all connections */
    struct conn **all;  /* every conn ever made, to be freed */
    size_t n_all;
    struct socket_path path; /* of those that were closed */
    int connect_error;       /* the last of a connection without a request */
};

static struct conn *conn_of(struct connlink *link)
{
    return (struct conn *)link;
}

static void set_idle(struct conn *c)
{
    connlist_add_first(&c->pool->idle, &c->link);
    c->transport->n_idle++;
    c->was_idle = true;
}

static void unset_idle(struct conn *c)
{
    connlist_remove(&c->link);
    c->transport->n_idle--;
}

static void conn_close(struct conn *c)
{
    struct http1_transport *t = c->transport;

    if (c->link.list == &c->pool->idle)
        t->n_idle--;
    connlist_remove(&c->link);
    event_del(&c->readable);
    event_del(&c->writable);
    if (c->is_connected)
        socket_add_path(c->fd, &t->path);
    close(c->fd);
    c->fd = -1;
    c->request = NULL;
    c->next_unused = t->unused;
    t->unused = c;
    t->n_open--;
}

/* ---- the end of a request ---- */

static void report_end(struct http1_transport *t, struct request *r,
                       enum outcome outcome, int64_t detail, const char *why)
{
    r->facts.outcome = outcome;
    r->facts.detail = detail;
    r->why = why;
    r->conn = NULL;
    t->env->ended(t->env->arg, r);
}

/* It failed, and its connection with it. */
static void break_off(struct conn *c, enum outcome outcome, int64_t detail,
                      const char *why)
{
    struct http1_transport *t = c->transport;
    struct request *r = c->request;

    r->facts.end = transport_now(t->env);
    r->body = c->body;
    r->body_len = c->body_len;
    conn_close(c);
    report_end(t, r, outcome, detail, why);
}

static bool is_reusable(const struct conn *c, bool has_leftover)
{
    return c->parser.keeps_alive && !has_leftover && c->unsent.len == 0 &&
           !c->transport->env->settings->no_keepalive;
}

/* The response is whole: the request is over, the connection may live on. */
static void finish(struct conn *c, int64_t now, bool has_leftover)
{
    struct http1_transport *t = c->transport;
    struct request *r = c->request;
    int status = c->parser.status;
    char why[24];

    r->facts.first = now;
    r->facts.last = now;
    r->facts.end = now;
    r->body = c->body;
    r->body_len = c->body_len;
    c->request = NULL;
    if (is_reusable(c, has_leftover))
        set_idle(c);
    else
        conn_close(c);
    if (status < 400) {
        report_end(t, r, OUTCOME_OK, 0, NULL);
        return;
    }
    snprintf(why, sizeof(why), "HTTP status %d", status);
    report_end(t, r, OUTCOME_STATUS, status, why);
}

/* ---- reading ---- */

static bool retry(struct conn *c);

/* The connection broke.  If the server closed it while it was idle, that is
 * not the request's fault. */
static void take_break(struct conn *c, int64_t detail, const char *why)
{
    if (!retry(c))
        break_off(c, OUTCOME_RESET, detail, why);
}

static void on_body(void *arg, const char *data, size_t len)
{
    struct conn *c = arg;
    size_t room = KEPT_BODY - c->body_len;

    if (len > room)
        len = room;
    memcpy(c->body + c->body_len, data, len);
    c->body_len += len;
}

static const struct http1_hooks response_hooks = {.body = on_body};

/* A length that was only told, as in the answer to HEAD, is not too long. */
static bool is_too_long(const struct conn *c)
{
    int64_t most = c->transport->env->settings->max_response;

    return c->request->facts.bytes_in > most ||
           (c->parser.content_length > most && !http1_is_done(&c->parser));
}

static void take_bytes(struct conn *c, size_t len)
{
    struct http1_transport *t = c->transport;
    int64_t now = transport_now(t->env);
    struct facts *f = &c->request->facts;
    ssize_t used = http1_feed(&c->parser, t->in, len);
    enum http1_error error = used < 0 ? c->parser.error : HTTP1_FINE;

    f->bytes_in += (int64_t)len;
    f->status = c->parser.status;
    if (!error && is_too_long(c))
        error = HTTP1_LONG_BODY;
    if (error) {
        break_off(c, OUTCOME_MALFORMED, error, http1_error_text(error));
        return;
    }
    if (f->head == TIME_ABSENT && http1_has_head(&c->parser))
        f->head = now;
    if (http1_is_done(&c->parser))
        finish(c, now, (size_t)used < len);
}

static void take_eof(struct conn *c)
{
    if (http1_finish_at_eof(&c->parser))
        finish(c, transport_now(c->transport->env), false);
    else if (!c->parser.has_started)
        take_break(c, 0, "closed before any response");
    else
        break_off(c, OUTCOME_TRUNCATED, 0, "closed inside the response");
}

/* Asking the kernel when it got the data costs more than the rest of a read.
 */
static ssize_t receive(const struct conn *c, int64_t *buffered_ns)
{
    char *in = c->transport->in;

    return c->is_stamped ? socket_receive(c->fd, in, READ_SIZE, buffered_ns)
                         : recv(c->fd, in, READ_SIZE, 0);
}

/* Timestamps cost every segment of the connection something, so that at high
 * rates they are on for a slot of each second only; not at its beginning, when
 * the client is busy with itself. */
static bool is_to_be_stamped(const struct http1_transport *t,
                             const struct request *r)
{
    int64_t at_ns = r->facts.issued % NS_PER_S - STAMP_SLOT_START_NS;

    return t->env->stamps_all || (at_ns >= 0 && at_ns < STAMP_SLOT_NS);
}

static void set_stamps(struct conn *c, bool is_on)
{
    if (c->is_stamped == is_on)
        return;
    socket_set_stamps(c->fd, is_on);
    c->is_stamped = is_on;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct conn *c = arg;
    const struct transport_env *env = c->transport->env;
    ssize_t n;

    (void)fd;
    (void)what;
    if (!c->request) {
        conn_close(c); /* an idle one was closed, or is out of step */
        return;
    }
    n = receive(c, &c->request->facts.buffered);
    if (n > 0) {
        if (env->tap)
            env->tap(env->arg, false, c->transport->in, (size_t)n);
        take_bytes(c, (size_t)n);
    } else if (n == 0) {
        take_eof(c);
    } else if (errno != EAGAIN && errno != EINTR) {
        take_break(c, errno, strerror(errno));
    }
}

/* ---- sending ---- */

static void put_id(struct pool *p, int64_t seq)
{
    size_t at = p->endpoint->target->id_at;

    if (at > 0)
        target_put_id(p->out + at, seq);
}

/* What the kernel took counts, and when it was about to take the first byte of
 * the first attempt that got any out. */
static ssize_t send_bytes(struct conn *c, const char *data, size_t len)
{
    const struct transport_env *env = c->transport->env;
    struct facts *f = &c->request->facts;
    int64_t before = transport_now(env);
    ssize_t n = send(c->fd, data, len, MSG_NOSIGNAL);

    if (n <= 0)
        return n;
    if (env->tap)
        env->tap(env->arg, true, data, (size_t)n);
    if (f->sent == TIME_ABSENT)
        f->sent = before;
    f->bytes_out += n;
    return n;
}

static void send_rest(struct conn *c)
{
    ssize_t n = send_bytes(c, c->unsent.data, c->unsent.len);

    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        take_break(c, errno, strerror(errno));
        return;
    }
    if (n > 0)
        buf_consume(&c->unsent, (size_t)n);
    if (c->unsent.len > 0)
        event_add(&c->writable, NULL);
}

static void send_request(struct conn *c)
{
    size_t len = c->pool->endpoint->target->request.len;
    ssize_t n;

    c->asked_ns = clk_now(c->transport->env->clk);
    put_id(c->pool, c->request->facts.seq);
    n = send_bytes(c, c->pool->out, len);
    if (n == (ssize_t)len)
        return;
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        take_break(c, errno, strerror(errno));
        return;
    }
    if (n < 0)
        n = 0;
    buf_add(&c->unsent, c->pool->out + n, len - (size_t)n);
    event_add(&c->writable, NULL);
}

/* ---- connecting ---- */

/* All have the same time, so the oldest is the first to be late. */
static void arm_connect_timer(struct http1_transport *t)
{
    int64_t wait_ns;
    struct timeval tv = {0};

    if (!t->connecting.first)
        return;
    wait_ns = conn_of(t->connecting.first)->opened_ns +
              t->env->settings->connect_timeout_ns - clk_now(t->env->clk);
    if (wait_ns > 0) {
        tv.tv_sec = wait_ns / NS_PER_S;
        tv.tv_usec = wait_ns % NS_PER_S / NS_PER_US + 1;
    }
    event_add(&t->connect_timer, &tv);
}

static void fail_connect(struct conn *c, int error, const char *why)
{
    if (c->request) {
        break_off(c, OUTCOME_CONNECT, socket_connect_detail(error), why);
        return;
    }
    c->transport->connect_error = error;
    conn_close(c);
}

static void on_connect_timer(evutil_socket_t fd, short what, void *arg)
{
    struct http1_transport *t = arg;
    int64_t late_ns =
        clk_now(t->env->clk) - t->env->settings->connect_timeout_ns;

    (void)fd;
    (void)what;
    while (t->connecting.first &&
           conn_of(t->connecting.first)->opened_ns <= late_ns)
        fail_connect(conn_of(t->connecting.first), ETIMEDOUT,
                     "not connected within the connect timeout");
    arm_connect_timer(t);
}

static void take_connection(struct conn *c)
{
    connlist_remove(&c->link);
    c->is_connected = true;
    event_add(&c->readable, NULL);
    if (!c->request) {
        set_idle(c);
        return;
    }
    c->request->facts.is_fresh = 1;
    c->request->facts.connected = transport_now(c->transport->env);
    send_request(c);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct conn *c = arg;
    int error;

    (void)what;
    if (c->is_connected) {
        send_rest(c);
        return;
    }
    error = socket_error(fd);
    if (error)
        fail_connect(c, error, socket_error_text(error));
    else
        take_connection(c);
}

static struct conn *conn_new(struct http1_transport *t)
{
    struct conn *c = t->unused;

    if (c) {
        t->unused = c->next_unused;
        return c;
    }
    c = xcalloc(1, sizeof(*c));
    c->transport = t;
    http1_init(&c->parser, HTTP1_RESPONSE, &response_hooks, c);
    buf_init(&c->unsent, t->max_request);
    t->all = xrealloc(t->all, t->n_all + 1, sizeof(struct conn *));
    t->all[t->n_all++] = c;
    return c;
}

/* Idle connections to other endpoints give way. */
static void make_room(struct http1_transport *t)
{
    struct pool *p = t->pools;

    if (t->n_open < t->env->max_connections || t->n_idle == 0)
        return;
    while (!p->idle.last)
        p++;
    conn_close(conn_of(p->idle.last));
}

static struct conn *conn_open(struct http1_transport *t, struct pool *p)
{
    struct conn *c;
    int fd;

    make_room(t);
    fd = socket_connect(p->endpoint->address);
    if (fd < 0)
        return NULL;
    c = conn_new(t);
    c->pool = p;
    c->fd = fd;
    c->is_connected = false;
    c->was_idle = false;
    c->is_stamped = false;
    c->opened_ns = clk_now(t->env->clk);
    event_assign(&c->readable, t->env->base, fd, EV_READ | EV_PERSIST,
                 on_readable, c);
    event_assign(&c->writable, t->env->base, fd, EV_WRITE, on_writable, c);
    event_add(&c->writable, NULL);
    connlist_add_last(&t->connecting, &c->link);
    if (t->connecting.len == 1)
        arm_connect_timer(t);
    t->n_open++;
    return c;
}

/* ---- the ops ---- */

static void begin(struct conn *c, struct request *r)
{
    c->request = r;
    r->conn = c;
    c->body_len = 0;
    buf_reset(&c->unsent);
    http1_begin(&c->parser);
    set_stamps(c, is_to_be_stamped(c->transport, r));
    c->parser.is_head_request = c->transport->env->targets->is_head;
}

static void start_fresh(struct http1_transport *t, struct pool *p,
                        struct request *r)
{
    struct conn *c = conn_open(t, p);

    if (c) {
        begin(c, r);
        return;
    }
    r->facts.end = transport_now(t->env);
    report_end(t, r, OUTCOME_CONNECT, socket_connect_detail(errno),
               socket_error_text(errno));
}

/* What a server closed while it was idle answers a request with a reset, or has
 * closed it already: within a round trip.  Later than that it had the request.
 */
static bool broke_at_once(const struct conn *c)
{
    int64_t waited_ns = clk_now(c->transport->env->clk) - c->asked_ns;

    return waited_ns <= TRANSPORT_STALE_GRACE_NS + 2 * socket_rtt_ns(c->fd);
}

/* Once, on a fresh connection, and only before any byte of the response: the
 * clock goes on.  False if this is not such a case. */
static bool retry(struct conn *c)
{
    struct http1_transport *t = c->transport;
    struct request *r = c->request;

    if (!c->was_idle || c->parser.has_started || r->facts.retries > 0 ||
        !broke_at_once(c))
        return false;
    r->facts.retries = 1;
    conn_close(c);
    start_fresh(t, c->pool, r);
    return true;
}

static void http1_start(void *self, struct request *r)
{
    struct http1_transport *t = self;
    struct pool *p = &t->pools[targets_route(t->env->targets, r->facts.seq)];
    struct conn *c;

    if (!p->idle.first) {
        start_fresh(t, p, r);
        return;
    }
    c = conn_of(p->idle.first);
    unset_idle(c);
    begin(c, r);
    send_request(c);
}

static bool http1_has_room(void *self)
{
    const struct http1_transport *t = self;

    return t->n_idle > 0 || t->n_open < t->env->max_connections;
}

static void http1_cancel(void *self, struct request *r)
{
    struct conn *c = r->conn;

    (void)self;
    conn_close(c);
    r->conn = NULL;
}

static int64_t http1_connections(void *self)
{
    const struct http1_transport *t = self;

    return t->n_open;
}

/* Where the i-th of the lane's requests will go. */
static struct pool *pool_ahead(struct http1_transport *t, int64_t i)
{
    struct lane lane = t->env->lane;

    return &t->pools[targets_route(t->env->targets,
                                   lane.worker + i * lane.workers)];
}

/* Each is idle, or lost, after the connect timeout at the latest. */
static int http1_preconnect(void *self, int64_t n, struct err *err)
{
    struct http1_transport *t = self;

    t->connect_error = 0;
    for (int64_t i = 0; i < n && !t->connect_error; i++) {
        if (!conn_open(t, pool_ahead(t, i)))
            t->connect_error = errno;
    }
    while (t->connecting.len > 0 && !atomic_load(&stop_signal))
        event_base_loop(t->env->base, EVLOOP_ONCE);
    if (atomic_load(&stop_signal))
        return err_set(err, ERR_IO, "interrupted");
    if (!t->connect_error)
        return 0;
    return err_set(err, ERR_IO, "client.preconnect: %lld of %lld: %s",
                   (long long)t->n_idle, (long long)n,
                   socket_error_text(t->connect_error));
}

static struct socket_path http1_path(void *self)
{
    const struct http1_transport *t = self;
    struct socket_path path = t->path;

    for (size_t i = 0; i < t->n_all; i++) {
        if (t->all[i]->fd >= 0 && t->all[i]->is_connected)
            socket_add_path(t->all[i]->fd, &path);
    }
    return path;
}

static int http1_transport_init(void *self, const struct transport_env *env,
                                struct err *err)
{
    struct http1_transport *t = self;
    const struct targets *targets = env->targets;

    (void)err;
    t->env = env;
    t->in = xcalloc(1, READ_SIZE);
    event_assign(&t->connect_timer, env->base, -1, 0, on_connect_timer, t);
    t->pools = xcalloc(targets->n_endpoints, sizeof(*t->pools));
    for (size_t i = 0; i < targets->n_endpoints; i++) {
        const struct endpoint *e = &targets->endpoints[i];

        t->pools[i].endpoint = e;
        t->pools[i].out =
            xstrndup(e->target->request.data, e->target->request.len);
        if (e->target->request.len > t->max_request)
            t->max_request = e->target->request.len;
    }
    return 0;
}

static void http1_transport_fini(void *self)
{
    struct http1_transport *t = self;

    if (!t->env)
        return;
    for (size_t i = 0; i < t->n_all; i++) {
        struct conn *c = t->all[i];

        if (c->fd >= 0)
            conn_close(c);
        http1_fini(&c->parser);
        buf_fini(&c->unsent);
        free(c);
    }
    event_del(&t->connect_timer);
    for (size_t i = 0; i < t->env->targets->n_endpoints; i++)
        free(t->pools[i].out);
    free(t->pools);
    free(t->all);
    free(t->in);
}

const struct transport_ops transport_http1 = {
    .name = "native",
    .state_size = sizeof(struct http1_transport),
    .init = http1_transport_init,
    .preconnect = http1_preconnect,
    .has_room = http1_has_room,
    .start = http1_start,
    .cancel = http1_cancel,
    .connections = http1_connections,
    .path = http1_path,
    .fini = http1_transport_fini,
};
