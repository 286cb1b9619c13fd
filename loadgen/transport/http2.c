/* HTTP/2 with nghttp2, over TLS or, with prior knowledge, over plain sockets.
 *
 * The life of a request is http2_start() -> submit() -> on_frame_send() ->
 * on_header(), on_data() -> on_stream_close() -> finish().  The pool decides
 * which connection carries its stream.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/wire/http_message.h"
#include "loadgen/engine/request.h"
#include "loadgen/payload/workload.h"
#include "loadgen/prepare/target.h"
#include "loadgen/schedule/session.h"
#include "loadgen/transport/http2_pool.h"
#include "loadgen/transport/transport.h"

#define READ_SIZE ((size_t)64 << 10)

/* A connection may receive this much without content: about 30,000 frames. */
#define MAX_EMPTY ((size_t)256 << 10)

/* Connections that may fail to take a request before it fails.  Those that
 * serve others do not count: a server that takes 20 requests per connection, or
 * lowers its limit of streams, refuses most of a burst many times. */
#define MAX_ATTEMPTS 3

#define FRAME_HEAD 9
#define HTTP_FINAL 200 /* statuses below are followed by another */

#define NO_HTTP2 "the server does not speak HTTP/2"

struct http2_transport {
    struct http2_pool pool; /* first: a connection's pool is this struct */
    char *in;               /* READ_SIZE, shared by all connections */
};

static const struct transport_env *env_of(const struct http2_conn *c)
{
    return c->pool->env;
}

static struct http2_stream *stream_of(struct connlink *link)
{
    return (struct http2_stream *)link;
}

/* NULL: it was given up. */
static struct http2_stream *find_stream(const struct http2_conn *c, int32_t id)
{
    return nghttp2_session_get_stream_user_data(c->session, id);
}

/* ---- the end of a request ---- */

/* Its facts are complete. */
static void report_end(struct http2_pool *p, struct http2_stream *s)
{
    struct request *r = s->request;

    r->conn = NULL;
    http2_stream_give_back(p, s);
    p->env->ended(p->env->arg, r);
}

/* `s` is attached to no connection. */
static void fail(struct http2_pool *p, struct http2_stream *s,
                 enum outcome outcome, int64_t detail, const char *why)
{
    request_break(s->request, transport_now(p->env), outcome, detail, why);
    report_end(p, s);
}

/* Tell the server that the rest of the answer is not wanted. */
static void give_up_stream(struct http2_stream *s)
{
    struct http2_conn *c = s->conn;

    if (s->id > 0)
        nghttp2_submit_rst_stream(c->session, NGHTTP2_FLAG_NONE, s->id,
                                  NGHTTP2_CANCEL);
    http2_stream_detach(s);
}

static void refuse(struct http2_stream *s, enum http1_error error)
{
    struct http2_pool *p = s->conn->pool;

    give_up_stream(s);
    fail(p, s, OUTCOME_MALFORMED, error, http1_error_text(error));
}

static void finish(struct http2_stream *s, int64_t now)
{
    struct http2_pool *p = s->conn->pool;

    http2_stream_detach(s);
    request_finish(s->request, s->status, now);
    report_end(p, s);
}

/* ---- the beginning of a request, on one connection or more ---- */

static void break_conn(struct http2_conn *c, enum outcome outcome,
                       int64_t detail, const char *why);

/* Write, and find out whether the connection is over. */
static void settle(struct http2_conn *c)
{
    if (c->is_busy || !c->session)
        return;
    http2_conn_flush(c);
    if (c->conn.write_error && !c->is_draining) { /* on_readable() ends it */
        c->is_draining = true;
        http2_conn_update(c);
    }
    if (c->n_used == 0 && c->is_draining) {
        http2_conn_close(c);
        conn_give_back(&c->conn);
    } else if (!nghttp2_session_want_read(c->session) &&
               !nghttp2_session_want_write(c->session)) {
        /* nghttp2 has ended it, because of what the server sent */
        if (c->has_settings)
            break_conn(c, OUTCOME_MALFORMED, HTTP1_BAD_FRAME,
                       http1_error_text(HTTP1_BAD_FRAME));
        else
            break_conn(c, OUTCOME_CONNECT, CONNECT_PROTOCOL, NO_HTTP2);
    }
}

