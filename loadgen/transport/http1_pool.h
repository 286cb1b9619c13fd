/* http1_pool.h - the connections of the native transport: opened within the
 * connect timeout, kept while they are idle, closed.
 *
 * Idle connections are kept on a stack for each place, so that the warmest is
 * used first.  The pool's user sends and receives on them.
 */
#ifndef LOADGEN_TRANSPORT_HTTP1_POOL_H
#define LOADGEN_TRANSPORT_HTTP1_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/wire/http_message.h"
#include "loadgen/transport/conn.h"

struct endpoint;
struct err;
struct http1_pool;
struct request;
struct transport_env;

/* An address that connections go to. */
struct http1_place {
    struct connlist idle;
};

/* From one class to one endpoint. */
struct http1_route {
    const struct endpoint *endpoint;
    struct http1_place *place;
    char *out; /* own copy of the request, because of its id */
};

/* Carries one request at a time. */
struct http1_conn {
    struct conn conn; /* its list is that of idle ones, warmest first */
    struct http1_pool *pool;
    struct http1_route *route; /* of its current or last request */
    bool was_idle;             /* the server may have closed it meanwhile */
    int64_t kept_ns;           /* when it last became idle, by the clock */

    /* The user's. */
    struct request *request; /* NULL: none */
    int64_t asked_ns;        /* when sending it began */
    int64_t read_ns;         /* when the data being processed was read */
    int64_t taken_before;    /* bytes that the kernel took before this one */
    struct http1 parser;     /* its arg is the connection */
};

struct http1_pool {
    struct dialer dialer;
    const struct transport_env *env;
    const struct http1_hooks *response;
    struct http1_route *routes; /* of all classes */
    struct http1_place *places;
    int64_t n_open;
    int64_t n_idle;
    struct http1_known known; /* the last head of a response */
};

/* In zeroed memory; everything is borrowed.  The arg of the hooks for responses
 * is the connection.  ERR_CONFIG for invalid files of TLS. */
int http1_pool_init(struct http1_pool *pool, const struct transport_env *env,
                    const struct dialer_hooks *hooks,
                    const struct http1_hooks *response, struct err *err);

/* Closes every connection.  Accepts a zeroed one. */
void http1_pool_fini(struct http1_pool *pool);

/* The warmest idle connection; NULL: there is none. */
struct http1_conn *http1_pool_take(struct http1_route *route);

/* A new connection, which the caller may give a request before it is connected.
 * At max_connections an idle one is closed for it.  NULL with errno set. */
struct http1_conn *http1_pool_open(struct http1_pool *pool,
                                   struct http1_route *route);

/* Keep an idle connection for the next request.  now_ns is the clock's. */
void http1_pool_keep(struct http1_conn *c, int64_t now_ns);

/* Close a connection in any state.  Its memory stays valid until the next one
 * is opened. */
void http1_pool_close(struct http1_conn *c);

/* Open n connections to where the lane's first requests will go, and run the
 * event base until each is idle or has failed, for the connect timeout at most.
 * ERR_IO. */
int http1_pool_preconnect(struct http1_pool *pool, int64_t n, struct err *err);

#endif
