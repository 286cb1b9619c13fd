/* HTTP/1.1 over sockets, with TLS or without.
 *
 * A connection carries one request at a time; the pool provides it.  The life
 * of a request is http1_start() -> begin() -> send_request() -> on_readable()
 * -> take_bytes() -> finish().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/wire/http_message.h"
#include "loadgen/engine/request.h"
#include "loadgen/payload/workload.h"
#include "loadgen/prepare/target.h"
#include "loadgen/schedule/session.h"
#include "loadgen/transport/http1_pool.h"
#include "loadgen/transport/socket.h"
#include "loadgen/transport/transport.h"

#define READ_SIZE ((size_t)64 << 10)

/* Timestamps cost something for every segment of a connection, so that at high
 * rates they are on for this slot of each second only; not at the beginning of
 * a second, when the client has other work. */
#define STAMP_SLOT_START_NS (500 * NS_PER_MS)
#define STAMP_SLOT_NS       (50 * NS_PER_MS)

struct http1_transport {
    struct http1_pool pool; /* first: a connection's pool is this struct */
    char *in;               /* READ_SIZE, shared by all connections */
    struct buf out;         /* a request that is made individually ... */
    struct buf body;        /* ... and its body */
};

struct bytes {
    char *data;
    size_t len;
};

static char *input_of(const struct http1_conn *c)
{
    return ((const struct http1_transport *)c->pool)->in;
}

/* ---- the end of a request ---- */

/* Its facts are complete. */
static void report_end(const struct transport_env *env, struct request *r)
{
    r->conn = NULL;
    env->ended(env->arg, r);
}

/* The request failed, and its connection is closed. */
static void break_off(struct http1_conn *c, enum outcome outcome,
                      int64_t detail, const char *why)
{
    const struct transport_env *env = c->pool->env;
    struct request *r = c->request;

    request_break(r, transport_now(env), outcome, detail, why);
    http1_pool_close(c);
    report_end(env, r);
}

/* The response is complete; the connection is kept if it can be reused. */
static void finish(struct http1_conn *c, int64_t now, bool has_leftover)
{
    const struct transport_env *env = c->pool->env;
    struct request *r = c->request;

    request_finish(r, c->parser.status, now);
    c->request = NULL;
    if (c->parser.keeps_alive && !has_leftover && c->conn.unsent.len == 0 &&
        !env->settings->no_keepalive)
        http1_pool_keep(c, env->start_ns + now);
    else
        http1_pool_close(c);
    report_end(env, r);
}

/* ---- the beginning of a request, on one connection or two ---- */

static void begin(struct http1_conn *c, struct request *r)
{
    int64_t slot_ns = r->facts.issued % NS_PER_S - STAMP_SLOT_START_NS;
    bool is_stamped =
        c->pool->env->stamps_all || (slot_ns >= 0 && slot_ns < STAMP_SLOT_NS);

    c->request = r;
    r->conn = c;
    http1_begin(&c->parser);
    conn_set_stamps(&c->conn, is_stamped);
    c->parser.is_head_request = r->class->targets->is_head;
}

/* It is sent once the connection is established. */
static void begin_fresh(struct http1_pool *p, struct http1_route *route,
                        struct request *r)
{
    struct http1_conn *c = http1_pool_open(p, route);

    if (c) {
        begin(c, r);
        return;
    }
    request_break(r, transport_now(p->env), OUTCOME_CONNECT,
                  socket_connect_detail(errno), socket_error_text(errno));
    report_end(p->env, r);
}

/* Send it again on a fresh connection, once, if the server had closed this one
 * while it was idle; the request's clock goes on.  False if this is not such a
 * case. */
static bool retry(struct http1_conn *c, bool is_closed)
{
    const struct transport_env *env = c->pool->env;
    struct request *r = c->request;
    int64_t acked;

    if (!c->was_idle || c->parser.has_started || r->facts.retries > 0)
        return false;
    acked = socket_acked(c->conn.wire.fd);
    if (!stale_is(&(struct stale_facts){
            .taken = c->conn.wire.taken - c->taken_before,
            .acked = acked - c->taken_before,
            .is_acked_known = acked >= 0,
            .is_closed = is_closed,
            .idle_ns = env->start_ns + c->asked_ns - c->kept_ns,
            .waited_ns = transport_now(env) - c->asked_ns,
            .rtt_ns = socket_rtt_ns(c->conn.wire.fd),
        }))
        return false;
    r->facts.retries = 1;
    http1_pool_close(c);
    begin_fresh(c->pool, c->route, r);
    return true;
}