/* NOLINTNEXTLINE(readability-function-size): as nghttp2 calls it */
static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *to,
                         size_t size, uint32_t *flags,
                         nghttp2_data_source *source, void *arg)
{
    struct http2_stream *s = find_stream(arg, id);
    size_t left;

    (void)session;
    (void)source;
    if (!s)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    left = s->body_len - s->body_sent;
    if (size > left)
        size = left;
    memcpy(to, s->body + s->body_sent, size);
    s->body_sent += size;
    if (s->body_sent == s->body_len)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)size;
}

static void tap_head(const struct transport_env *env,
                     const struct http2_stream *s)
{
    struct buf text;

    buf_init(&text, HTTP1_MAX_HEAD);
    http2_head_print(&s->route->head, &text);
    buf_add(&text, s->body, s->body_len);
    env->tap(env->arg, true, buf_text(&text), text.len);
    buf_fini(&text);
}

/* Hand it to nghttp2, which sends it once the server's limit allows. */
static void submit(struct http2_stream *s)
{
    struct http2_conn *c = s->conn;
    const struct transport_env *env = env_of(c);
    struct http2_head *h = &s->route->head;
    nghttp2_data_provider provider = {.read_callback = read_body};

    http2_head_fill(h, &s->digits, s->request->facts.seq, s->body_len);
    s->ordinal = ++c->n_submitted;
    s->id = nghttp2_submit_request(c->session, NULL, h->fields, h->n,
                                   s->body_len > 0 ? &provider : NULL, s);
    if (s->id < 0) { /* all numbers of streams are used up */
        s->id = 0;
        c->is_draining = true;
    }
    if (env->tap)
        tap_head(env, s);
}

/* Give it to a connection; again if one could not carry it. */
static void begin(struct http2_pool *p, struct http2_stream *s)
{
    do {
        if (s->conn)
            http2_stream_detach(s);
        if (http2_stream_attach(p, s)) {
            fail(p, s, OUTCOME_CONNECT, socket_connect_detail(errno),
                 socket_error_text(errno));
            return;
        }
        if (!s->conn->session) /* it is sent once that is established */
            return;
        submit(s);
    } while (s->id == 0);
    settle(s->conn);
}

/* The server's limit is lower than was assumed: what it would hold back goes to
 * other connections. */
static void spread(struct http2_conn *c)
{
    struct http2_pool *p = c->pool;

    while ((int64_t)c->streams.len > c->limit && c->limit > 0 &&
           http2_place_has_room(p, c->place)) {
        struct http2_stream *s = stream_of(c->streams.last);

        if (s->is_sent)
            return;
        give_up_stream(s);
        begin(p, s);
    }
}

/* Did the connection end before the server had the request? */
static bool is_stale(const struct http2_stream *s, int64_t acked,
                     int64_t rtt_ns, bool is_closed)
{
    const struct http2_conn *c = s->conn;
    const struct transport_env *env = env_of(c);

    return s->is_reused && !s->has_begun &&
           stale_is(&(struct stale_facts){
               .taken = c->conn.wire.taken - s->taken_before,
               .acked = acked - s->taken_before,
               .is_acked_known = acked >= 0,
               .is_closed = is_closed,
               .idle_ns = env->start_ns + c->woke_ns - c->idle_ns,
               .waited_ns = transport_now(env) - c->woke_ns,
               .rtt_ns = rtt_ns,
           });
}

/* Send it again if the server has not seen it, or not looked at it; the
 * request's clock goes on.  Once, unless it is excused. */
static bool begin_again(struct http2_pool *p, struct http2_stream *s,
                        bool is_excused)
{
    if (is_excused)
        s->attempts = 0;
    if (s->attempts >= MAX_ATTEMPTS ||
        (s->is_sent && s->is_again && !is_excused))
        return false;
    if (s->is_sent) {
        s->is_again |= !is_excused;
        s->request->facts.retries++;
    }
    if (s->conn)
        http2_stream_detach(s);
    begin(p, s);
    return true;
}

