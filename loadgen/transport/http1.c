/* HTTP/1.1 over plain sockets: recv(2), send(2) and libevent's readiness,
 * nothing in between.
 *
 * A connection carries one request at a time.  Idle ones are kept on a stack,
 * so that the warmest is used first.  The life of a request is begin() ->
 * send_request() -> on_readable() -> finish().
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
#include "common/xalloc.h"
#include "loadgen/request.h"
#include "loadgen/target.h"
#include "loadgen/transport/socket.h"
#include "loadgen/transport/transport.h"

#define READ_SIZE ((size_t)64 << 10)
#define KEPT_BODY 512

struct http1_transport;

struct conn {
    struct http1_transport *transport;
    int fd;
    bool is_connected;
    bool has_served; /* it is kept alive: the server may close it any time */
    struct event readable; /* added while connected */
    struct event writable; /* added while connecting or half sent */
    struct http1 parser;
    struct request *request; /* NULL: idle */
    struct buf unsent;       /* what the kernel did not take at once */
    char body[KEPT_BODY];    /* beginning of the body, for failures */
    size_t body_len;
    struct conn *next;     /* idle: the stack; closed: for reuse */
    struct conn *previous; /* idle: nearer to its top */
};

struct http1_transport {
    const struct transport_env *env;
    const struct addrinfo *address; /* the one that answered before the run */
    struct conn *idle;
    struct conn *unused; /* closed connections, kept for their memory */
    int64_t n_open;
    char *out;         /* own copy of the request, for its id */
    char *in;          /* READ_SIZE, shared by all connections */
    struct conn **all; /* every conn ever made, to be freed */
    size_t n_all;
};

static void conn_close(struct conn *c)
{
    struct http1_transport *t = c->transport;

    event_del(&c->readable);
    event_del(&c->writable);
    close(c->fd);
    c->fd = -1;
    c->request = NULL;
    c->next = t->unused;
    t->unused = c;
    t->n_open--;
}

static void add_idle(struct conn *c)
{
    struct http1_transport *t = c->transport;

    c->previous = NULL;
    c->next = t->idle;
    if (t->idle)
        t->idle->previous = c;
    t->idle = c;
}