/* The connection broke.  EPIPE: reset, after a FIN that was not read yet. */
static void take_break(struct http1_conn *c, int error)
{
    char why[TLS_TEXT];

    if (!c->was_idle && !c->parser.has_started &&
        conn_is_refused(&c->conn, error))
        break_off(c, OUTCOME_CONNECT, CONNECT_TLS,
                  conn_why(&c->conn, error, why));
    else if (!retry(c, error == EPIPE))
        break_off(c, OUTCOME_RESET, error, conn_why(&c->conn, error, why));
}

/* ---- sending ---- */

/* The request's bytes: the same for all, or made for this one, and then valid
 * until the next is made.  NULL: too large. */
static struct bytes make_request(const struct http1_conn *c)
{
    struct http1_transport *t = (struct http1_transport *)c->pool;
    const struct api *api = c->request->class->api;
    const struct target *target = c->route->endpoint->target;
    struct bytes bytes = {c->route->out, target->request.len};

    if (api && api->makes_bodies) {
        if (target_make_request(target, api, c->request, &t->body, &t->out))
            return (struct bytes){0};
        bytes = (struct bytes){t->out.data, t->out.len};
    }
    if (target->id_at > 0)
        target_put_id(bytes.data + target->id_at, c->request->facts.seq);
    return bytes;
}

/* `now` is the time just before the first of these bytes. */
static void note_sent(const struct http1_conn *c, size_t len, int64_t now)
{
    struct facts *f = &c->request->facts;

    if (len > 0 && f->sent == TIME_ABSENT)
        f->sent = now;
    f->bytes_out += (int64_t)len;
}

static void send_request(struct http1_conn *c)
{
    const struct transport_env *env = c->pool->env;
    struct bytes bytes = make_request(c);
    size_t sent;

    if (!bytes.data) {
        break_off(c, OUTCOME_RESET, EMSGSIZE, TARGET_TOO_LARGE);
        return;
    }
    if (env->tap)
        env->tap(env->arg, true, bytes.data, bytes.len);
    c->taken_before = c->conn.wire.taken;
    c->asked_ns = transport_now(env);
    sent = conn_send(&c->conn, bytes.data, bytes.len);
    note_sent(c, sent, c->asked_ns);
    /* What an idle connection has received before answers nothing. */
    if (sent == 0 && c->conn.write_error && c->was_idle &&
        c->conn.wire.taken == c->taken_before)
        take_break(c, c->conn.write_error);
}

/* The rest of a request that the kernel did not take at once. */
static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct http1_conn *c = arg;
    int64_t now = transport_now(c->pool->env);

    (void)fd;
    (void)what;
    note_sent(c, conn_send_rest(&c->conn), now);
}

/* ---- reading ---- */

static void on_header(void *arg, const char *name, size_t name_len,
                      const char *value, size_t value_len)
{
    struct http1_conn *c = arg;

    if (c->request->class->api)
        response_header(&c->request->response, name, name_len, value,
                        value_len);
}

static void on_body(void *arg, const char *data, size_t len)
{
    struct http1_conn *c = arg;

    if (c->request->class->api)
        response_take(&c->request->response, c->parser.status, c->read_ns, data,
                      len);
    request_keep_body(c->request, data, len);
}

/* A length that is only announced, as in the answer to HEAD, is no problem. */
static void take_bytes(struct http1_conn *c, size_t len)
{
    int64_t now = transport_now(c->pool->env);
    int64_t max = c->pool->env->settings->max_response;
    struct facts *f = &c->request->facts;
    enum http1_error error;
    ssize_t used;

    c->read_ns = now;
    used = http1_feed(&c->parser, input_of(c), len);
    error = used < 0 ? c->parser.error : HTTP1_FINE;
    f->bytes_in += (int64_t)len;
    f->status = c->parser.status;
    if (!error && (f->bytes_in > max || (c->parser.content_length > max &&
                                         !http1_is_done(&c->parser))))
        error = HTTP1_LONG_BODY;
    if (error) {
        break_off(c, OUTCOME_MALFORMED, error, http1_error_text(error));
        return;
    }
    if (f->head == TIME_ABSENT && http1_has_head(&c->parser))
        f->head = now;
    if (c->request->class->api && response_is_starved(&c->request->response)) {
        break_off(c, OUTCOME_TRUNCATED, 0, NULL);
        return;
    }
    if (http1_is_done(&c->parser))
        finish(c, now, (size_t)used < len || conn_has_more(&c->conn));
}

