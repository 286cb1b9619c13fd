/* http2_pool.h - the connections of the HTTP/2 transport, and which of them has
 * room for another stream.
 *
 * A connection has a session of nghttp2, which turns requests into bytes and
 * bytes into callbacks.  While the session is at work (is_busy) it must neither
 * be entered again nor freed: what callbacks start is written, and what they
 * end is closed, when it is done.
 */
#ifndef LOADGEN_TRANSPORT_HTTP2_POOL_H
#define LOADGEN_TRANSPORT_HTTP2_POOL_H

#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/wire/http_message.h"
#include "loadgen/transport/conn.h"
#include "loadgen/transport/http2_head.h"

struct endpoint;
struct err;
struct http2_conn;
struct http2_pool;
struct request;
struct transport_env;

/* An address that connections go to. */
struct http2_place {
    struct connlist roomy; /* connections with room for a stream */
};

/* From one class to one endpoint. */
struct http2_route {
    const struct endpoint *endpoint;
    struct http2_place *place;
    struct http2_head head;
};

/* Carries one request. */
struct http2_stream {
    struct connlink link;    /* among those of its connection */
    struct http2_conn *conn; /* NULL: none */
    struct http2_route *route;
    struct request *request;
    struct http2_stream *next_unused;
    struct http2_stream *next_made;
    struct http2_digits digits;
    struct buf made;        /* its body, if it is made for it */
    const char *body;       /* all of it, ... */
    size_t body_len;        /* ... as sent */
    size_t body_sent;       /* bytes that nghttp2 has */
    int32_t id;             /* 0: not known to nghttp2 yet */
    int64_t ordinal;        /* among the streams of its connection, from 1 */
    int attempts;           /* connections that it was given to */
    bool is_again;          /* was sent again, and may not be once more */
    bool opens;             /* its connection was opened for it */
    bool is_sent;           /* its head is on its way, ... */
    int64_t limit_then;     /* ... with this limit of the server (0: not
                               known, which the first stream is not beyond) */
    bool is_reused;         /* ... over a connection that was in use before */
    int64_t taken_before;   /* bytes that the kernel took before it */
    int status;             /* of the last response head; 0: none */
    bool has_begun;         /* something of the response has arrived */
    bool is_whole;          /* all of it has */
    bool is_reset;          /* by the server */
    enum http1_error error; /* of the response */
    size_t head_len;
    int64_t content_length; /* -1: not said */
};

struct http2_conn {
    struct conn conn;
    struct connlink room; /* in its place's list, or in none */
    struct http2_pool *pool;
    struct http2_place *place;
    nghttp2_session *session; /* NULL: not established */
    struct connlist streams;  /* oldest first */
    int64_t n_used;           /* streams */
    int64_t limit;            /* of n_used */
    int64_t n_submitted;      /* to nghttp2, all in all */
    int64_t held_until;       /* ordinal of the last that the server's limit
                                 held back */
    bool is_busy;             /* the session is at work */
    bool has_settings;        /* the server's have arrived */
    bool is_draining;         /* takes no more streams */
    bool is_over;             /* and has none: it is about to be closed */
    bool is_idle;             /* open, and has none */
    bool has_goaway;          /* the server has ended it, ... */
    int32_t last_served;      /* ... after the stream of this id; 0: none */
    bool is_flooded;
    size_t empty;     /* bytes received since the last content, either way */
    int64_t idle_ns;  /* when it last had no stream, by the clock, ... */
    int64_t woke_ns;  /* ... and when one was sent after that; TIME_ABSENT:
                         none was */
    int64_t read_ns;  /* when the data being processed was read */
    int64_t write_ns; /* when the data being written was made ... */
    int64_t taken_before; /* ... and what the kernel took before */
};

struct http2_pool {
    struct dialer dialer;
    const struct transport_env *env;
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;
    struct http2_route *routes; /* of all classes */
    struct http2_place *places;
    char *out;         /* what is about to be written ... */
    bool is_gathering; /* ... is being made */
    int64_t n_open;    /* connections ... */
    int64_t n_idle;    /* ... and those without streams ... */
    int64_t n_over;    /* ... and those about to be closed */
    struct http2_stream *unused_streams;
    struct http2_stream *made_streams;
};

/* In zeroed memory; takes the callbacks, whose user data is the connection.
 * ERR_CONFIG. */
int http2_pool_init(struct http2_pool *p, const struct transport_env *env,
                    const struct dialer_hooks *hooks,
                    nghttp2_session_callbacks *callbacks, struct err *err);

/* Closes everything.  Accepts a zeroed one. */
void http2_pool_fini(struct http2_pool *p);

/* May a stream begin there?  Over a connection with room, or a new one, if need
 * be in place of one without streams. */
bool http2_place_has_room(const struct http2_pool *p,
                          const struct http2_place *place);

/* Wherever it goes? */
bool http2_pool_has_room(const struct http2_pool *p);

/* ---- streams ---- */

/* A new one for the request; give it back after it is detached. */
struct http2_stream *http2_stream_new(struct http2_pool *p,
                                      struct http2_route *route,
                                      struct request *r);
void http2_stream_give_back(struct http2_pool *p, struct http2_stream *s);

/* Give it to a connection with room, or to a new one.  -1 with errno set. */
int http2_stream_attach(struct http2_pool *p, struct http2_stream *s);

/* Take it from its connection.  If it was given up, its place is free when the
 * reset is written, before any new stream. */
void http2_stream_detach(struct http2_stream *s);

/* ---- connections ---- */

/* A new one without a stream.  NULL with errno set. */
struct http2_conn *http2_conn_open(struct http2_pool *p,
                                   struct http2_route *route);

/* The connection is established: make its session. */
void http2_conn_begin(struct http2_conn *c);

/* Is there room?  Call it after limit, n_used or is_draining have changed. */
void http2_conn_update(struct http2_conn *c);

/* Write what the session has to say.  Does nothing while the session is at work
 * or the socket is full.  While another connection is being written it only
 * makes the writable hook run: nghttp2 reports streams that end when it makes
 * frames, and what their ends start may go elsewhere. */
void http2_conn_flush(struct http2_conn *c);

/* Close the socket and the session; its streams are still attached.  Without
 * them it can be given back. */
void http2_conn_close(struct http2_conn *c);

#endif