static void remove_idle(struct conn *c)
{
    if (c->previous)
        c->previous->next = c->next;
    else
        c->transport->idle = c->next;
    if (c->next)
        c->next->previous = c->previous;
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
    c->has_served = true;
    if (c->parser.keeps_alive && !has_leftover && c->unsent.len == 0)
        add_idle(c);
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

static void take_bytes(struct conn *c, size_t len)
{
    struct http1_transport *t = c->transport;
    int64_t now = transport_now(t->env);
    struct facts *f = &c->request->facts;
    ssize_t used = http1_feed(&c->parser, t->in, len);

    f->bytes_in += (int64_t)len;
    f->status = c->parser.status;
    if (used < 0) {
        break_off(c, OUTCOME_MALFORMED, c->parser.error,
                  http1_error_text(c->parser.error));
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

/* An idle connection that becomes readable was closed, or is out of step. */
static void drop_idle(struct conn *c)
{
    remove_idle(c);
    conn_close(c);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct conn *c = arg;
    ssize_t n;

    (void)what;
    if (!c->request) {
        drop_idle(c);
        return;
    }
    n = recv(fd, c->transport->in, READ_SIZE, 0);
    if (n > 0)
        take_bytes(c, (size_t)n);
    else if (n == 0)
        take_eof(c);
    else if (errno != EAGAIN && errno != EINTR)
        take_break(c, errno, strerror(errno));
}

/* ---- sending ---- */

static void put_id(struct http1_transport *t, int64_t seq)
{
    size_t at = t->env->target->id_at;

    if (at == 0)
        return;
    for (size_t i = TARGET_ID_DIGITS; i > 0; i--) {
        t->out[at + i - 1] = (char)('0' + seq % 10);
        seq /= 10;
    }
}

/* What the kernel took counts, and when it was about to take the first byte of
 * the first attempt that got any out. */
static ssize_t send_bytes(struct conn *c, const char *data, size_t len)
{
    struct facts *f = &c->request->facts;
    int64_t before = transport_now(c->transport->env);
    ssize_t n = send(c->fd, data, len, MSG_NOSIGNAL);

    if (n <= 0)
        return n;
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
    struct http1_transport *t = c->transport;
    size_t len = t->env->target->request.len;
    ssize_t n;

    put_id(t, c->request->facts.seq);
    n = send_bytes(c, t->out, len);
    if (n == (ssize_t)len)
        return;
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        take_break(c, errno, strerror(errno));
        return;
    }
    if (n < 0)
        n = 0;
    buf_add(&c->unsent, t->out + n, len - (size_t)n);
    event_add(&c->writable, NULL);
}

/* ---- connecting ---- */

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
    if (error) {
        break_off(c, OUTCOME_CONNECT, socket_connect_detail(error),
                  strerror(error));
        return;
    }
    c->is_connected = true;
    c->request->facts.is_fresh = 1;
    event_add(&c->readable, NULL);
    send_request(c);
}

static struct conn *conn_new(struct http1_transport *t)
{
    struct conn *c = t->unused;

    if (c) {
        t->unused = c->next;
        return c;
    }
    c = xcalloc(1, sizeof(*c));
    c->transport = t;
    http1_init(&c->parser, HTTP1_RESPONSE, &response_hooks, c);
    buf_init(&c->unsent, t->env->target->request.len);
    t->all = xrealloc(t->all, t->n_all + 1, sizeof(struct conn *));
    t->all[t->n_all++] = c;
    return c;
}

static struct conn *conn_open(struct http1_transport *t)
{
    int fd = socket_connect(t->address);
    struct conn *c;

    if (fd < 0)
        return NULL;
    c = conn_new(t);
    c->fd = fd;
    c->is_connected = false;
    c->has_served = false;
    event_assign(&c->readable, t->env->base, fd, EV_READ | EV_PERSIST,
                 on_readable, c);
    event_assign(&c->writable, t->env->base, fd, EV_WRITE, on_writable, c);
    event_add(&c->writable, NULL);
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
    c->parser.is_head_request = c->transport->env->target->is_head;
}

static void start_fresh(struct http1_transport *t, struct request *r)
{
    struct conn *c = conn_open(t);

    if (c) {
        begin(c, r);
        return;
    }
    r->facts.end = transport_now(t->env);
    report_end(t, r, OUTCOME_CONNECT, socket_connect_detail(errno),
               strerror(errno));
}

/* Once, on a fresh connection, and only before any byte of the response: the
 * clock goes on.  False if this is not such a case. */
static bool retry(struct conn *c)
{
    struct http1_transport *t = c->transport;
    struct request *r = c->request;

    if (!c->has_served || c->parser.has_started || r->facts.retries > 0)
        return false;
    r->facts.retries = 1;
    conn_close(c);
    start_fresh(t, r);
    return true;
}

static void http1_start(void *self, struct request *r)
{
    struct http1_transport *t = self;
    struct conn *c = t->idle;

    if (!c) {
        start_fresh(t, r);
        return;
    }
    remove_idle(c);
    begin(c, r);
    send_request(c);
}

static bool http1_has_room(void *self)
{
    const struct http1_transport *t = self;

    return t->idle || t->n_open < t->env->max_connections;
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

static int http1_transport_init(void *self, const struct transport_env *env,
                                struct err *err)
{
    struct http1_transport *t = self;

    t->env = env;
    t->in = xcalloc(1, READ_SIZE);
    t->out = xstrndup(env->target->request.data, env->target->request.len);
    return socket_probe(env->target->addresses, &t->address, err);
}

static void http1_transport_fini(void *self)
{
    struct http1_transport *t = self;

    for (size_t i = 0; i < t->n_all; i++) {
        struct conn *c = t->all[i];

        if (c->fd >= 0)
            conn_close(c);
        http1_fini(&c->parser);
        buf_fini(&c->unsent);
        free(c);
    }
    free(t->all);
    free(t->in);
    free(t->out);
}

const struct transport_ops transport_http1 = {
    .name = "http",
    .state_size = sizeof(struct http1_transport),
    .init = http1_transport_init,
    .has_room = http1_has_room,
    .start = http1_start,
    .cancel = http1_cancel,
    .connections = http1_connections,
    .fini = http1_transport_fini,
};
