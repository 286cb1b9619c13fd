#include "loadgen/transport/conn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/text/url.h"
#include "loadgen/payload/workload.h"
#include "loadgen/prepare/target.h"
#include "loadgen/transport/tls_context.h"
#include "loadgen/transport/transport.h"

/* One call of conn_send() sends little more than this, so that a large upload
 * over TLS does not delay others: about 0.3 ms. */
#define SEND_TURN ((size_t)256 << 10)

static struct conn *conn_of(struct connlink *link)
{
    return (struct conn *)link;
}

static int64_t now_ns(const struct conn *c)
{
    return clk_now(c->dialer->env->clk);
}

/* ---- establishing: TCP, then TLS ---- */

/* From here on the pool's callbacks handle the socket's events. */
static void establish(struct conn *c)
{
    const struct dialer *d = c->dialer;

    connlist_remove(&c->link);
    event_del(&c->readable);
    event_del(&c->writable);
    event_assign(&c->readable, d->env->base, c->wire.fd, EV_READ | EV_PERSIST,
                 d->hooks->readable, c);
    event_assign(&c->writable, d->env->base, c->wire.fd, EV_WRITE,
                 d->hooks->writable, c);
    event_add(&c->readable, NULL);
    if (conn_has_more(c))
        conn_read_again(c);
    d->hooks->established(c);
}

static void on_handshake(evutil_socket_t fd, short what, void *arg)
{
    struct conn *c = arg;
    const struct dialer *d = c->dialer;
    char why[TLS_TEXT];

    (void)fd;
    (void)what;
    switch (tls_handshake(&c->tls)) {
    case TLS_WANTS_READ:
        return;
    case TLS_WANTS_WRITE:
        event_add(&c->writable, NULL);
        return;
    case TLS_DONE:
        c->secured_ns = now_ns(c);
        tls_context_count(d->tls, &c->tls);
        establish(c);
        return;
    default:
        d->hooks->failed(c, CONNECT_TLS, tls_why(&c->tls, why));
        return;
    }
}

static ssize_t read_wire(void *arg, void *data, size_t size)
{
    return wire_read(arg, data, size);
}

static ssize_t write_wire(void *arg, const void *data, size_t len)
{
    return wire_write(arg, data, len);
}

static void on_connected(evutil_socket_t fd, short what, void *arg)
{
    static const struct tls_io io = {.read = read_wire, .write = write_wire};
    struct conn *c = arg;
    const struct dialer *d = c->dialer;
    int error = socket_error(fd);

    (void)what;
    if (error) {
        d->hooks->failed(c, socket_connect_detail(error),
                         socket_error_text(error));
        return;
    }
    c->connected_ns = now_ns(c);
    if (!url_is_tls(c->endpoint->target->url.scheme)) {
        establish(c);
        return;
    }
    tls_context_start(d->tls, &c->tls, c->endpoint, &io, &c->wire);
    event_assign(&c->readable, d->env->base, fd, EV_READ | EV_PERSIST,
                 on_handshake, c);
    event_assign(&c->writable, d->env->base, fd, EV_WRITE, on_handshake, c);
    event_add(&c->readable, NULL);
    on_handshake(fd, EV_WRITE, c);
}

/* All have the same timeout, so that the oldest is the first to be late.  The
 * timer's resolution is milliseconds: if it fires early, it is set again.  It
 * is rounded up, so that it does not fire repeatedly at the very end. */
static void arm_timer(struct dialer *d)
{
    int64_t late_ns;
    struct timeval tv;

    if (!d->connecting.first)
        return;
    late_ns = conn_of(d->connecting.first)->opened_ns +
              d->env->settings->connect_timeout_ns;
    tv = clk_timeval(late_ns - clk_now(d->env->clk) + NS_PER_US);
    event_add(&d->timer, &tv);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct dialer *d = arg;
    int64_t late_ns =
        clk_now(d->env->clk) - d->env->settings->connect_timeout_ns;

    (void)fd;
    (void)what;
    while (d->connecting.first &&
           conn_of(d->connecting.first)->opened_ns <= late_ns)
        d->hooks->failed(conn_of(d->connecting.first), CONNECT_TIMED_OUT,
                         "not connected within the connect timeout");
    arm_timer(d);
}

struct conn *conn_take(struct dialer *d, size_t size)
{
    struct conn *c = d->unused;

    if (c) {
        d->unused = c->next_unused;
        return c;
    }
    c = xcalloc(1, size);
    c->dialer = d;
    c->wire.fd = -1;
    buf_init(&c->unsent, TARGET_MAX_REQUEST);
    c->next_made = d->made;
    d->made = c;
    return c;
}

void conn_give_back(struct conn *c)
{
    c->next_unused = c->dialer->unused;
    c->dialer->unused = c;
}

int conn_open(struct conn *c, const struct endpoint *e)
{
    struct dialer *d = c->dialer;
    int fd = socket_connect(e->address);

    if (fd < 0)
        return -1;
    c->endpoint = e;
    c->wire = (struct wire){.fd = fd};
    c->tls.ssl = NULL;
    c->opened_ns = clk_now(d->env->clk);
    c->connected_ns = TIME_ABSENT;
    c->secured_ns = TIME_ABSENT;
    buf_reset(&c->unsent);
    c->unsent_at = 0;
    c->write_error = 0;
    event_assign(&c->readable, d->env->base, fd, EV_READ, on_connected, c);
    event_assign(&c->writable, d->env->base, fd, EV_WRITE, on_connected, c);
    event_assign(&c->again, d->env->base, -1, 0, d->hooks->readable, c);
    event_add(&c->writable, NULL);
    connlist_add_last(&d->connecting, &c->link);
    if (d->connecting.len == 1)
        arm_timer(d);
    return 0;
}

