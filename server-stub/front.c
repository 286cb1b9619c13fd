/* A connection changes its state in the functions that read and write; only
 * go_on(), with which every call from outside ends, closes and frees it. */
#include "server-stub/front.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/event_struct.h>

#include "common/buf.h"
#include "common/clk.h"
#include "common/http1.h"
#include "common/recording/schema.h"
#include "common/xalloc.h"
#include "server-stub/answer.h"
#include "server-stub/loop.h"

#define READ_SIZE ((size_t)64 << 10)

/* Stop reading when this much was sent ahead. */
#define AHEAD_ENOUGH ((size_t)64 << 10)

enum conn_state {
    CONN_READING,  /* a request, or waiting for one */
    CONN_WAITING,  /* has a request; its answer is not due yet */
    CONN_WRITING,  /* the socket did not take the whole answer at once */
    CONN_DRAINING, /* refused; what still comes is dropped, since closing on
                      unread bytes would take the 400 back */
    CONN_CLOSED,   /* to be freed as soon as nobody waits for it */
};

struct conn {
    struct front *front;
    struct conn *prev;
    struct conn *next;
    int fd; /* -1: closed */
    enum conn_state state;
    struct event read_event;
    struct event write_event;
    bool is_reading;     /* read_event is added */
    bool is_at_eof;      /* the client sends no more, but may still listen */
    bool wants_continue; /* Expect: 100-continue, not yet replied to */
    bool has_request;    /* handed to `request`, not yet to `answered` */
    bool is_put_off;     /* front_answer() will come */
    struct http1 parser;
    struct buf ahead; /* bytes after the request at hand */
    const char *out;  /* borrowed from answers */
    size_t out_len;
    struct truth truth; /* of the request at hand */
};

struct front {
    struct loop *loop;
    const struct clk *clk;
    const struct answers *answers;
    const struct front_hooks *hooks;
    void *arg;
    struct conn *first;
    char input[READ_SIZE]; /* of whichever connection is being read */
};

/* ---- writing ---- */

static void report(struct conn *conn, int64_t sent_ns)
{
    const struct front *front = conn->front;

    conn->has_request = false;
    conn->truth.sent = sent_ns;
    if (front->hooks->answered)
        front->hooks->answered(front->arg, &conn->truth);
}

static void end_answer(struct conn *conn)
{
    if (conn->parser.error != HTTP1_FINE) {
        shutdown(conn->fd, SHUT_WR);
        conn->state = CONN_DRAINING;
        return;
    }
    report(conn, clk_now(conn->front->clk));
    if (conn->parser.keeps_alive) {
        http1_begin(&conn->parser);
        conn->truth.id = TIME_ABSENT;
        conn->state = CONN_READING;
    } else {
        conn->state = CONN_CLOSED;
    }
}

static void write_out(struct conn *conn)
{
    ssize_t n = send(conn->fd, conn->out, conn->out_len, MSG_NOSIGNAL);

    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        conn->state = CONN_CLOSED;
        return;
    }
    if (n > 0) {
        conn->out += n;
        conn->out_len -= (size_t)n;
    }
    if (conn->out_len == 0) {
        end_answer(conn);
        return;
    }
    conn->state = CONN_WRITING;
    event_add(&conn->write_event, NULL);
}

static void write_answer(struct conn *conn)
{
    const struct answers *answers = conn->front->answers;
    const struct answer *answer = conn->parser.error != HTTP1_FINE
                                      ? &answers->refusal[conn->parser.error]
                                      : &answers->ok[conn->parser.keeps_alive];

    conn->out = answer->text.data;
    conn->out_len =
        conn->parser.is_head_request ? answer->head_len : answer->text.len;
    write_out(conn);
}

/* A client that asked may send its body now.  If this little does not fit,
 * the client has stopped reading long ago. */
static void write_continue(struct conn *conn)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    ssize_t len = (ssize_t)strlen(text);

    conn->wants_continue = false;
    if (send(conn->fd, text, (size_t)len, MSG_NOSIGNAL) != len)
        conn->state = CONN_CLOSED;
}

/* ---- reading ---- */

static bool is_text(const char *s, size_t len, const char *text)
{
    return len == strlen(text) && strncasecmp(s, text, len) == 0;
}

/* Decimal digits; TIME_ABSENT for anything else. */
static int64_t parse_id(const char *s, size_t len)
{
    int64_t id = 0;

    if (len == 0 || len > 18)
        return TIME_ABSENT;
    for (size_t i = 0; i < len; i++) {
        if (s[i] < '0' || s[i] > '9')
            return TIME_ABSENT;
        id = id * 10 + (s[i] - '0');
    }
    return id;
}

