/* http1_pool.h - the connections of the native transport: opened within the
 * connect timeout, kept while they are idle, closed.
 *
 * Idle ones are kept on a stack for each place, so that the warmest is used
 * first.  What is sent and received on a connection is its user's business.
 */
#ifndef LOADGEN_TRANSPORT_HTTP1_POOL_H
#define LOADGEN_TRANSPORT_HTTP1_POOL_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/wire/http_message.h"
#include "loadgen/transport/connlist.h"
#include "loadgen/transport/socket.h"

struct endpoint;
struct err;
struct http1_pool;
struct request;
struct transport_env;

#define HTTP1_KEPT_BODY 512

/* Where connections go. */
struct http1_place {
    struct connlist idle;
};

/* The way of one class to one endpoint. */
struct http1_route {
    const struct endpoint *endpoint;
    struct http1_place *place;
    char *out; /* own copy of the request, for its id */
};

/* Carries one request at a time. */
struct http1_conn {
    struct connlink link; /* idle, or being established */
    struct http1_pool *pool;
    struct http1_route *route; /* of its request, or the last one's */
    int fd;                    /* -1: closed */
    int64_t opened_ns;
    bool is_connected;
    bool was_idle;         /* the server may have closed it meanwhile */
    int64_t kept_ns;       /* when it last became so, by the clock */
    struct event readable; /* added while connected */
    struct event writable; /* added while connecting; then the user's */
    struct http1_conn *next_unused;
    struct http1_conn *next_made;

    /* The user's. */
    struct request *request; /* NULL: none */
    int64_t asked_ns;        /* it began to go out */
    int64_t read_ns;         /* what is being taken was read */
    int64_t taken;        /* bytes that the kernel took of all requests ... */
    int64_t taken_before; /* ... and of those before this one */
    bool is_stamped;      /* the kernel is asked when it got the answer */
    struct http1 parser;
    struct buf unsent;          /* what the kernel did not take at once */
    char body[HTTP1_KEPT_BODY]; /* beginning of the body, for failures */
    size_t body_len;
};

/* What the user does with a connection; all required. */
struct http1_user {
    const struct http1_hooks *response; /* of the parser; its arg is the conn */

    /* It is connected and its socket is ready; their arg is the conn.  An idle
     * one that is readable is to be closed. */
    event_callback_fn readable;
    event_callback_fn writable;

    /* One that was given a request is connected, or cannot be: then it is the
     * user's to close. */
    void (*connected)(struct http1_conn *c);
    void (*failed)(struct http1_conn *c, int error, const char *why);
};

struct http1_pool {
    const struct transport_env *env;
    const struct http1_user *user;
    struct http1_route *routes; /* those of the mix */
    struct http1_place *places; /* likewise */
    struct connlist connecting;
    struct event connect_timer; /* fires when the oldest of those is late */
    struct http1_conn *unused;  /* closed, kept for their memory */
    int64_t n_open;
    int64_t n_idle;
    struct http1_conn *made; /* all there are, to be freed */
    struct socket_path path; /* of those that were closed */
    int connect_error;       /* the last of a connection without a request */
};

/* In zeroed memory; everything is borrowed. */
void http1_pool_init(struct http1_pool *pool, const struct transport_env *env,
                     const struct http1_user *user);

/* Closes every connection.  Accepts a zeroed one. */
void http1_pool_fini(struct http1_pool *pool);

/* The warmest that is idle; NULL: there is none. */
struct http1_conn *http1_pool_take(struct http1_route *route);

/* A fresh one, which the caller may give a request before it is connected.  At
 * the cap an idle one gives way.  NULL with errno set. */
struct http1_conn *http1_pool_open(struct http1_pool *pool,
                                   struct http1_route *route);

/* Keep it for the next request; it has none.  By the clock it is now_ns. */
void http1_pool_keep(struct http1_conn *c, int64_t now_ns);

/* Whatever state it is in.  The memory stays valid until the next one is
 * opened. */
void http1_pool_close(struct http1_conn *c);

/* Can one be taken or opened? */
bool http1_pool_has_room(const struct http1_pool *pool);

/* Open n to where the lane's first requests will go, and run the event base
 * until each is idle or lost: after the connect timeout at the latest.
 * ERR_IO. */
int http1_pool_preconnect(struct http1_pool *pool, int64_t n, struct err *err);

/* Of every connection there was. */
struct socket_path http1_pool_path(const struct http1_pool *pool);

#endif
