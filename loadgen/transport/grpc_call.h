/* grpc_call.h - one call of gRPC, and what the parts of the transport know of
 * it; nobody else includes it.
 *
 *   grpc_start.c  it begins: its message, its metadata, its operations
 *   grpc_end.c    what comes of it, until it is over
 *   grpc.c        the rest
 *
 * What gRPC tells of a call is stamped by the queue's thread (grpc_queue.h),
 * which also goes on reading a stream; everything else is inside of the gate.
 */
#ifndef LOADGEN_TRANSPORT_GRPC_CALL_H
#define LOADGEN_TRANSPORT_GRPC_CALL_H

#include "common/base/buf.h"
#include "loadgen/transport/grpc_route.h"

struct request;
struct rpc_transport;
struct transport_env;

#define RPC_FRAME_LEN 5 /* before each message: a flag and its length */

/* One batch of operations, which gRPC names when it is over. */
struct rpc_step {
    struct rpc_tag tag;
    struct rpc_call *call;
};

struct rpc_call {
    struct rpc_transport *t;
    struct rpc_call *next; /* under way, or unused */
    struct rpc_call *previous;
    struct request *request; /* NULL: nobody waits for it any longer */
    struct rpc_route *route;
    const struct rpc_channel *channel;
    grpc_call *call;
    bool is_stream;  /* any number of messages may come */
    bool is_stepped; /* they are read one after the other */
    bool waits;      /* for a connection, as far as we have heard */
    int n_messages;  /* that have come */

    int n_open; /* batches that are not over; the queue's thread counts */
    struct rpc_step begun;    /* of a stream: sent, and the head has come, */
    struct rpc_step received; /* one message after the other, ... */
    struct rpc_step ended;    /* and the status; of a unary call everything */
    struct post head;
    struct post over;

    /* What gRPC writes. */
    grpc_metadata_array initial;
    grpc_metadata_array trailing;
    grpc_byte_buffer *message;
    grpc_status_code status;
    grpc_slice details;
};

struct rpc_transport {
    const struct transport_env *env;
    struct rpc_queue queue;
    struct rpc_routes routes;
    struct rpc_call *live;
    struct rpc_call *unused;
    struct buf body; /* of a request that is being made */
    bool is_global;  /* gRPC was got ready */
};

/* grpc_start.c: send it, or end it because it cannot be sent. */
void rpc_call_start(struct rpc_transport *t, struct request *r);

/* grpc_end.c: the hooks of a new one. */
void rpc_call_listen(struct rpc_call *c);

/* Of its tags, by its batch. */
rpc_seen_fn rpc_on_begun, rpc_on_received, rpc_on_end;

/* Its place is free for the next. */
void rpc_call_release(struct rpc_call *c);

/* If it had to wait for a connection, note when that was there. */
void rpc_call_take_connection(const struct rpc_call *c);

#endif
