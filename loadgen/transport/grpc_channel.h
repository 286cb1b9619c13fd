/* grpc_channel.h - channels of gRPC: connections that many calls share, and
 * what is known of their state.
 *
 * Each has a connection of its own, goes to one address, and neither retries
 * nor uses a proxy.  All of it is the worker's thread's.
 */
#ifndef LOADGEN_TRANSPORT_GRPC_CHANNEL_H
#define LOADGEN_TRANSPORT_GRPC_CHANNEL_H

#include <grpc/grpc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loadgen/transport/grpc_queue.h"

struct buf;
struct endpoint;
struct err;
struct target_settings;

struct rpc_channel {
    struct rpc_tag tag; /* of the watch on its state, ... */
    struct post post;   /* ... and its news */
    struct rpc_queue *queue;
    grpc_channel *channel;
    const struct addrinfo *address; /* NULL: a Unix socket ... */
    const char *unix_socket;        /* ... of this path; both borrowed */
    bool is_watched;
    bool is_closing;
    grpc_connectivity_state state; /* as far as we have heard */
    int64_t ready_ns; /* of the clock: when it was connected last */
};

/* In zeroed memory, which stays where it is; not connected yet.  ERR_CONFIG for
 * a file that cannot be read. */
int rpc_channel_init(struct rpc_channel *c, const struct endpoint *endpoint,
                     const struct target_settings *s, struct rpc_queue *queue,
                     struct err *err);

/* Its calls are over.  The news that its watch has ended comes yet: it is gone
 * once is_watched is false. */
void rpc_channel_close(struct rpc_channel *c);

/* Shut down blocked connections to the channel's address: those whose server
 * does not read, or all of them if forced.  C-core neither ends a call nor
 * closes a connection while a write is under way.  Returns how many. */
int rpc_channel_break(const struct rpc_channel *c, bool is_forced);

/* Begin to connect, unless it is. */
void rpc_channel_connect(struct rpc_channel *c);

static inline bool rpc_channel_is_ready(const struct rpc_channel *c)
{
    return c->state == GRPC_CHANNEL_READY;
}

/* Why it cannot be connected, in gRPC's words; may block for a moment. */
void rpc_channel_explain(struct rpc_channel *c, struct buf *out);

#endif
