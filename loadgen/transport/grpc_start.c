/* A call begins: a place for it, its message, its operations. */
#include <errno.h>
#include <grpc/byte_buffer_reader.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"
#include "loadgen/api/api.h"
#include "loadgen/engine/request.h"
#include "loadgen/payload/workload.h"
#include "loadgen/prepare/target.h"
#include "loadgen/schedule/session.h"
#include "loadgen/transport/grpc_call.h"
#include "loadgen/transport/transport.h"

static struct rpc_call *take_call(struct rpc_transport *t)
{
    struct rpc_call *c = t->unused;

    if (c) {
        t->unused = c->next;
    } else {
        c = xcalloc(1, sizeof(*c));
        c->t = t;
        rpc_call_listen(c);
    }
    c->previous = NULL;
    c->next = t->live;
    if (c->next)
        c->next->previous = c;
    t->live = c;
    return c;
}

/* The clock of both is CLOCK_MONOTONIC. */
static gpr_timespec deadline_of(const struct rpc_transport *t,
                                const struct request *r)
{
    int64_t at_ns = t->env->start_ns + r->deadline_ns;

    return (gpr_timespec){.tv_sec = at_ns / NS_PER_S,
                          .tv_nsec = (int32_t)(at_ns % NS_PER_S),
                          .clock_type = GPR_CLOCK_MONOTONIC};
}

static void begin(struct rpc_call *c, struct request *r)
{
    struct rpc_transport *t = c->t;
    struct rpc_route *route =
        &t->routes.routes[workload_route(r->class, request_place(&r->facts))];
    size_t turn = route->place->turn++ % route->place->len;

    c->request = r;
    r->conn = c;
    c->route = route;
    c->channel = &route->place->channels[turn];
    c->waits = !rpc_channel_is_ready(c->channel);
    c->n_messages = 0;
    c->is_stream = r->class->api && r->class->api->streams;
    c->is_stepped = c->is_stream || !route->is_unary;
    c->status = GRPC_STATUS_UNKNOWN;
    c->details = grpc_empty_slice();
    grpc_metadata_array_init(&c->initial);
    grpc_metadata_array_init(&c->trailing);
    c->call = grpc_channel_create_registered_call(
        c->channel->channel, NULL, GRPC_PROPAGATE_DEFAULTS, t->queue.cq,
        route->handles[turn], deadline_of(t, r), NULL);
    if (c->is_stream)
        response_expect_messages(&r->response);
}

/* GRPC_OP_SEND_MESSAGE empties what it is given, so each gets its own; the
 * bytes of one that is the same for all are shared.  NULL: it is too large. */
static grpc_byte_buffer *make_message(struct rpc_transport *t,
                                      const struct rpc_route *route,
                                      struct request *r)
{
    grpc_byte_buffer *message;
    grpc_slice slice;

    if (route->message)
        return grpc_byte_buffer_copy(route->message);
    buf_reset(&t->body);
    api_make_body(r->class->api, &r->facts, &r->row, r->session, &t->body);
    if (t->body.overflowed)
        return NULL;
    slice = grpc_slice_from_copied_buffer(buf_text(&t->body), t->body.len);
    message = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    return message;
}

/* Its place as the value of the last one; the caller's to release. */
static grpc_slice put_id(const struct rpc_call *c)
{
    char digits[TARGET_ID_DIGITS];

    target_put_id(digits, c->request->facts.seq);
    return grpc_slice_from_copied_buffer(digits, sizeof(digits));
}

static void tap_slice(const struct transport_env *env, grpc_slice slice)
{
    env->tap(env->arg, true, (const char *)GRPC_SLICE_START_PTR(slice),
             GRPC_SLICE_LENGTH(slice));
}

