/* curl_pool.h - easy handles for requests through libcurl, made when they are
 * needed and kept from then on.
 *
 * libcurl's cost per request grows with the number of handles in one multi, so
 * there are many small multis, each for one address.
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
    struct curl_route *route; /* of its request, or the last one's */
    CURL *easy;
    struct curl_transfer transfer;
    struct curl_slist *headers;
    char *id;                 /* its digits in the headers; NULL: no id */
    struct curl_handle *next; /* unused */

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
    char body[CURL_KEPT_BODY];
    size_t body_len;
    struct buf out; /* the body, if it was made for this request */
    char why[CURL_ERROR_SIZE];
};

/* The hooks of the pool's user; both required. */
struct curl_user {
    /* A new handle: set the callbacks of its transfers. */
    void (*prepare)(struct curl_handle *h);

    /* See struct curl_loop; the handle is a struct curl_handle. */
    void (*ended)(void *handle, CURLcode code);
};

struct curl_pool {
    const struct transport_env *env;
    const struct curl_trust *trust; /* NULL: libcurl's own */
    const struct curl_user *user;
    struct curl_loop loop;
    struct curl_route *routes; /* of all classes */
    struct curl_place *places;
    int64_t n_taken;
    int64_t read_turn; /* turn of the loop in which data was last handed over */
    int64_t read_ns;   /* and when the first of it was */
};

/* In zeroed memory; everything is borrowed. */
void curl_pool_init(struct curl_pool *pool, const struct transport_env *env,
                    const struct curl_trust *trust,
                    const struct curl_user *user);

/* Closes every connection.  Accepts a zeroed one. */
void curl_pool_fini(struct curl_pool *pool);

/* An unused handle, or a new one.  Of this route the one that was used last is
 * preferred: it has the warmest connection. */
struct curl_handle *curl_pool_take(struct curl_route *route);

/* When a connection that the handle may have used was last closed, by the
 * clock. */
int64_t curl_pool_closed_ns(const struct curl_handle *h);

/* Was the connection from its local port closed because it was flooded? */
bool curl_pool_was_flooded(const struct curl_handle *h);

/* Begin its transfer; see curl_driver_start(). */
void curl_pool_start(struct curl_handle *h);

/* Its transfer is over: repeat it on a fresh connection. */
void curl_pool_restart(struct curl_handle *h);

/* Its transfer is over or cancelled. */
void curl_pool_put_back(struct curl_handle *h);

#endif
