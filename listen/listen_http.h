/* listen_http.h - a small HTTP server on a thread of its own, for pages that
 * only read.
 *
 * It answers GET and HEAD, one request per connection, and sends events to
 * pages that stay connected.  Everything that a client can make it hold is
 * limited: connections, the size and the time of a head, what waits to be sent.
 * A client that reads too slowly misses events; nothing else waits for it.
 */
#ifndef LISTEN_LISTEN_HTTP_H
#define LISTEN_LISTEN_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct listen_conn;
struct listen_http;

/* When a connection above the first limit comes, the oldest one that is not a
 * stream of events is closed. */
#define LISTEN_MAX_CONNS   64
#define LISTEN_MAX_STREAMS 32
#define LISTEN_MAX_HEAD    ((size_t)16 << 10)
#define LISTEN_MAX_PATH    256
#define LISTEN_MAX_VALUE   512

/* A request.  Texts are "" if they are missing or too long. */
struct listen_request {
    char path[LISTEN_MAX_PATH]; /* without what follows a '?' */
    char host[LISTEN_MAX_VALUE];
    char accept[LISTEN_MAX_VALUE];
    char authorization[LISTEN_MAX_VALUE];
};

/* Called on the server's thread. */
struct listen_hooks {
    /* Must call listen_reply() or listen_stream() before it returns. */
    void (*get)(void *arg, struct listen_conn *conn,
                const struct listen_request *request);

    /* Once per second, and after listen_http_wake(). */
    void (*tick)(void *arg);
    void *arg;
};

/* An address: "127.0.0.1:9100", "[::1]:0", "0.0.0.0:9100", ":9100" (all), or a
 * port alone (loopback). */
struct listen_address {
    char host[LISTEN_MAX_PATH]; /* "": all interfaces */
    char port[8];
    bool is_loopback;
};

/* ERR_USAGE. */
int listen_address_parse(const char *text, struct listen_address *out,
                         struct err *err);

/* Bind; with a NULL address nothing is bound; only the timer runs.  ERR_IO. */
int listen_http_new(struct listen_http **http, const struct listen_address *at,
                    const struct listen_hooks *hooks, struct err *err);

/* "http://127.0.0.1:9100/"; "" without an address. */
const char *listen_http_url(const struct listen_http *http);

/* Start the thread.  ERR_IO. */
int listen_http_start(struct listen_http *http, struct err *err);

/* Make it tick soon.  Any thread. */
void listen_http_wake(struct listen_http *http);

/* Send what waits, as long as clients take it, at most `grace_ns` in all; then
 * end the thread and close everything.  Accepts NULL. */
void listen_http_free(struct listen_http *http, int64_t grace_ns);

/* ---- on the server's thread ---- */

struct listen_answer {
    int status;
    const char *type;    /* NULL: plain text */
    const char *headers; /* more of them, each with its line end; NULL: none */
    const char *body;
    size_t len;
};

/* The body is copied. */
void listen_reply(struct listen_conn *conn, const struct listen_answer *answer);

/* Turn the connection into a stream of events, which begins with `first`; NULL:
 * with nothing.  Refused with 503 if there are too many. */
void listen_stream(struct listen_conn *conn, const struct buf *first);

/* Any thread. */
size_t listen_n_streams(const struct listen_http *http);

/* Send an event to all streams.  One that has not taken the last one gets
 * nothing, unless this is the final one: then what waits there is followed by
 * it. */
void listen_broadcast(struct listen_http *http, const struct buf *event,
                      bool is_final);

#endif