/* As the lines of a request of HTTP, which it is. */
static void tap_start(const struct rpc_call *c, grpc_byte_buffer *message)
{
    const struct transport_env *env = c->t->env;
    const struct rpc_route *route = c->route;
    grpc_byte_buffer_reader reader;
    grpc_slice whole;

    env->tap(env->arg, true, "POST ", 5);
    env->tap(env->arg, true, route->method, strlen(route->method));
    env->tap(env->arg, true, " gRPC\n", 6);
    for (size_t i = 0; i < route->n_metadata; i++) {
        tap_slice(env, route->metadata[i].key);
        env->tap(env->arg, true, ": ", 2);
        tap_slice(env, route->metadata[i].value);
        env->tap(env->arg, true, "\n", 1);
    }
    env->tap(env->arg, true, "\n", 1);
    if (!grpc_byte_buffer_reader_init(&reader, message))
        return;
    whole = grpc_byte_buffer_reader_readall(&reader);
    tap_slice(env, whole);
    grpc_slice_unref(whole);
    grpc_byte_buffer_reader_destroy(&reader);
}

static void start_batch(const grpc_op *ops, size_t n, struct rpc_step *step,
                        rpc_seen_fn *seen)
{
    grpc_call_error error;

    rpc_tag_arm(&step->tag, seen);
    error = grpc_call_start_batch(step->call->call, ops, n, &step->tag, NULL);
    if (error != GRPC_CALL_OK)
        abort(); /* a batch that we have put together wrongly */
}

#define N_SENT 4 /* the operations that both kinds begin with */

/* A unary call is one batch: one thing to wait for.  But what has several
 * messages would never end so, if it is no unary one: the first calls of a
 * method are read as streams are, until one has shown what it is. */
static void start_ops(struct rpc_call *c, grpc_byte_buffer *message,
                      grpc_slice id)
{
    const struct rpc_route *route = c->route;
    grpc_op ops[N_SENT + 2] = {
        {.op = GRPC_OP_SEND_INITIAL_METADATA,
         .data.send_initial_metadata = {.count = route->n_metadata,
                                        .metadata = route->metadata}},
        {.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = message},
        {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT},
        {.op = GRPC_OP_RECV_INITIAL_METADATA,
         .data.recv_initial_metadata.recv_initial_metadata = &c->initial},
        {.op = GRPC_OP_RECV_MESSAGE,
         .data.recv_message.recv_message = &c->message},
        {.op = GRPC_OP_RECV_STATUS_ON_CLIENT,
         .data.recv_status_on_client = {.trailing_metadata = &c->trailing,
                                        .status = &c->status,
                                        .status_details = &c->details}},
    };

    if (route->has_id)
        route->metadata[route->n_metadata - 1].value = id;
    c->n_open = c->is_stepped ? 3 : 1;
    if (!c->is_stepped) {
        start_batch(ops, N_SENT + 2, &c->ended, rpc_on_end);
    } else {
        start_batch(ops, N_SENT, &c->begun, rpc_on_begun);
        start_batch(&ops[N_SENT], 1, &c->received, rpc_on_received);
        start_batch(&ops[N_SENT + 1], 1, &c->ended, rpc_on_end);
    }
    if (route->has_id)
        route->metadata[route->n_metadata - 1].value = grpc_empty_slice();
}

/* Its message does not fit: nothing has been started. */
static void refuse(struct rpc_call *c)
{
    const struct transport_env *env = c->t->env;
    struct request *r = c->request;

    r->facts.end = transport_now(env);
    r->facts.outcome = OUTCOME_RESET;
    r->facts.detail = EMSGSIZE;
    r->why = response_break(&r->response, TARGET_TOO_LARGE);
    r->body_len = 0;
    r->conn = NULL;
    c->request = NULL;
    rpc_call_release(c);
    env->ended(env->arg, r);
}

void rpc_call_start(struct rpc_transport *t, struct request *r)
{
    struct rpc_call *c = take_call(t);
    grpc_slice id = grpc_empty_slice();
    grpc_byte_buffer *message;

    begin(c, r);
    message = make_message(t, c->route, r);
    if (!message) {
        refuse(c);
        return;
    }
    if (c->route->has_id)
        id = put_id(c);
    if (t->env->tap)
        tap_start(c, message);
    r->facts.bytes_out =
        (int64_t)grpc_byte_buffer_length(message) + RPC_FRAME_LEN;
    r->facts.sent = transport_now(t->env);
    start_ops(c, message, id);
    grpc_byte_buffer_destroy(message);
    grpc_slice_unref(id);
}