/* The server serves others of this connection, but not this one: its GOAWAY
 * came before it, or excludes it, or its limit fell when the stream was on its
 * way. */
static bool is_excused(const struct http2_stream *s)
{
    const struct http2_conn *c = s->conn;

    return (c->last_served > 0 && (!s->is_sent || s->id > c->last_served)) ||
           c->limit < s->limit_then;
}

/* The connection is over, and its streams with it.  A reason of OUTCOME_RESET
 * with a detail of 0 is an end in good order. */
static void break_conn(struct http2_conn *c, enum outcome outcome,
                       int64_t detail, const char *why)
{
    struct http2_pool *p = c->pool;
    bool is_closed =
        outcome == OUTCOME_RESET && (detail == 0 || detail == EPIPE);
    int64_t acked = socket_acked(c->conn.wire.fd);
    int64_t rtt_ns = socket_rtt_ns(c->conn.wire.fd);

    http2_conn_close(c);
    while (c->streams.first) {
        struct http2_stream *s = stream_of(c->streams.first);
        bool is_again = outcome == OUTCOME_RESET &&
                        (!s->is_sent || is_stale(s, acked, rtt_ns, is_closed));

        if (s->is_whole && !s->error) { /* the rest of its request is lost */
            finish(s, c->read_ns);
            continue;
        }
        http2_stream_detach(s);
        if (is_again && begin_again(p, s, false))
            continue;
        if (outcome == OUTCOME_RESET && detail == 0 && s->has_begun)
            fail(p, s, OUTCOME_TRUNCATED, 0, "closed inside the response");
        else
            fail(p, s, outcome, detail, why);
    }
    conn_give_back(&c->conn);
}

/* ---- what nghttp2 reports: frames that are sent ---- */

/* A request that the server's limit held back began late: that is lag. */
static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame,
                         void *arg)
{
    struct http2_conn *c = arg;
    struct http2_stream *s;
    struct facts *f;

    (void)session;
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
        return 0;
    s = find_stream(c, frame->hd.stream_id);
    if (!s)
        return 0;
    if (frame->hd.type == NGHTTP2_DATA && frame->hd.length > 0)
        c->empty = 0; /* WINDOW_UPDATEs may answer it */
    f = &s->request->facts;
    f->bytes_out += (int64_t)frame->hd.length + FRAME_HEAD;
    if (s->is_sent)
        return 0;
    s->is_sent = true;
    s->limit_then = c->has_settings ? c->limit : 0;
    s->is_reused = c->has_settings;
    if (c->woke_ns == TIME_ABSENT)
        c->woke_ns = c->write_ns;
    s->taken_before = c->taken_before;
    if (s->ordinal <= c->held_until)
        f->issued = c->write_ns;
    if (f->sent == TIME_ABSENT)
        f->sent = c->write_ns;
    return 0;
}

/* ---- frames that are received ---- */

