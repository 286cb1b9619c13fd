/* The functions that read and write change the state of a connection.  Only
 * go_on(), which ends every call from outside, closes and frees it. */
#include "server-stub/front/front.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/event_struct.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "common/wire/http_message.h"
#include "common/wire/tls.h"
#include "server-stub/front/front_http2.h"
#include "server-stub/front/front_tls.h"
#include "server-stub/front/stub_loop.h"

#define READ_SIZE ((size_t)64 << 10)

/* Stop reading when the client has sent this much ahead. */
#define AHEAD_ENOUGH ((size_t)64 << 10)

/* Unsent bytes that are kept for a client that does not read. */
#define MAX_UNSENT ((size_t)256 << 20)

/* How an HTTP/2 connection begins. */
#define PREFACE "PRI * HTTP/2.0\r\n"

enum conn_state {
    CONN_SHAKING, /* in the handshake of TLS */
    CONN_HTTP2,
    CONN_READING,  /* a request, or waiting for one */
    CONN_BUSY,     /* a request is being answered */
    CONN_DRAINING, /* refused; input is dropped, since closing with unread bytes
                      would discard the 400 */
    CONN_CLOSED,   /* to be freed once its request is released */
};

struct conn {
    struct front *front;
    struct conn *prev;
    struct conn *next;
    int fd; /* -1: closed */
    enum conn_state state;
    struct tls tls;         /* its ssl is NULL: no TLS */
    struct front_http2 *h2; /* NULL: HTTP/1 */
    struct event read_event;
    struct event write_event;
    bool is_reading;     /* read_event is added */
    bool is_begun;       /* the first bytes were read */
    bool is_at_eof;      /* the client sends no more, but may still read */
    bool wants_continue; /* Expect: 100-continue, not yet replied to */
    bool has_request;    /* handed to `request`, not yet to `ended` */
    bool is_held;        /* front_end() or front_break() will be called */
    bool is_nested;      /* inside `request`: go_on() is called later */
    bool breaks;         /* close once everything is sent */
    struct http1 parser;
    struct buf ahead;  /* bytes after the current request */
    struct buf body;   /* of the request */
    struct buf unsent; /* of the answer */
    struct exchange x;
};

static struct exchange no_request(struct conn *conn);

struct front {
    struct loop *loop;
    const struct clk *clk;
    const struct front_hooks *hooks;
    void *arg;
    struct conn *first;
    struct front_tls *tls; /* NULL: none */
    char input[READ_SIZE]; /* of whichever connection is being read */
};

/* ---- bytes, with TLS or without ---- */

static ssize_t read_socket(void *arg, void *data, size_t size)
{
    const struct conn *conn = arg;

    return recv(conn->fd, data, size, 0);
}

static ssize_t write_socket(void *arg, const void *data, size_t len)
{
    const struct conn *conn = arg;

    return send(conn->fd, data, len, MSG_NOSIGNAL);
}

static const struct tls_io io = {.read = read_socket, .write = write_socket};

static ssize_t receive(struct conn *conn, void *data, size_t size)
{
    return conn->tls.ssl ? tls_read(&conn->tls, data, size)
                         : read_socket(conn, data, size);
}

static ssize_t transmit(struct conn *conn, const void *data, size_t len)
{
    return conn->tls.ssl ? tls_write(&conn->tls, data, len)
                         : write_socket(conn, data, len);
}

/* ---- writing ---- */

static void report(struct conn *conn, int64_t sent_ns)
{
    const struct front *front = conn->front;

    conn->has_request = false;
    front->hooks->ended(front->arg, &conn->x, sent_ns);
}

static void write_bytes(struct conn *conn, const char *data, size_t len)
{
    ssize_t n = 0;

    if (conn->fd < 0 || conn->state == CONN_CLOSED)
        return;
    if (conn->unsent.len == 0)
        n = transmit(conn, data, len);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        conn->state = CONN_CLOSED;
        return;
    }
    if (n < 0)
        n = 0;
    if ((size_t)n == len)
        return;
    if (conn->unsent.len == 0)
        event_add(&conn->write_event, NULL);
    if (buf_add(&conn->unsent, data + n, len - (size_t)n))
        conn->state = CONN_CLOSED;
}

/* Was the answer ended, and all of it sent? */
static bool is_answered(const struct conn *conn)
{
    return conn->state == CONN_BUSY && !conn->is_held && conn->unsent.len == 0;
}

