/* curl_loop.h - libcurl on the worker's event base: the sockets and timers of
 * any number of multis.
 *
 * It knows transfers, not requests: it drives them and reports their end.
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
struct curl_socket;

struct curl_loop {
    struct event_base *base;
    const struct clk *clk;
    bool is_multiplexed; /* HTTP/2: an idle connection may receive frames */

    /* The transfer of this handle is over.  The hook may stop it and start
     * others. */
    void (*ended)(void *handle, CURLcode code);

    int64_t n_turns;              /* how often libcurl was driven */
    int64_t n_contents;           /* how often it handed content over */
    int64_t n_sockets;            /* that are open */
    int64_t n_opened;             /* since the beginning */
    struct socket_path path;      /* of those that were closed */
    struct curl_socket **sockets; /* by descriptor; NULL: never used */
    size_t n_slots;
};

/* What the loop knows of an easy handle. */
struct curl_transfer {
    struct curl_loop *loop;
    void *handle; /* the user's */

    /* Since the user set these to 0: */
    int open_error;  /* errno of the last socket() that failed, which libcurl
                        does not keep */
    bool has_opened; /* a socket was opened */
    int64_t socket;  /* number of the socket it waited for before; 0: none */
    int fd;          /* its descriptor */

    struct curl_socket *opened; /* the last that it opened; NULL: none */
};

/* The state of a socket when it was closed; times are the clock's. */
struct curl_closing {
    int64_t socket; /* its number: descriptors are reused */
    int64_t at_ns;
    int64_t idle_ns; /* when it last became idle */
    int64_t acked;   /* bytes that the peer's kernel acknowledged since; -1: not
                        known */
    int64_t rtt_ns;  /* 0: not known */
};

/* A multi on a loop. */
struct curl_driver {
    struct curl_loop *loop;
    CURLM *multi;
    struct event timer;
    bool is_starting;   /* it will be driven at once, without the timer */
    int64_t closed_ns;  /* when one of its connections was last closed */
    int flooded_port;   /* local port of the last flooded connection; 0: none */
    int64_t flooded_ns; /* when that was */
};

/* Base and clock are borrowed. */
void curl_loop_init(struct curl_loop *loop, struct event_base *base,
                    const struct clk *clk,
                    void (*ended)(void *handle, CURLcode code));

/* After its drivers.  Accepts a zeroed one. */
void curl_loop_fini(struct curl_loop *loop);

/* Let the loop of `transfer` drive a new easy handle; `transfer` is borrowed
 * for as long as the handle lives.  Uses CURLOPT_PRIVATE. */
void curl_loop_adopt(struct curl_transfer *transfer, CURL *easy);

/* HTTP/2: libcurl reads frames for as long as there are any, and hands nothing
 * over if they have no content.  So its TLS library reports each record, and a
 * connection that receives too much without content at a time is closed.
 *
 * The socket of the handle's new connection; NULL: it need not be guarded. */
struct curl_socket *curl_loop_guarded(CURL *easy);

/* A record of `len` bytes was received. */
void curl_loop_received(struct curl_socket *s, size_t len);

/* How the socket that the transfer waited for was closed; NULL: it is open, or
 * this is not known. */
const struct curl_closing *curl_loop_closing(const struct curl_transfer *t);

/* Over all sockets so far. */
struct socket_path curl_loop_path(const struct curl_loop *loop);

void curl_driver_init(struct curl_driver *driver, struct curl_loop *loop);

/* After its transfers were stopped. */
void curl_driver_fini(struct curl_driver *driver);

/* Begin a transfer at once; it and others may end before this returns. */
void curl_driver_start(struct curl_driver *driver, CURL *easy);

/* Remove a transfer that is over or cancelled. */
void curl_driver_stop(struct curl_driver *driver, CURL *easy);

#endif
