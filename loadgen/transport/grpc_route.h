/* grpc_route.h - the ways of the classes of a run to their endpoints: which
 * channels, which method, which metadata, which message. */
#ifndef LOADGEN_TRANSPORT_GRPC_ROUTE_H
#define LOADGEN_TRANSPORT_GRPC_ROUTE_H

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <stdbool.h>
#include <stddef.h>

#include "loadgen/transport/grpc_channel.h"

struct class;
struct transport_env;

/* Channels to one place, which take turns. */
struct rpc_place {
    struct rpc_channel *channels;
    size_t len;
    size_t turn;
};

/* The way of one class to one endpoint. */
struct rpc_route {
    struct rpc_place *place;
    const struct class *class;
    const char *method; /* "/package.Service/Method" */
    void **handles;     /* of the method, one a channel */
    grpc_metadata *metadata;
    size_t n_metadata;
    bool has_id;               /* the last one's value is the request's own */
    bool is_unary;             /* an answer of one message has been seen */
    grpc_byte_buffer *message; /* the same for all; NULL: each has its own */
};

struct rpc_routes {
    struct rpc_route *routes; /* those of the mix */
    size_t n_routes;
    struct rpc_place *places;
    size_t n_places;
    int n_broken; /* blocked connections that were shut down */
};

/* In zeroed memory; everything is borrowed.  ERR_CONFIG.  rpc_routes_fini() may
 * follow either way. */
int rpc_routes_init(struct rpc_routes *r, const struct transport_env *env,
                    struct rpc_queue *queue, struct err *err);

/* Shut down all blocked connections, see rpc_channel_break(). */
void rpc_routes_break(struct rpc_routes *r, bool is_forced);

/* No call is under way.  Closes every channel, and waits for that. */
void rpc_routes_fini(struct rpc_routes *r, struct rpc_queue *queue);

/* How many connections there are. */
int64_t rpc_routes_ready(const struct rpc_routes *r);

#endif
