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

struct clk;
struct curl_watch;

struct curl_loop {
    struct event_base *base;
    const struct clk *clk;
    bool is_multiplexed; /* HTTP/2: an idle connection may receive frames */

    /* The transfer of this handle is over.  It may be stopped, and others be
     * started, before this returns. */
    void (*ended)(void *handle, CURLcode code);

    int64_t n_turns;             /* how often libcurl was driven */
    int64_t n_contents;          /* how often it handed content over */
    int64_t n_sockets;           /* that are open */
    int64_t n_opened;            /* since the beginning */
    struct socket_path path;     /* of those that were closed */
    struct curl_watch **watches; /* by descriptor; NULL: it never was ours */
    size_t n_watches;
};

/* What the loop knows of an easy handle. */
struct curl_transfer {
    struct curl_loop *loop;
    void *handle; /* the user's */

    /* Since the user set these to 0: */
    int open_error;  /* errno of the last socket() that failed: libcurl does
                        not keep it */
    bool has_opened; /* a socket */
    int64_t socket;  /* the one that it waited for before that, by number; 0:
                        none */
    int fd;          /* its descriptor */

    struct curl_watch *opened; /* the last that it opened; NULL: none */
};

/* How a socket was when it was closed; times are the clock's. */
struct curl_closing {
    int64_t socket; /* its number: descriptors come again */
    int64_t at_ns;
    int64_t idle_ns; /* it became idle then, for the last time */
    int64_t acked;   /* bytes since that the peer's kernel acknowledged; -1: not
                        known */
    int64_t rtt_ns;  /* 0: not known */
};

/* A multi on a loop. */
struct curl_driver {
    struct curl_loop *loop;
    CURLM *multi;
    struct event timer;
    bool is_starting;   /* it will be driven at once, timer or not */
    int64_t closed_ns;  /* when a connection of it was closed last */
    int flooded_port;   /* the local port of the last that was flooded; 0: none
                         */
    int64_t flooded_ns; /* when it was */
};

/* Base and clock are borrowed. */
void curl_loop_init(struct curl_loop *loop, struct event_base *base,
                    const struct clk *clk,
                    void (*ended)(void *handle, CURLcode code));

/* After its drivers.  Accepts a zeroed one. */
void curl_loop_fini(struct curl_loop *loop);

/* A new easy handle is to be driven by the loop of `transfer`, which is
 * borrowed for as long as the handle lives.  Takes CURLOPT_PRIVATE. */
void curl_loop_adopt(struct curl_transfer *transfer, CURL *easy);

/* HTTP/2: libcurl reads frames for as long as there are any, and hands nothing
 * over if they have no content.  So its TLS is to tell of each record that it
 * reads, and a connection on which too much comes at a time is closed.
 *
 * The socket that a new connection of the handle uses; NULL: it need not be
 * watched. */
struct curl_watch *curl_loop_guarded(CURL *easy);

/* A record of `len` bytes came. */
void curl_loop_received(struct curl_watch *w, size_t len);

/* How the socket that the transfer waited for was closed; NULL: it is open, or
 * this is not known. */
const struct curl_closing *curl_loop_closing(const struct curl_transfer *t);

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
