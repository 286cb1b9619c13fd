/* curl_pool.h - libcurl's easy handles, each for one request at a time, and the
 * multis that drive them on the worker's event base.
 *
 * Handles are made when they are needed and kept from then on.  libcurl's cost
 * per request grows with the number of handles in one multi, so there are many
 * small multis, each for one address.
 */
#ifndef LOADGEN_TRANSPORT_CURL_POOL_H
#define LOADGEN_TRANSPORT_CURL_POOL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/wire/http_message.h"
#include "loadgen/transport/socket.h"

struct class;
struct curl_multi;
struct curl_pool;
struct curl_socket;
struct tls_trust;
struct endpoint;
struct request;
struct transport_env;

/* An address that connections go to. */
struct curl_place {
    struct curl_multi *with_room;
    struct curl_multi *multis; /* all of them */
};

/* From one class to one endpoint. */
struct curl_route {
    struct curl_pool *pool;
    struct curl_place *place;
    const struct class *class;
    const struct endpoint *endpoint;
    struct curl_slist *connect_to;
};

/* Carries one request at a time. */
struct curl_handle {
    struct curl_multi *multi;
    struct curl_route *route; /* of its current or last request */
    CURL *easy;
    struct curl_slist *headers;
    char *id;                 /* its digits in the headers; NULL: no id */
    struct curl_handle *next; /* unused */

    /* Set by the pool, since the user set them to 0: */
    int open_error;  /* errno of the last socket() that failed, which libcurl
                        does not keep */
    bool has_opened; /* a socket was opened */
    int64_t socket;  /* number of the socket it waited for before; 0: none */
    int fd;          /* its descriptor */

    struct curl_socket *opened; /* the last that it opened; NULL: none */

    /* The transport's, about the request. */
    struct request *request;
    int64_t began_ns; /* libcurl's times count from here */
    int sends;        /* how often it was about to be sent, ... */
    int64_t asked_ns; /* ... the last time, by the clock, ... */
    int local_port;   /* ... and from which port */
    size_t head_len;
    struct http1 parser; /* of the head */
    bool is_whole_head;
    enum http1_error refusal; /* why we broke it off */
    bool broke_late;          /* later than a stale connection would */
    bool needs_fresh;         /* aborted, to be sent on a fresh connection */
    bool is_again;            /* restarted for that */
    struct buf out;           /* the body, if it was made for this request */
    char why[CURL_ERROR_SIZE];
};

/* The hooks of the pool's user; both required. */
struct curl_user {
    /* A new handle: set the callbacks of its transfers. */
    void (*prepare)(struct curl_handle *h);

    /* The transfer of this handle is over.  The hook may put it back and start
     * others. */
    void (*ended)(struct curl_handle *h, CURLcode code);
};

struct curl_pool {
    const struct transport_env *env;
    const struct tls_trust *trust; /* NULL: libcurl's own */
    const struct curl_user *user;
    struct curl_route *routes; /* of all classes */
    struct curl_place *places;
    int64_t n_taken;
    int64_t n_turns;              /* how often libcurl was driven */
    int64_t n_contents;           /* how often it handed content over */
    int64_t read_turn;            /* the last turn that handed over data, ... */
    int64_t read_ns;              /* ... and when it began to */
    int64_t n_sockets;            /* that are open */
    int64_t n_opened;             /* since the beginning */
    struct socket_path path;      /* of those that were closed */
    struct curl_socket **sockets; /* by descriptor; NULL: never used */
    size_t n_slots;
};

/* In zeroed memory; everything is borrowed. */
void curl_pool_init(struct curl_pool *pool, const struct transport_env *env,
                    const struct tls_trust *trust,
                    const struct curl_user *user);

/* Closes every connection.  Accepts a zeroed one. */
void curl_pool_fini(struct curl_pool *pool);

/* An unused handle, or a new one.  Of this route the one that was used last is
 * preferred: it has the warmest connection. */
struct curl_handle *curl_pool_take(struct curl_route *route);

/* Begin its transfer at once; it and others may end before this returns. */
void curl_pool_start(struct curl_handle *h);

/* Its transfer is over: repeat it on a fresh connection. */
void curl_pool_restart(struct curl_handle *h);

/* Its transfer is over or cancelled. */
void curl_pool_put_back(struct curl_handle *h);

/* The state of a socket when it was closed; times are the clock's. */
struct curl_closing {
    int64_t socket; /* its number: descriptors are reused */
    int64_t at_ns;
    int64_t idle_ns; /* when it last became idle */
    int64_t acked;   /* bytes that the peer's kernel acknowledged since; -1: not
                        known */
    int64_t rtt_ns;  /* 0: not known */
};

/* How the socket that the handle waited for was closed; NULL: it is open, or
 * this is not known. */
const struct curl_closing *curl_pool_closing(const struct curl_handle *h);

/* When a connection that the handle may have used was last closed, by the
 * clock. */
int64_t curl_pool_closed_ns(const struct curl_handle *h);

/* HTTP/2: libcurl reads frames for as long as there are any, and hands nothing
 * over if they have no content.  So its TLS library reports each record, and a
 * connection that receives too much without content at a time is closed.
 *
 * The socket of the handle's new connection; NULL: it need not be guarded. */
struct curl_socket *curl_pool_guarded(CURL *easy);

/* A record of `len` bytes was received. */
void curl_pool_received(struct curl_socket *s, size_t len);

/* Was the connection from its local port closed because it was flooded? */
bool curl_pool_was_flooded(const struct curl_handle *h);

/* Over all sockets so far. */
struct socket_path curl_pool_path(const struct curl_pool *pool);

#endif