/* The answer was sent: prepare for the next request. */
static void end_answer(struct conn *conn)
{
    report(conn, conn->breaks ? TIME_ABSENT : clk_now(conn->front->clk));
    if (!conn->x.keeps_alive || conn->breaks) {
        conn->state = CONN_CLOSED;
        return;
    }
    http1_begin(&conn->parser);
    buf_reset(&conn->body);
    conn->x = no_request(conn);
    conn->state = CONN_READING;
}

static void refuse(struct conn *conn)
{
    const char *why = http1_error_text(conn->parser.error);
    struct buf text;

    buf_init(&text, 1024);
    buf_addf(&text,
             "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n"
             "Content-Length: %zu\r\nConnection: close\r\n\r\n"
             "{\"error\":\"%s\"}",
             strlen(why) + strlen("{\"error\":\"\"}"), why);
    write_bytes(conn, text.data, text.len);
    buf_fini(&text);
    if (conn->state == CONN_CLOSED)
        return;
    shutdown(conn->fd, SHUT_WR);
    conn->state = CONN_DRAINING;
}

/* ---- reading ---- */

static bool is_text(const char *s, size_t len, const char *text)
{
    return len == strlen(text) && strncasecmp(s, text, len) == 0;
}

/* `absent` for anything but decimal digits. */
static int64_t digits(const char *s, size_t len, int64_t absent)
{
    int64_t value = 0;

    if (len == 0 || len > 18)
        return absent;
    for (size_t i = 0; i < len; i++) {
        if (s[i] < '0' || s[i] > '9')
            return absent;
        value = value * 10 + (s[i] - '0');
    }
    return value;
}

void front_take_header(struct exchange *x, const char *name, size_t name_len,
                       const char *value, size_t value_len)
{
    if (is_text(name, name_len, "x-tailgate-id"))
        x->id = digits(value, value_len, TIME_ABSENT);
    else if (is_text(name, name_len, "x-priority"))
        x->priority = digits(value, value_len, 0);
    else if (is_text(name, name_len, "inference-header-content-length"))
        x->json_len = digits(value, value_len, TIME_ABSENT);
}

void front_copy(char *out, size_t size, const char *s, size_t len)
{
    if (len >= size)
        len = size - 1;
    memcpy(out, s, len);
    out[len] = '\0';
}

/* POST /path?query HTTP/1.1 */
static void on_start(void *arg, const char *line, size_t len)
{
    struct conn *conn = arg;
    const char *space = memchr(line, ' ', len);
    size_t method_len = space ? (size_t)(space - line) : len;
    const char *path = line + method_len + (space != NULL);
    size_t left = len - (size_t)(path - line);
    size_t path_len = 0;

    while (path_len < left && path[path_len] != ' ' && path[path_len] != '?')
        path_len++;
    front_copy(conn->x.method, sizeof(conn->x.method), line, method_len);
    front_copy(conn->x.path, sizeof(conn->x.path), path, path_len);
}

static void on_header(void *arg, const char *name, size_t name_len,
                      const char *value, size_t value_len)
{
    struct conn *conn = arg;

    if (is_text(name, name_len, "expect"))
        conn->wants_continue = is_text(value, value_len, "100-continue");
    else
        front_take_header(&conn->x, name, name_len, value, value_len);
}

static void on_body(void *arg, const char *data, size_t len)
{
    struct conn *conn = arg;
    size_t room = FRONT_MAX_BODY - conn->body.len;

    buf_add(&conn->body, data, len < room ? len : room);
}

static const struct http1_hooks parser_hooks = {
    .start = on_start, .header = on_header, .body = on_body};

static void serve(struct conn *conn, int64_t arrival_ns)
{
    const struct front *front = conn->front;
    struct exchange *x = &conn->x;

    x->body = buf_text(&conn->body);
    x->body_len = conn->body.len;
    x->arrival_ns = arrival_ns;
    x->keeps_alive = conn->parser.keeps_alive;
    x->takes_chunks = conn->parser.minor_version == 1;
    x->is_head = conn->parser.is_head_request;
    conn->wants_continue = false;
    conn->state = CONN_BUSY;
    conn->has_request = true;
    conn->is_held = true;
    conn->is_nested = true;
    front->hooks->request(front->arg, x);
    conn->is_nested = false;
    if (is_answered(conn))
        end_answer(conn);
}

