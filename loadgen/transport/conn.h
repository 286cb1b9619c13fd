/* conn.h - connections: a socket, with TLS or without, that is established
 * within the connect timeout.
 *
 * A pool embeds `struct conn` as the first member of its connections and one
 * dialer, which establishes them.
 */
#ifndef LOADGEN_TRANSPORT_CONN_H
#define LOADGEN_TRANSPORT_CONN_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/wire/tls.h"
#include "loadgen/transport/socket.h"

struct dialer;
struct endpoint;
struct err;
struct facts;
struct tls_context;
struct transport_env;

/* ---- lists of connections ---- */

struct connlist;

/* A connection is in one list at most. */
struct connlink {
    struct connlist *list; /* NULL: in no list */
    struct connlink *next;
    struct connlink *previous;
};

struct connlist {
    struct connlink *first;
    struct connlink *last;
    size_t len;
};

static inline void connlist_add_first(struct connlist *list, struct connlink *l)
{
    *l = (struct connlink){.list = list, .next = list->first};
    if (list->first)
        list->first->previous = l;
    else
        list->last = l;
    list->first = l;
    list->len++;
}

static inline void connlist_add_last(struct connlist *list, struct connlink *l)
{
    *l = (struct connlink){.list = list, .previous = list->last};
    if (list->last)
        list->last->next = l;
    else
        list->first = l;
    list->last = l;
    list->len++;
}

/* From the list it is in, if any. */
static inline void connlist_remove(struct connlink *l)
{
    struct connlist *list = l->list;

    if (!list)
        return;
    if (l->previous)
        l->previous->next = l->next;
    else
        list->first = l->next;
    if (l->next)
        l->next->previous = l->previous;
    else
        list->last = l->previous;
    list->len--;
    l->list = NULL;
}

/* ---- connections ---- */

struct conn {
    struct connlink link; /* the dialer's while it is being established, then
                             the pool's */
    struct dialer *dialer;
    struct conn *next_unused;
    struct conn *next_made;
    const struct endpoint *endpoint;
    struct wire wire;
    struct tls tls;       /* its ssl is NULL: no TLS */
    int64_t opened_ns;    /* by the clock, as the next two */
    int64_t connected_ns; /* by TCP, before TLS; TIME_ABSENT: not yet */
    int64_t secured_ns;   /* TLS is complete; TIME_ABSENT: not yet, or none */
    struct event readable;
    struct event writable; /* added while connecting; then the pool's */
    struct event again;    /* runs `readable` in the next turn of the loop */
    struct buf unsent;     /* what the kernel did not take at once, ... */
    size_t unsent_at;      /* ... from here on */
    int write_error;       /* errno of the write that failed; 0: none */
};

/* All required. */
struct dialer_hooks {
    const char *protocol; /* to ask for with TLS (ALPN) */

    /* An established connection is ready; the arg is the conn. */
    event_callback_fn readable;
    event_callback_fn writable;

    /* A connection is established, or cannot be: then it must be closed.  `why`
     * is valid during the call. */
    void (*established)(struct conn *c);
    void (*failed)(struct conn *c, enum connect_detail detail, const char *why);
};

struct dialer {
    const struct transport_env *env;
    const struct dialer_hooks *hooks;
    struct tls_context *tls;    /* NULL: no target needs it */
    struct conn *unused;        /* closed, kept for their memory */
    struct conn *made;          /* all of them, to be freed */
    struct connlist connecting; /* oldest first */
    struct event timer;         /* for the oldest of them */
    struct socket_path path;    /* of connections that were closed */
    bool has_failed;            /* to open one ahead of the requests, ... */
    char why_failed[TLS_TEXT];  /* ... the last time for this reason */
};

/* In zeroed memory; everything is borrowed.  ERR_CONFIG for invalid files of
 * TLS. */
int dialer_init(struct dialer *d, const struct transport_env *env,
                const struct dialer_hooks *hooks, struct err *err);

