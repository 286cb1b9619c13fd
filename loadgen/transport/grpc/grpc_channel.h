/* grpc_channel.h - gRPC's channels, which are connections that many calls
 * share, and the routes of a run's classes over them: method, metadata and
 * message.
 *
 * Each channel has a connection of its own to one address; it neither retries
 * nor uses a proxy.  Everything here belongs to the worker's thread.
 */
#ifndef LOADGEN_TRANSPORT_GRPC_CHANNEL_H
#define LOADGEN_TRANSPORT_GRPC_CHANNEL_H

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loadgen/transport/grpc/grpc_queue.h"

struct buf;
struct class;
struct err;
struct transport_env;

struct rpc_channel {
    struct rpc_tag tag; /* of the watch on its state ... */
    struct post post;   /* ... and of its changes */
    struct rpc_queue *queue;
    grpc_channel *channel;
    const struct addrinfo *address; /* NULL: a Unix socket ... */
    const char *unix_socket;        /* ... of this path; both borrowed */
    bool is_watched;
    bool is_closing;
    grpc_connectivity_state state; /* as last reported */
    int64_t ready_ns; /* when it was last connected, by the clock */
};

static inline bool rpc_channel_is_ready(const struct rpc_channel *c)
{
    return c->state == GRPC_CHANNEL_READY;
}

/* Why it cannot be connected, in gRPC's words; may block for a moment. */
void rpc_channel_explain(struct rpc_channel *c, struct buf *out);

/* Channels to one address, which take turns. */
struct rpc_place {
    struct rpc_channel *channels;
    size_t len;
    size_t turn;
};

/* From one class to one endpoint. */
struct rpc_route {
    struct rpc_place *place;
    const struct class *class;
    const char *method; /* "/package.Service/Method" */
    void **handles;     /* of the method, one per channel */
    grpc_metadata *metadata;
    size_t n_metadata;
    bool has_id;   /* the value of the last metadata is the request's own */
    bool is_unary; /* an answer of one message has been seen */
    grpc_byte_buffer *message; /* the same for all; NULL: each has its own */
};

struct rpc_routes {
    struct rpc_route *routes; /* of all classes */
    size_t n_routes;
    struct rpc_place *places;
    size_t n_places;
    int n_broken; /* blocked connections that were shut down */
};

/* In zeroed memory; everything is borrowed.  ERR_CONFIG, also for a file that
 * cannot be read.  rpc_routes_fini() may follow either way. */
int rpc_routes_init(struct rpc_routes *r, const struct transport_env *env,
                    struct rpc_queue *queue, struct err *err);

/* Close every channel and wait for that.  No call is under way. */
void rpc_routes_fini(struct rpc_routes *r, struct rpc_queue *queue);

/* Shut down connections whose server does not read, or all of them if forced:
 * C-core neither ends a call nor closes a connection while a write is under
 * way. */
void rpc_routes_break(struct rpc_routes *r, bool is_forced);

/* The number of connections. */
int64_t rpc_routes_ready(const struct rpc_routes *r);

/* The first channel that is not connected; NULL: all are. */
struct rpc_channel *rpc_routes_find_unready(const struct rpc_routes *r);

/* A message with a copy of these bytes; the caller destroys it. */
grpc_byte_buffer *rpc_message_new(const struct buf *bytes);

#endif
