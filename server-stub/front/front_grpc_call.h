/* front_grpc_call.h - a call of gRPC on its way through the front. */
#ifndef SERVER_STUB_FRONT_FRONT_GRPC_CALL_H
#define SERVER_STUB_FRONT_FRONT_GRPC_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clk;
struct front_hooks;
struct grpc_completion_queue;
struct grpc_server;
struct rpc;

/* What the calls of a front share. */
struct rpc_home {
    struct grpc_server *server;
    struct grpc_completion_queue *cq;
    const struct clk *clk;
    const struct front_hooks *hooks;
    void *arg;
    bool is_closing; /* no more calls are asked for */
    struct rpc *first;
};

/* Be ready for one more call, from now on; for each that comes there will be
 * another. */
void rpc_expect(struct rpc_home *home);

/* What a tag of the queue stands for is over. */
void rpc_on_done(void *tag, bool ok, int64_t at_ns);

/* The requests of all calls end as not sent.  The calls themselves are gone
 * once the queue has given back all that is under way. */
void rpc_abandon_all(struct rpc_home *home);

#endif