/* Frees all connections, which must have been closed.  Accepts a zeroed one. */
void dialer_fini(struct dialer *d);

/* Over all connections so far. */
struct socket_path dialer_path(const struct dialer *d);

/* A connection could not be established. */
void dialer_note_failure(struct dialer *d, const char *why);

/* Open n connections to where the lane's first requests will go, and run the
 * event base until each is established or has failed, for the connect timeout
 * at most.  `open_one` opens one for the route of this index; false with errno
 * set.  *n_ready counts those that are there.  ERR_IO. */
int dialer_preconnect(struct dialer *d, int64_t n,
                      bool (*open_one)(void *arg, size_t route), void *arg,
                      const int64_t *n_ready, struct err *err);

/* The request for which it was opened has its times. */
void conn_note_times(const struct conn *c, struct facts *f);

/* One that is closed: given back, or a new one of `size` zeroed bytes. */
struct conn *conn_take(struct dialer *d, size_t size);
void conn_give_back(struct conn *c);

/* Begin to establish a connection that is closed.  -1 with errno. */
int conn_open(struct conn *c, const struct endpoint *e);

/* In any state but closed. */
void conn_close(struct conn *c);

/* Send until the socket takes no more, or a turn is over (256 KiB); returns how
 * many bytes it took.  The rest is kept in `unsent`, and `writable` is added,
 * whose hook must call conn_send_rest(); nothing else may be sent before.  If a
 * write fails, the server may have answered before: nothing more is sent,
 * `readable` runs, and conn_read() reports that error when everything has been
 * read. */
static inline size_t conn_send(struct conn *c, const char *data, size_t len);
size_t conn_send_rest(struct conn *c);

/* As recv(2), except that EPROTO is an error of TLS: conn_why(). */
static inline ssize_t conn_read(struct conn *c, void *data, size_t size);

/* Only for conn_send(): go on after a write that returned n. */
size_t conn_send_more(struct conn *c, const char *data, size_t len, ssize_t n);

/* Only for conn_read(): n, or the error of an earlier write if n is the end. */
ssize_t conn_read_last(struct conn *c, ssize_t n);

static inline ssize_t conn_write(struct conn *c, const char *data, size_t len)
{
    return c->tls.ssl ? tls_write(&c->tls, data, len)
                      : wire_write(&c->wire, data, len);
}

static inline size_t conn_send(struct conn *c, const char *data, size_t len)
{
    ssize_t n = conn_write(c, data, len);

    return n == (ssize_t)len ? len : conn_send_more(c, data, len, n);
}

static inline ssize_t conn_read(struct conn *c, void *data, size_t size)
{
    ssize_t n = c->tls.ssl ? tls_read(&c->tls, data, size)
                           : wire_read(&c->wire, data, size);

    return c->write_error ? conn_read_last(c, n) : n;
}

/* Must it be read again, even if the socket stays silent? */
static inline bool conn_has_more(const struct conn *c)
{
    return c->tls.ssl && c->tls.has_more;
}

/* Then this makes `readable` run again, when others have had their turn.  With
 * event_active() it would run before any timer, as long as there is more. */
void conn_read_again(struct conn *c);

/* Did it end where an end cannot be trusted? */
static inline bool conn_is_cut(const struct conn *c)
{
    return c->tls.ssl && c->tls.is_cut;
}

/* What an error of conn_read() means. */
const char *conn_why(const struct conn *c, int error,
                     char out[static TLS_TEXT]);

/* Did the server refuse us after its handshake?  With TLS 1.3 a client that
 * lacks a certificate learns so only then. */
bool conn_is_refused(const struct conn *c, int error);

/* Switch the kernel's receive timestamps on or off. */
static inline void conn_set_stamps(struct conn *c, bool is_on)
{
    if (c->wire.is_stamped != is_on)
        socket_set_stamps(c->wire.fd, is_on);
    c->wire.is_stamped = is_on;
}

#endif