static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *hd,
                          void *arg)
{
    struct http2_conn *c = arg;

    (void)session;
    c->empty += hd->length + FRAME_HEAD;
    if (c->empty <= MAX_EMPTY)
        return 0;
    c->is_flooded = true;
    return NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int64_t parse_number(const uint8_t *digits, size_t len)
{
    int64_t n = 0;

    for (size_t i = 0; i < len && n < INT64_MAX / 10 - 10; i++)
        n = 10 * n + (digits[i] - '0');
    return n;
}

static void tap_field(const struct transport_env *env, const char *format,
                      const uint8_t *name, size_t name_len,
                      const uint8_t *value, size_t value_len)
{
    struct buf line;

    buf_init(&line, HTTP1_MAX_HEAD);
    buf_addf(&line, format, (int)name_len, (const char *)name, (int)value_len,
             (const char *)value);
    env->tap(env->arg, false, buf_text(&line), line.len);
    buf_fini(&line);
}

/* NOLINTNEXTLINE(readability-function-size): as nghttp2 calls it */
static int on_header(nghttp2_session *session, const nghttp2_frame *frame,
                     const uint8_t *name, size_t name_len, const uint8_t *value,
                     size_t value_len, uint8_t flags, void *arg)
{
    struct http2_conn *c = arg;
    const struct transport_env *env = env_of(c);
    struct http2_stream *s = find_stream(c, frame->hd.stream_id);
    bool is_status = name_len == 7 && memcmp(name, ":status", 7) == 0;

    (void)session;
    (void)flags;
    if (!s)
        return 0;
    s->has_begun = true;
    s->head_len += name_len + value_len + 4;
    if (s->head_len > HTTP1_MAX_HEAD) {
        refuse(s, HTTP1_LONG_HEAD);
        return 0;
    }
    if (env->tap && is_status)
        tap_field(env, "HTTP/2%.*s %.*s\r\n", name, 0, value, value_len);
    else if (env->tap)
        tap_field(env, "%.*s: %.*s\r\n", name, name_len, value, value_len);
    if (is_status)
        s->status = (int)parse_number(value, value_len);
    else if (name_len == 14 && memcmp(name, "content-length", 14) == 0)
        s->content_length = parse_number(value, value_len);
    if (s->request->class->api && !is_status && s->status >= HTTP_FINAL)
        response_header(&s->request->response, (const char *)name, name_len,
                        (const char *)value, value_len);
    return 0;
}

static void take_head(struct http2_conn *c, struct http2_stream *s)
{
    struct facts *f = &s->request->facts;

    if (env_of(c)->tap)
        env_of(c)->tap(env_of(c)->arg, false, "\r\n", 2);
    if (s->status < HTTP_FINAL || f->head != TIME_ABSENT)
        return;
    c->empty = 0;
    f->head = c->read_ns;
    f->status = s->status;
    if (s->content_length > env_of(c)->settings->max_response &&
        !s->request->class->targets->is_head)
        refuse(s, HTTP1_LONG_BODY);
}

static void take_settings(struct http2_conn *c)
{
    const struct target_settings *s = env_of(c)->settings;
    int64_t limit = nghttp2_session_get_remote_settings(
        c->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);

    c->has_settings = true;
    c->limit = s->streams > 0 && s->streams < limit ? s->streams : limit;
    http2_conn_update(c);
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame,
                         void *arg)
{
    struct http2_conn *c = arg;
    struct http2_stream *s = NULL;

    (void)session;
    if (frame->hd.type == NGHTTP2_SETTINGS &&
        !(frame->hd.flags & NGHTTP2_FLAG_ACK)) {
        take_settings(c);
    } else if (frame->hd.type == NGHTTP2_GOAWAY) {
        c->is_draining = true;
        c->has_goaway = true;
        c->last_served = frame->goaway.last_stream_id;
        http2_conn_update(c);
    } else {
        s = find_stream(c, frame->hd.stream_id);
    }
    if (s && frame->hd.type == NGHTTP2_RST_STREAM)
        s->is_reset = true;
    if (!s ||
        (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA))
        return 0;
    s->request->facts.bytes_in += (int64_t)frame->hd.length + FRAME_HEAD;
    s->is_whole = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (frame->hd.type == NGHTTP2_HEADERS)
        take_head(c, s);
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id,
                   const uint8_t *data, size_t len, void *arg)
{
    struct http2_conn *c = arg;
    const struct transport_env *env = env_of(c);
    struct http2_stream *s = find_stream(c, id);
    struct request *r;

    (void)session;
    (void)flags;
    if (len > 0)
        c->empty = 0;
    if (!s)
        return 0;
    r = s->request;
    if (env->tap)
        env->tap(env->arg, false, (const char *)data, len);
    if (r->class->api)
        response_take(&r->response, s->status, c->read_ns, (const char *)data,
                      len);
    request_keep_body(r, (const char *)data, len);
    if (r->facts.bytes_in + (int64_t)len > env->settings->max_response) {
        refuse(s, HTTP1_LONG_BODY);
    } else if (r->class->api && response_is_starved(&r->response)) {
        give_up_stream(s);
        fail(c->pool, s, OUTCOME_TRUNCATED, 0, NULL);
    }
    return 0;
}

/* nghttp2 would leave it out, or reset the stream.  Fields that HTTP/2 rules
 * out, such as a second content-length, get there without passing here. */
/* NOLINTNEXTLINE(readability-function-size): as nghttp2 calls it */
static int on_invalid_header(nghttp2_session *session,
                             const nghttp2_frame *frame, const uint8_t *name,
                             size_t name_len, const uint8_t *value,
                             size_t value_len, uint8_t flags, void *arg)
{
    struct http2_stream *s = find_stream(arg, frame->hd.stream_id);

    (void)session;
    (void)name;
    (void)name_len;
    (void)value;
    (void)value_len;
    (void)flags;
    if (s)
        s->error = HTTP1_BAD_HEADER;
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t error,
                           void *arg)
{
    struct http2_conn *c = arg;
    struct http2_pool *p = c->pool;
    struct http2_stream *s = find_stream(c, id);

    (void)session;
    if (!s)
        return 0;
    if (error != NGHTTP2_NO_ERROR && error != NGHTTP2_REFUSED_STREAM &&
        !s->is_reset && !s->error)
        s->error = HTTP1_BAD_FRAME; /* nghttp2 has reset it */
    if (s->error) {
        http2_stream_detach(s);
        fail(p, s, OUTCOME_MALFORMED, s->error, http1_error_text(s->error));
        return 0;
    }
    if (error == NGHTTP2_NO_ERROR && s->is_whole) {
        finish(s, c->read_ns);
        return 0;
    }
    if ((error == NGHTTP2_REFUSED_STREAM || !s->is_sent) && !s->has_begun &&
        begin_again(p, s, is_excused(s)))
        return 0;
    http2_stream_detach(s);
    fail(p, s, OUTCOME_RESET, 0, "the server reset the HTTP/2 stream");
    return 0;
}

static nghttp2_session_callbacks *make_callbacks(void)
{
    nghttp2_session_callbacks *k;

    if (nghttp2_session_callbacks_new(&k))
        abort(); /* out of memory */
    nghttp2_session_callbacks_set_on_frame_send_callback(k, on_frame_send);
    nghttp2_session_callbacks_set_on_begin_frame_callback(k, on_begin_frame);
    nghttp2_session_callbacks_set_on_header_callback(k, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(k, on_frame_recv);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(k, on_data);
    nghttp2_session_callbacks_set_on_invalid_header_callback(k,
                                                             on_invalid_header);
    nghttp2_session_callbacks_set_on_stream_close_callback(k, on_stream_close);
    return k;
}

/* ---- what the dialer and the socket report ---- */

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct http2_conn *c = arg;
    struct http2_transport *t = (struct http2_transport *)c->pool;
    ssize_t n = conn_read(&c->conn, t->in, READ_SIZE);
    int error = n < 0 ? errno : 0;
    char why[TLS_TEXT];

    (void)fd;
    (void)what;
    if (error == EAGAIN || error == EINTR)
        return;
    if (n <= 0) {
        if (!c->has_settings && conn_is_refused(&c->conn, error))
            break_conn(c, OUTCOME_CONNECT, CONNECT_TLS,
                       conn_why(&c->conn, error, why));
        else
            break_conn(c, OUTCOME_RESET, error,
                       n < 0           ? conn_why(&c->conn, error, why)
                       : c->has_goaway ? "the server ended the HTTP/2 "
                                         "connection"
                                       : "closed before any response");
        return;
    }
    if (conn_has_more(&c->conn))
        conn_read_again(&c->conn);
    c->read_ns = transport_now(env_of(c));
    c->is_busy = true;
    n = nghttp2_session_mem_recv(c->session, (const uint8_t *)t->in, (size_t)n);
    if (n >= 0)
        spread(c);
    c->is_busy = false;
    if (n >= 0)
        settle(c);
    else
        break_conn(
            c, OUTCOME_MALFORMED, c->is_flooded ? HTTP1_FLOOD : HTTP1_BAD_FRAME,
            http1_error_text(c->is_flooded ? HTTP1_FLOOD : HTTP1_BAD_FRAME));
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct http2_conn *c = arg;

    (void)fd;
    (void)what;
    conn_send_rest(&c->conn);
    settle(c);
}

static void note_times(const struct http2_conn *c)
{
    for (struct connlink *l = c->streams.first; l; l = l->next) {
        if (stream_of(l)->opens)
            conn_note_times(&c->conn, &stream_of(l)->request->facts);
    }
}

static void on_failed(struct conn *conn, enum connect_detail detail,
                      const char *why)
{
    struct http2_conn *c = (struct http2_conn *)conn;

    dialer_note_failure(&c->pool->dialer, why);
    note_times(c);
    break_conn(c, OUTCOME_CONNECT, (int64_t)detail, why);
}

static void on_established(struct conn *conn)
{
    struct http2_conn *c = (struct http2_conn *)conn;

    if (conn->tls.ssl && !tls_speaks(&conn->tls, "h2")) {
        on_failed(conn, CONNECT_PROTOCOL, NO_HTTP2);
        return;
    }
    note_times(c);
    http2_conn_begin(c);
    for (struct connlink *l = c->streams.first; l; l = l->next)
        submit(stream_of(l));
    settle(c);
}

static const struct dialer_hooks hooks = {
    .protocol = "h2",
    .readable = on_readable,
    .writable = on_writable,
    .established = on_established,
    .failed = on_failed,
};

/* ---- the ops ---- */

static void http2_start(void *self, struct request *r)
{
    struct http2_pool *p = &((struct http2_transport *)self)->pool;
    size_t i = workload_route(r->class, request_place(&r->facts));
    const struct api *api = r->class->api;
    struct http2_stream *s = http2_stream_new(p, &p->routes[i], r);

    r->conn = s;
    r->facts.target = (int64_t)p->routes[i].endpoint->place;
    s->body = buf_text(&r->class->targets->body);
    s->body_len = r->class->targets->body.len;
    if (api && api->makes_bodies) {
        buf_reset(&s->made);
        api_make_body(api, &r->facts, &r->row, r->session, &s->made);
        s->body = buf_text(&s->made);
        s->body_len = s->made.len;
        if (s->made.overflowed) {
            fail(p, s, OUTCOME_RESET, EMSGSIZE, TARGET_TOO_LARGE);
            return;
        }
    }
    begin(p, s);
}

static bool http2_has_room(void *self)
{
    return http2_pool_has_room(&((const struct http2_transport *)self)->pool);
}

static void http2_cancel(void *self, struct request *r)
{
    struct http2_pool *p = &((struct http2_transport *)self)->pool;
    struct http2_stream *s = r->conn;
    struct http2_conn *c = s->conn;

    give_up_stream(s);
    http2_stream_give_back(p, s);
    r->conn = NULL;
    if (c->session) { /* on_writable() settles it: that may end others */
        event_active(&c->conn.writable, EV_WRITE, 0);
    } else if (c->is_draining && c->n_used == 0) {
        http2_conn_close(c);
        conn_give_back(&c->conn);
    }
}

static int64_t http2_connections(void *self)
{
    const struct http2_transport *t = self;

    return t->pool.n_open;
}

static bool open_one(void *arg, size_t route)
{
    struct http2_pool *p = arg;

    return http2_conn_open(p, &p->routes[route]) != NULL;
}

static int http2_preconnect(void *self, int64_t n, struct err *err)
{
    struct http2_pool *p = &((struct http2_transport *)self)->pool;

    return dialer_preconnect(&p->dialer, n, open_one, p, &p->n_open, err);
}

static struct socket_path http2_path(void *self)
{
    const struct http2_transport *t = self;

    return dialer_path(&t->pool.dialer);
}

static int http2_init(void *self, const struct transport_env *env,
                      struct err *err)
{
    struct http2_transport *t = self;

    t->in = xcalloc(1, READ_SIZE);
    return http2_pool_init(&t->pool, env, &hooks, make_callbacks(), err);
}

static void http2_fini(void *self)
{
    struct http2_transport *t = self;

    http2_pool_fini(&t->pool);
    free(t->in);
}

const struct transport_ops transport_http2 = {
    .name = "http2",
    .state_size = sizeof(struct http2_transport),
    .init = http2_init,
    .preconnect = http2_preconnect,
    .has_room = http2_has_room,
    .start = http2_start,
    .cancel = http2_cancel,
    .connections = http2_connections,
    .path = http2_path,
    .fini = http2_fini,
};