/* Take requests from these bytes until one has to wait.  Returns how many bytes
 * were taken: all of them if the state is still CONN_READING. */
static size_t take(struct conn *conn, const char *data, size_t len,
                   int64_t arrival_ns)
{
    size_t used = 0;

    while (used < len && conn->state == CONN_READING) {
        ssize_t n = http1_feed(&conn->parser, data + used, len - used);

        if (n < 0) {
            refuse(conn);
            return len;
        }
        used += (size_t)n;
        if (http1_is_done(&conn->parser)) {
            serve(conn, arrival_ns);
            if (used < len)
                arrival_ns = clk_now(conn->front->clk); /* of the next one */
        } else if (conn->wants_continue && http1_has_head(&conn->parser)) {
            static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";

            conn->wants_continue = false;
            write_bytes(conn, text, strlen(text));
        }
    }
    return used;
}

/* ---- the life of a connection ---- */

/* Close the socket at once; free the memory once the request is released. */
static void drop(struct conn *conn)
{
    if (conn->fd >= 0) {
        event_del(&conn->read_event);
        event_del(&conn->write_event);
        tls_fini(&conn->tls);
        close(conn->fd);
        conn->fd = -1;
    }
    if (conn->is_held)
        return;
    if (conn->h2 && !front_http2_close(conn->h2, conn->breaks))
        return;
    if (conn->has_request)
        report(conn, TIME_ABSENT);
    if (conn->prev)
        conn->prev->next = conn->next;
    else
        conn->front->first = conn->next;
    if (conn->next)
        conn->next->prev = conn->prev;
    http1_fini(&conn->parser);
    buf_fini(&conn->ahead);
    buf_fini(&conn->body);
    buf_fini(&conn->unsent);
    free(conn);
}

/* Bytes that TLS has read already do not make the socket readable. */
static void set_reading(struct conn *conn, bool is_reading)
{
    if (is_reading == conn->is_reading)
        return;
    conn->is_reading = is_reading;
    if (is_reading)
        event_add(&conn->read_event, NULL);
    else
        event_del(&conn->read_event);
    if (is_reading && conn->tls.ssl && conn->tls.has_more)
        event_active(&conn->read_event, EV_READ, 0);
}

/* Do what follows from the current state. */
static void go_on(struct conn *conn)
{
    if (conn->is_nested)
        return;
    if (conn->state == CONN_READING && conn->ahead.len > 0)
        buf_consume(&conn->ahead, take(conn, conn->ahead.data, conn->ahead.len,
                                       clk_now(conn->front->clk)));
    if (conn->is_at_eof && conn->state != CONN_BUSY)
        conn->state = CONN_CLOSED;
    if (conn->state == CONN_CLOSED)
        drop(conn);
    else
        set_reading(conn, !conn->is_at_eof && conn->ahead.len < AHEAD_ENOUGH);
}

static void settled(void *arg)
{
    go_on(arg);
}

static void write_frames(void *arg, const char *data, size_t len)
{
    write_bytes(arg, data, len);
}

static void begin_http2(struct conn *conn)
{
    const struct front *front = conn->front;

    conn->state = CONN_HTTP2;
    conn->h2 = front_http2_new(&(struct front_http2_env){
        .clk = front->clk,
        .hooks = front->hooks,
        .arg = front->arg,
        .write = write_frames,
        .settled = settled,
        .conn = conn,
    });
}

