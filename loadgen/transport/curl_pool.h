/* curl_pool.h - easy handles for requests through libcurl, made when there is
 * none to be had and kept from then on.
 *
 * libcurl's cost a request grows with the handles in one multi, so there are
 * many small multis, each to one place.
 */
#ifndef LOADGEN_TRANSPORT_CURL_POOL_H
#define LOADGEN_TRANSPORT_CURL_POOL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/wire/http_message.h"
#include "loadgen/transport/curl_loop.h"

struct class;
struct curl_multi;
struct curl_pool;
struct curl_trust;
struct endpoint;
struct request;
struct transport_env;

#define CURL_KEPT_BODY 512

/* Where connections go. */
struct curl_place {
    struct curl_multi *with_room;
    struct curl_multi *multis; /* all of them */
};

/* The way of one class to one endpoint. */
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
    struct curl_route *route; /* of its request, or the last one's */
    CURL *easy;
    struct curl_transfer transfer;
    struct curl_slist *headers;
    char *id;                 /* the digits in them; NULL: none */
    struct curl_handle *next; /* unused */

    /* The user's, of the request. */
    struct request *request;
    int64_t began_ns; /* libcurl's times count from here */
    int sends;        /* times that it was about to be sent, ... */
    int64_t asked_ns; /* ... the last of them then, by the clock, ... */
    int local_port;   /* ... from this port */
    size_t head_len;
    struct http1 parser; /* of the head */
    bool is_whole_head;
    enum http1_error refusal; /* ours, who broke it off */
    bool broke_late;          /* later than a stale connection would */
    bool needs_fresh;         /* aborted; send again on a fresh connection */
    bool is_again;            /* it was restarted for that */
    char body[CURL_KEPT_BODY];
    size_t body_len;
    struct buf out; /* a body that was made for it */
    char why[CURL_ERROR_SIZE];
};

/* What the user does with a handle; both required. */
struct curl_user {
    /* It is new: set what is to be called during a transfer. */
    void (*prepare)(struct curl_handle *h);

    /* See struct curl_loop; the handle is one of these. */
    void (*ended)(void *handle, CURLcode code);
};

struct curl_pool {
    const struct transport_env *env;
    const struct curl_trust *trust; /* NULL: libcurl's own */
    const struct curl_user *user;
    struct curl_loop loop;
    struct curl_route *routes; /* those of the mix */
    struct curl_place *places; /* likewise */
    int64_t n_taken;
    int64_t read_turn; /* of the loop, in which libcurl handed over ... */
    int64_t read_ns;   /* ... what it read, the first of it at this time */
};

/* In zeroed memory; everything is borrowed. */
void curl_pool_init(struct curl_pool *pool, const struct transport_env *env,
                    const struct curl_trust *trust,
                    const struct curl_user *user);

/* Closes every connection.  Accepts a zeroed one. */
void curl_pool_fini(struct curl_pool *pool);

/* The handle that was used last, if there is one of this route, has the warmest
 * connection. */
struct curl_handle *curl_pool_take(struct curl_route *route);

/* When a connection that the handle may have used was closed last, by the
 * clock. */
int64_t curl_pool_closed_ns(const struct curl_handle *h);

/* Was the connection from its local port closed because it was flooded? */
bool curl_pool_was_flooded(const struct curl_handle *h);

/* Begin its transfer; see curl_driver_start(). */
void curl_pool_start(struct curl_handle *h);

/* Its transfer is over: make it again, on a fresh connection. */
void curl_pool_restart(struct curl_handle *h);

/* Its transfer is over, or to be forgotten. */
void curl_pool_put_back(struct curl_handle *h);

#endif
