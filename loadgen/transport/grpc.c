/* gRPC through C-core: the transport's ops.  See grpc_call.h for a call. */
#include <grpc/support/log.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/settings/settings.h"
#include "common/wire/status.h"
#include "loadgen/engine/request.h"
#include "loadgen/prepare/target.h"
#include "loadgen/transport/grpc_call.h"
#include "loadgen/transport/grpc_verdict.h"
#include "loadgen/transport/transport.h"

#define TICK_NS (10 * NS_PER_MS)
#define CANCEL_NS                                                              \
    (100 * NS_PER_MS)        /* for cancelled calls to end by themselves */
#define FORCE_NS    NS_PER_S /* after that */
#define MAX_DETAILS 400

/* Connections are shared: the engine's bound on requests in flight is all. */
static bool grpc_has_room(void *self)
{
    (void)self;
    return true;
}

static void grpc_start(void *self, struct request *r)
{
    rpc_call_start(self, r);
}

/* gRPC tells of its end all the same, and nobody listens. */
static void grpc_cancel(void *self, struct request *r)
{
    struct rpc_call *c = r->conn;

    (void)self;
    rpc_call_take_connection(c);
    r->conn = NULL;
    c->request = NULL;
    grpc_call_cancel(c->call, NULL);
}

static int64_t grpc_connections(void *self)
{
    const struct rpc_transport *t = self;

    return rpc_routes_ready(&t->routes);
}

static int64_t grpc_cpu_ns(void *self)
{
    const struct rpc_transport *t = self;

    return rpc_queue_cpu_ns(&t->queue);
}

/* The first channel that is not there yet; NULL: all are. */
static struct rpc_channel *find_missing(const struct rpc_routes *r)
{
    for (size_t i = 0; i < r->n_places; i++) {
        for (size_t k = 0; k < r->places[i].len; k++) {
            if (!rpc_channel_is_ready(&r->places[i].channels[k]))
                return &r->places[i].channels[k];
        }
    }
    return NULL;
}

static int refuse_connection(struct rpc_channel *c, struct err *err)
{
    struct rpc_ending ending = {.code = RPC_UNAVAILABLE};
    struct rpc_verdict v;
    struct buf why;

    buf_init(&why, MAX_DETAILS);
    rpc_channel_explain(c, &why);
    ending.details = buf_text(&why);
    v = rpc_judge(&ending);
    buf_fini(&why);
    return err_set(err, ERR_IO, "no connection: %s", v.text);
}

/* There are so many channels and no more: all of them are opened. */
static int grpc_preconnect(void *self, int64_t n, struct err *err)
{
    struct rpc_transport *t = self;
    const struct transport_env *env = t->env;
    int64_t until_ns = clk_now(env->clk) + env->settings->connect_timeout_ns;
    struct rpc_channel *c;
    int rc = 0;

    (void)n;
    handoff_enter(&t->queue.handoff);
    while (rc == 0 && (c = find_missing(&t->routes))) {
        rpc_channel_connect(c);
        handoff_wait(&t->queue.handoff, TICK_NS);
        if (c->state == GRPC_CHANNEL_TRANSIENT_FAILURE ||
            clk_now(env->clk) > until_ns)
            rc = refuse_connection(c, err);
        else if (atomic_load(&stop_signal))
            rc = err_set(err, ERR_IO, "interrupted");
    }
    handoff_leave(&t->queue.handoff);
    return rc;
}

/* Whatever gRPC has to say of a call is in its status. */
static void say_nothing(gpr_log_func_args *args)
{
    (void)args;
}

static int grpc_transport_init(void *self, const struct transport_env *env,
                               struct err *err)
{
    struct rpc_transport *t = self;
    int rc;

    t->env = env;
    buf_init(&t->body, TARGET_MAX_REQUEST);
    gpr_set_log_function(say_nothing);
    grpc_init();
    t->is_global = true;
    if (rpc_queue_init(&t->queue, env->base, env->clk, err))
        return -1;
    handoff_enter(&t->queue.handoff);
    rc = rpc_routes_init(&t->routes, env, &t->queue, err);
    handoff_leave(&t->queue.handoff);
    return rc;
}

static struct handoff *grpc_gate(void *self)
{
    struct rpc_transport *t = self;

    return &t->queue.handoff;
}

/* Every call must end before the queue does.  A cancelled call ends within
 * milliseconds, unless a write on its connection is blocked because the server
 * does not read.  Such connections are shut down; if calls are still left after
 * FORCE_NS, whatever the reason, every connection to these servers is. */
static void end_calls(struct rpc_transport *t)
{
    int64_t until_ns = clk_now(&clk_monotonic) + CANCEL_NS;
    int64_t now;

    handoff_enter(&t->queue.handoff);
    for (struct rpc_call *c = t->live; c; c = c->next) {
        c->request = NULL;
        grpc_call_cancel(c->call, NULL);
    }
    while (t->live) {
        handoff_wait(&t->queue.handoff, TICK_NS);
        now = clk_now(&clk_monotonic);
        if (now > until_ns)
            rpc_routes_break(&t->routes, now > until_ns + FORCE_NS);
    }
    rpc_routes_fini(&t->routes, &t->queue);
    handoff_leave(&t->queue.handoff);
}

/* After a blocked connection was shut down, a thread of C-core polls for up to
 * 10 s, and grpc_shutdown_blocking() would wait for it.  C-core is left running
 * then; its threads sleep. */
static void grpc_transport_fini(void *self)
{
    struct rpc_transport *t = self;
    struct rpc_call *next;

    if (!t->is_global)
        return;
    if (t->queue.has_thread)
        end_calls(t);
    rpc_queue_fini(&t->queue);
    for (struct rpc_call *c = t->unused; c; c = next) {
        next = c->next;
        free(c);
    }
    buf_fini(&t->body);
    if (t->routes.n_broken == 0)
        grpc_shutdown_blocking();
}

const struct transport_ops transport_grpc = {
    .name = "grpc",
    .state_size = sizeof(struct rpc_transport),
    .connects_ahead = true,
    .init = grpc_transport_init,
    .preconnect = grpc_preconnect,
    .handoff = grpc_gate,
    .has_room = grpc_has_room,
    .start = grpc_start,
    .cancel = grpc_cancel,
    .connections = grpc_connections,
    .cpu_ns = grpc_cpu_ns,
    .fini = grpc_transport_fini,
};