static void shake(struct conn *conn)
{
    switch (tls_handshake(&conn->tls)) {
    case TLS_DONE:
        conn->state = CONN_READING;
        if (tls_speaks(&conn->tls, "h2"))
            begin_http2(conn);
        if (conn->tls.has_more)
            event_active(&conn->read_event, EV_READ, 0);
        break;
    case TLS_WANTS_WRITE:
        event_add(&conn->write_event, NULL);
        break;
    case TLS_FAILED:
        conn->state = CONN_CLOSED;
        break;
    default:
        break;
    }
    go_on(conn);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct conn *conn = arg;
    struct front *front = conn->front;
    size_t used = 0;
    ssize_t n;

    (void)fd;
    (void)what;
    if (conn->state == CONN_SHAKING) {
        shake(conn);
        return;
    }
    n = receive(conn, front->input, READ_SIZE);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0)
        conn->state = CONN_CLOSED;
    conn->is_at_eof = n == 0;
    if (conn->tls.ssl && conn->tls.has_more)
        event_active(&conn->read_event, EV_READ, 0);
    if (n >= (ssize_t)strlen(PREFACE) && !conn->is_begun &&
        conn->state == CONN_READING &&
        memcmp(front->input, PREFACE, strlen(PREFACE)) == 0)
        begin_http2(conn);
    conn->is_begun = true;
    if (n > 0 && conn->state == CONN_HTTP2 &&
        front_http2_feed(conn->h2, front->input, (size_t)n,
                         clk_now(front->clk)))
        conn->state = CONN_CLOSED;
    if (n > 0 && conn->state == CONN_READING)
        used = take(conn, front->input, (size_t)n, clk_now(front->clk));
    if (n > 0 && conn->state == CONN_BUSY)
        buf_add(&conn->ahead, front->input + used, (size_t)n - used);
    go_on(conn);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct conn *conn = arg;
    ssize_t n;

    (void)fd;
    (void)what;
    if (conn->state == CONN_SHAKING) {
        shake(conn);
        return;
    }
    n = transmit(conn, conn->unsent.data, conn->unsent.len);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        conn->state = CONN_CLOSED;
    if (n > 0)
        buf_consume(&conn->unsent, (size_t)n);
    if (conn->state != CONN_CLOSED && conn->unsent.len > 0)
        event_add(&conn->write_event, NULL);
    if (is_answered(conn))
        end_answer(conn);
    go_on(conn);
}

static void send_bytes(struct exchange *x, const char *data, size_t len)
{
    write_bytes(x->conn, data, len);
}

static void end(struct exchange *x)
{
    struct conn *conn = x->conn;

    conn->is_held = false;
    if (!conn->is_nested && is_answered(conn))
        end_answer(conn);
    go_on(conn);
}

static void break_off(struct exchange *x, bool with_reset)
{
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    struct conn *conn = x->conn;

    if (with_reset && conn->fd >= 0) {
        setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        conn->tls.is_unsound = true; /* no goodbye */
        conn->state = CONN_CLOSED;
    }
    conn->breaks = true;
    end(x);
}

static const struct front_ops ops = {
    .send = send_bytes, .end = end, .break_off = break_off};

static struct exchange no_request(struct conn *conn)
{
    return (struct exchange){
        .ops = &ops, .conn = conn, .id = TIME_ABSENT, .json_len = TIME_ABSENT};
}

void front_take(struct front *front, int fd)
{
    struct conn *conn = xcalloc(1, sizeof(*conn));

    conn->front = front;
    conn->fd = fd;
    conn->state = front->tls ? CONN_SHAKING : CONN_READING;
    if (front->tls)
        front_tls_start(front->tls, &conn->tls, &io, conn);
    conn->x = no_request(conn);
    http1_init(&conn->parser, HTTP1_REQUEST, &parser_hooks, conn);
    buf_init(&conn->ahead, AHEAD_ENOUGH + READ_SIZE);
    buf_init(&conn->body, FRONT_MAX_BODY);
    buf_init(&conn->unsent, MAX_UNSENT);
    event_assign(&conn->read_event, loop_base(front->loop), fd,
                 EV_READ | EV_PERSIST, on_readable, conn);
    event_assign(&conn->write_event, loop_base(front->loop), fd, EV_WRITE,
                 on_writable, conn);
    conn->next = front->first;
    if (conn->next)
        conn->next->prev = conn;
    front->first = conn;
    set_reading(conn, true);
}

struct front *front_new(struct loop *loop, const struct clk *clk,
                        const struct front_hooks *hooks, void *arg)
{
    struct front *front = xcalloc(1, sizeof(*front));

    front->loop = loop;
    front->clk = clk;
    front->hooks = hooks;
    front->arg = arg;
    return front;
}

void front_use_tls(struct front *front, struct front_tls *tls)
{
    front->tls = tls;
}

void front_free(struct front *front)
{
    struct conn *next;

    if (!front)
        return;
    for (struct conn *conn = front->first; conn; conn = next) {
        next = conn->next;
        conn->is_held = false;
        conn->breaks = true;
        drop(conn);
    }
    free(front);
}
