/* curl_loop.h - libcurl on the worker's event base: the sockets and timers of
 * any number of multis.
 *
 * It knows transfers, not requests: it drives them, and says which are over.
 */
#ifndef LOADGEN_TRANSPORT_CURL_LOOP_H
#define LOADGEN_TRANSPORT_CURL_LOOP_H

#include <curl/curl.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loadgen/transport/socket.h"

struct curl_watch;

struct curl_loop {
    struct event_base *base;

    /* The transfer of the handle with this CURLOPT_PRIVATE is over.  It may be
     * stopped, and others be started, before this returns. */
    void (*ended)(void *handle, CURLcode code);

    int64_t n_turns;             /* how often libcurl was driven */
    int64_t n_sockets;           /* that are open */
    struct socket_path path;     /* of those that were closed */
    struct curl_watch **watches; /* by descriptor; NULL: it never was ours */
    size_t n_watches;
};

/* How a transfer's sockets are opened. */
struct curl_opening {
    struct curl_loop *loop;
    int error; /* errno of the last socket() that failed, or 0; the user may
                  reset it.  libcurl does not keep it. */
};

/* A multi on a loop. */
struct curl_driver {
    struct curl_loop *loop;
    CURLM *multi;
    struct event timer;
    bool is_starting; /* it will be driven at once, timer or not */
};

/* The base is borrowed. */
void curl_loop_init(struct curl_loop *loop, struct event_base *base,
                    void (*ended)(void *handle, CURLcode code));

/* After its drivers.  Accepts a zeroed one. */
void curl_loop_fini(struct curl_loop *loop);

/* The sockets of a new easy handle are to be the loop's.  `opening` is borrowed
 * for as long as the handle lives. */
void curl_loop_adopt(struct curl_opening *opening, CURL *easy);

/* Of every socket there was. */
struct socket_path curl_loop_path(const struct curl_loop *loop);

void curl_driver_init(struct curl_driver *driver, struct curl_loop *loop);

/* After its transfers were stopped. */
void curl_driver_fini(struct curl_driver *driver);

/* Begin a transfer at once; it, and others, may end before this returns. */
void curl_driver_start(struct curl_driver *driver, CURL *easy);

/* One that is over, or to be forgotten. */
void curl_driver_stop(struct curl_driver *driver, CURL *easy);

#endif
