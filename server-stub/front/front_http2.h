/* front_http2.h - HTTP/2 on a connection of the front.
 *
 * Each stream is an exchange.  It is answered in the text of HTTP/1.1, as on
 * any other connection, which is turned into frames here; so every API and
 * every fault works over both.  An answer that is broken off, or that is not
 * HTTP, resets its stream.
 */
#ifndef SERVER_STUB_FRONT_FRONT_HTTP2_H
#define SERVER_STUB_FRONT_FRONT_HTTP2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clk;
struct front_hooks;
struct front_http2;

/* All is borrowed. */
struct front_http2_env {
    const struct clk *clk;
    const struct front_hooks *hooks;
    void *arg; /* of hooks */

    /* Write to the connection. */
    void (*write)(void *conn, const char *data, size_t len);

    /* A stream was answered, outside front_http2_feed(): the connection may be
     * closed and the session freed. */
    void (*settled)(void *conn);
    void *conn;
};

struct front_http2 *front_http2_new(const struct front_http2_env *env);

/* The client is gone.  Requests end as not sent; those that are still to be
 * answered when they are, or now if it is final: no answer will come any more.
 * Returns true if it was freed: else it must be called again after `settled`.
 */
bool front_http2_close(struct front_http2 *h, bool is_final);

/* Bytes from the client, from the preface on.  -1: the connection is over. */
int front_http2_feed(struct front_http2 *h, const char *data, size_t len,
                     int64_t arrival_ns);

#endif