static void on_header(void *arg, const char *name, size_t name_len,
                      const char *value, size_t value_len)
{
    struct conn *conn = arg;

    if (is_text(name, name_len, "x-tailgate-id"))
        conn->truth.id = parse_id(value, value_len);
    else if (is_text(name, name_len, "expect"))
        conn->wants_continue = is_text(value, value_len, "100-continue");
}

static const struct http1_hooks parser_hooks = {.header = on_header};

static void serve(struct conn *conn, int64_t arrival_ns)
{
    const struct front *front = conn->front;

    conn->truth.arrival = arrival_ns;
    conn->has_request = true;
    conn->wants_continue = false;
    conn->state = CONN_WAITING;
    conn->is_put_off = !front->hooks->request(front->arg, conn, &conn->truth);
    if (!conn->is_put_off)
        write_answer(conn);
}

/* Take requests from these bytes until one has to wait.  Returns how many
 * bytes were taken; all of them while the state is CONN_READING. */
static size_t take(struct conn *conn, const char *data, size_t len,
                   int64_t arrival_ns)
{
    size_t used = 0;

    while (used < len && conn->state == CONN_READING) {
        ssize_t n = http1_feed(&conn->parser, data + used, len - used);

        if (n < 0) {
            write_answer(conn);
            return len;
        }
        used += (size_t)n;
        if (http1_is_done(&conn->parser))
            serve(conn, arrival_ns);
        else if (conn->wants_continue && http1_has_head(&conn->parser))
            write_continue(conn);
    }
    return used;
}

/* ---- the life of a connection ---- */

/* Give the socket back at once, the memory when nobody needs it any more. */
static void drop(struct conn *conn)
{
    if (conn->fd >= 0) {
        event_del(&conn->read_event);
        event_del(&conn->write_event);
        close(conn->fd);
        conn->fd = -1;
    }
    if (conn->is_put_off)
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
    free(conn);
}

static void set_reading(struct conn *conn, bool is_reading)
{
    if (is_reading == conn->is_reading)
        return;
    conn->is_reading = is_reading;
    if (is_reading)
        event_add(&conn->read_event, NULL);
    else
        event_del(&conn->read_event);
}

/* What follows from the state that we are in now. */
static void go_on(struct conn *conn)
{
    if (conn->state == CONN_READING && conn->ahead.len > 0)
        buf_consume(&conn->ahead, take(conn, conn->ahead.data, conn->ahead.len,
                                       clk_now(conn->front->clk)));
    if (conn->is_at_eof &&
        (conn->state == CONN_READING || conn->state == CONN_DRAINING))
        conn->state = CONN_CLOSED;
    if (conn->state == CONN_CLOSED)
        drop(conn);
    else
        set_reading(conn, !conn->is_at_eof && conn->ahead.len < AHEAD_ENOUGH);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct conn *conn = arg;
    struct front *front = conn->front;
    ssize_t n = recv((int)fd, front->input, READ_SIZE, 0);
    size_t used = 0;

    (void)what;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0)
        conn->state = CONN_CLOSED;
    conn->is_at_eof = n == 0;
    if (n > 0 && conn->state == CONN_READING)
        used = take(conn, front->input, (size_t)n, clk_now(front->clk));
    if (n > 0 && (conn->state == CONN_WAITING || conn->state == CONN_WRITING))
        buf_add(&conn->ahead, front->input + used, (size_t)n - used);
    go_on(conn);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct conn *conn = arg;

    (void)fd;
    (void)what;
    write_out(conn);
    go_on(conn);
}

void front_answer(struct conn *conn)
{
    conn->is_put_off = false;
    if (conn->state == CONN_WAITING)
        write_answer(conn);
    go_on(conn);
}

void front_abandon(struct conn *conn)
{
    conn->is_put_off = false;
    conn->state = CONN_CLOSED;
    go_on(conn);
}

void front_take(struct front *front, int fd)
{
    struct conn *conn = xcalloc(1, sizeof(*conn));

    conn->front = front;
    conn->fd = fd;
    conn->truth.id = TIME_ABSENT;
    http1_init(&conn->parser, HTTP1_REQUEST, &parser_hooks, conn);
    buf_init(&conn->ahead, AHEAD_ENOUGH + READ_SIZE);
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
                        const struct answers *answers,
                        const struct front_hooks *hooks, void *arg)
{
    struct front *front = xcalloc(1, sizeof(*front));

    front->loop = loop;
    front->clk = clk;
    front->answers = answers;
    front->hooks = hooks;
    front->arg = arg;
    return front;
}

void front_free(struct front *front)
{
    struct conn *next;

    if (!front)
        return;
    for (struct conn *conn = front->first; conn; conn = next) {
        next = conn->next;
        conn->is_put_off = false;
        drop(conn);
    }
    free(front);
}
