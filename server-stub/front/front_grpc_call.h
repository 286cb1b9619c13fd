/* front_grpc_call.h - a gRPC call on its way through the front. */
#ifndef SERVER_STUB_FRONT_FRONT_GRPC_CALL_H
#define SERVER_STUB_FRONT_FRONT_GRPC_CALL_H

#include <stdbool.h>
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
    bool is_closing; /* no more calls are expected */
    struct rpc *first;
};

/* Expect one more call; whenever one arrives, another is expected. */
void rpc_expect(struct rpc_home *home);

/* The operation of this tag is complete. */
void rpc_on_done(void *tag, bool ok, int64_t at_ns);

/* End the requests of all calls as not sent.  The calls themselves end once the
 * queue has returned all pending operations. */
void rpc_abandon_all(struct rpc_home *home);

#endif