void conn_close(struct conn *c)
{
    connlist_remove(&c->link);
    event_del(&c->readable);
    event_del(&c->writable);
    event_del(&c->again);
    if (c->connected_ns != TIME_ABSENT)
        socket_add_path(c->wire.fd, &c->dialer->path);
    tls_fini(&c->tls);
    close(c->wire.fd);
    c->wire.fd = -1;
}

void conn_note_times(const struct conn *c, struct facts *f)
{
    int64_t start_ns = c->dialer->env->start_ns;

    if (c->connected_ns == TIME_ABSENT)
        return;
    f->is_fresh = 1;
    f->connected = c->connected_ns - start_ns;
    if (c->secured_ns != TIME_ABSENT)
        f->secured = c->secured_ns - start_ns;
}

void conn_read_again(struct conn *c)
{
    static const struct timeval at_once;

    event_add(&c->again, &at_once);
}

/* ---- sending ---- */

static size_t send_some(struct conn *c, const char *data, size_t len, ssize_t n)
{
    size_t sent = 0;

    while (n >= 0) {
        sent += (size_t)n;
        if (sent == len || sent >= SEND_TURN)
            return sent;
        n = conn_write(c, data + sent, len - sent);
    }
    if (errno != EAGAIN && errno != EINTR) {
        c->write_error = errno;
        conn_read_again(c);
    }
    return sent;
}

size_t conn_send_more(struct conn *c, const char *data, size_t len, ssize_t n)
{
    size_t sent = send_some(c, data, len, n);

    if (sent == len)
        return sent;
    buf_add(&c->unsent, data + sent, len - sent);
    if (!c->write_error)
        event_add(&c->writable, NULL);
    return sent;
}

size_t conn_send_rest(struct conn *c)
{
    const char *data = buf_text(&c->unsent) + c->unsent_at;
    size_t left = c->unsent.len - c->unsent_at;
    size_t sent;

    if (left == 0 || c->write_error)
        return 0;
    sent = send_some(c, data, left, conn_write(c, data, left));
    c->unsent_at += sent;
    if (sent == left) {
        buf_reset(&c->unsent);
        c->unsent_at = 0;
    } else if (!c->write_error) {
        event_add(&c->writable, NULL);
    }
    return sent;
}

/* The write has taken the error from the socket, which therefore reads as an
 * end.  With EPIPE the server had closed it before. */
ssize_t conn_read_last(struct conn *c, ssize_t n)
{
    bool is_end = n == 0 && c->write_error == EPIPE;

    if (n > 0)
        conn_read_again(c);
    if (n > 0 || is_end || (n < 0 && errno != EAGAIN && errno != EINTR))
        return n;
    errno = c->write_error;
    return -1;
}

/* ---- errors ---- */

const char *conn_why(const struct conn *c, int error, char out[static TLS_TEXT])
{
    return error == EPROTO && c->tls.ssl ? tls_why(&c->tls, out)
                                         : strerror(error);
}

bool conn_is_refused(const struct conn *c, int error)
{
    return error == EPROTO && c->tls.ssl && tls_is_alert(&c->tls);
}

/* ---- the dialer ---- */

int dialer_init(struct dialer *d, const struct transport_env *env,
                const struct dialer_hooks *hooks, struct err *err)
{
    const struct workload *workload = env->workload;
    bool has_tls = false;

    for (size_t i = 0; i < workload->len; i++)
        has_tls |=
            url_is_tls(workload->classes[i].targets->items[0].url.scheme);
    if (has_tls && tls_context_new(&d->tls, env->settings, hooks->protocol,
                                   workload->n_places, err))
        return -1;
    d->env = env;
    d->hooks = hooks;
    event_assign(&d->timer, env->base, -1, 0, on_timer, d);
    return 0;
}

void dialer_fini(struct dialer *d)
{
    if (!d->env)
        return;
    while (d->made) {
        struct conn *c = d->made;

        d->made = c->next_made;
        buf_fini(&c->unsent);
        free(c);
    }
    event_del(&d->timer);
    tls_context_free(d->tls);
}

struct socket_path dialer_path(const struct dialer *d)
{
    struct socket_path path = d->path;

    for (const struct conn *c = d->made; c; c = c->next_made) {
        if (c->wire.fd >= 0 && c->connected_ns != TIME_ABSENT)
            socket_add_path(c->wire.fd, &path);
    }
    path.tls = tls_context_counts(d->tls);
    return path;
}

/* ---- ahead of the requests ---- */

void dialer_note_failure(struct dialer *d, const char *why)
{
    d->has_failed = true;
    snprintf(d->why_failed, sizeof(d->why_failed), "%s", why);
}

int dialer_preconnect(struct dialer *d, int64_t n,
                      bool (*open_one)(void *arg, size_t route), void *arg,
                      const int64_t *n_ready, struct err *err)
{
    const struct workload *workload = d->env->workload;
    struct lane lane = d->env->lane;

    d->has_failed = false;
    for (int64_t i = 0; i < n && !d->has_failed; i++) {
        int64_t seq = lane.worker + i * lane.workers;
        const struct class *class =
            &workload->classes[workload_draw(workload, seq)];

        if (!open_one(arg, workload_route(class, seq)))
            dialer_note_failure(d, socket_error_text(errno));
    }
    while (d->connecting.len > 0 && !atomic_load(&stop_signal))
        event_base_loop(d->env->base, EVLOOP_ONCE);
    if (atomic_load(&stop_signal))
        return err_set(err, ERR_IO, "interrupted");
    if (!d->has_failed)
        return 0;
    return err_set(err, ERR_IO,
                   "client.preconnect: only %lld of %lld connections could be "
                   "opened: %s",
                   (long long)*n_ready, (long long)n, d->why_failed);
}