static void take_eof(struct http1_conn *c)
{
    if (!conn_is_cut(&c->conn) && http1_finish_at_eof(&c->parser))
        finish(c, transport_now(c->pool->env), false);
    else if (c->parser.has_started)
        break_off(c, OUTCOME_TRUNCATED, 0, "closed inside the response");
    else if (!retry(c, true))
        break_off(c, OUTCOME_RESET, 0, "closed before any response");
}

/* An idle connection was closed, or received something unrequested;
 * unless it was only TLS's own, such as a session. */
static void read_idle(struct http1_conn *c, ssize_t n)
{
    if (n >= 0 || (errno != EAGAIN && errno != EINTR))
        http1_pool_close(c);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct http1_conn *c = arg;
    const struct transport_env *env = c->pool->env;
    char *in = input_of(c);
    ssize_t n = conn_read(&c->conn, in, READ_SIZE);

    (void)fd;
    (void)what;
    if (!c->request) {
        read_idle(c, n);
        return;
    }
    if (c->conn.wire.is_stamped && n > 0)
        c->request->facts.buffered = c->conn.wire.buffered_ns;
    if (conn_has_more(&c->conn))
        conn_read_again(&c->conn);
    if (n > 0) {
        if (env->tap)
            env->tap(env->arg, false, in, (size_t)n);
        take_bytes(c, (size_t)n);
    } else if (n == 0) {
        take_eof(c);
    } else if (errno != EAGAIN && errno != EINTR) {
        take_break(c, errno);
    }
}

/* ---- what the dialer reports ---- */

static void on_established(struct conn *conn)
{
    struct http1_conn *c = (struct http1_conn *)conn;

    if (!c->request) { /* opened ahead */
        http1_pool_keep(c, clk_now(c->pool->env->clk));
        return;
    }
    conn_note_times(conn, &c->request->facts);
    send_request(c);
}

static void on_failed(struct conn *conn, enum connect_detail detail,
                      const char *why)
{
    struct http1_conn *c = (struct http1_conn *)conn;

    if (!c->request) {
        dialer_note_failure(&c->pool->dialer, why);
        http1_pool_close(c);
        return;
    }
    conn_note_times(conn, &c->request->facts);
    break_off(c, OUTCOME_CONNECT, detail, why);
}

static const struct dialer_hooks hooks = {
    .protocol = "http/1.1",
    .readable = on_readable,
    .writable = on_writable,
    .established = on_established,
    .failed = on_failed,
};

/* Headers are handed over only if an API reads them. */
static const struct http1_hooks plain_hooks = {.body = on_body};
static const struct http1_hooks api_hooks = {.header = on_header,
                                             .body = on_body};

/* ---- the ops ---- */

static void http1_start(void *self, struct request *r)
{
    struct http1_pool *p = &((struct http1_transport *)self)->pool;
    size_t i = workload_route(r->class, request_place(&r->facts));
    struct http1_conn *c = http1_pool_take(&p->routes[i]);

    r->facts.target = (int64_t)p->routes[i].endpoint->place;
    if (!c) {
        begin_fresh(p, &p->routes[i], r);
        return;
    }
    begin(c, r);
    send_request(c);
}

static bool http1_has_room(void *self)
{
    const struct http1_pool *p = &((const struct http1_transport *)self)->pool;

    return p->n_idle > 0 || p->n_open < p->env->max_connections;
}

static void http1_cancel(void *self, struct request *r)
{
    (void)self;
    http1_pool_close(r->conn);
    r->conn = NULL;
}

static int64_t http1_connections(void *self)
{
    const struct http1_transport *t = self;

    return t->pool.n_open;
}

static int http1_preconnect(void *self, int64_t n, struct err *err)
{
    struct http1_transport *t = self;

    return http1_pool_preconnect(&t->pool, n, err);
}

static struct socket_path http1_path(void *self)
{
    const struct http1_transport *t = self;

    return dialer_path(&t->pool.dialer);
}

static int http1_transport_init(void *self, const struct transport_env *env,
                                struct err *err)
{
    struct http1_transport *t = self;

    t->in = xcalloc(1, READ_SIZE);
    buf_init(&t->out, TARGET_MAX_REQUEST);
    buf_init(&t->body, TARGET_MAX_REQUEST);
    return http1_pool_init(&t->pool, env, &hooks,
                           env->workload->reads ? &api_hooks : &plain_hooks,
                           err);
}

static void http1_transport_fini(void *self)
{
    struct http1_transport *t = self;

    http1_pool_fini(&t->pool);
    buf_fini(&t->out);
    buf_fini(&t->body);
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
