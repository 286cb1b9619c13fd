/* gRPC through C-core.
 *
 * A call belongs to the worker's thread; what gRPC tells of it is stamped by
 * the queue's (grpc_queue.h), which also goes on reading a stream.  The life of
 * a unary call is grpc_start() -> on_end() -> on_over(); of a stream
 * grpc_start() -> on_head() -> on_message()... -> on_over().
 */
#include <errno.h>
#include <event2/event.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/support/alloc.h>
#include <grpc/support/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/grpc_status.h"
#include "common/settings.h"
#include "common/xalloc.h"
#include "loadgen/api/api.h"
#include "loadgen/mix.h"
#include "loadgen/request.h"
#include "loadgen/session.h"
#include "loadgen/target.h"
#include "loadgen/transport/grpc_route.h"
#include "loadgen/transport/grpc_verdict.h"
#include "loadgen/transport/transport.h"

#define FRAME_LEN 5 /* before each message: a flag and its length */

#define TICK_NS     (10 * NS_PER_MS)
#define MAX_DETAILS 400

struct rpc_transport;

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
    struct rpc_post head;
    struct rpc_post over;

    /* What gRPC writes. */
    grpc_metadata_array initial;
    grpc_metadata_array trailing;
    grpc_byte_buffer *message;
    grpc_status_code status;
    grpc_slice details;
};

struct rpc_message {
    struct rpc_post post;
    struct rpc_call *call;
    grpc_byte_buffer *bytes;
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

static struct rpc_call *call_of_tag(struct rpc_tag *tag)
{
    return ((struct rpc_step *)(void *)tag)->call;
}

static struct rpc_call *call_of(struct rpc_post *post, size_t offset)
{
    return (struct rpc_call *)(void *)((char *)post - offset);
}

static int64_t since_start(const struct rpc_call *c, int64_t at_ns)
{
    return at_ns - c->t->env->start_ns;
}

/* ---- the queue's thread ---- */

static void post(struct rpc_call *c, struct rpc_post *p, int64_t at_ns)
{
    p->at_ns = at_ns;
    rpc_queue_post(&c->t->queue, p);
}

/* The last one of a call to be over ends it. */
static void close_step(struct rpc_call *c, int64_t at_ns)
{
    if (--c->n_open == 0)
        post(c, &c->over, at_ns);
}

static void on_end(struct rpc_tag *tag, bool ok, int64_t at_ns)
{
    (void)ok; /* the status says it */
    close_step(call_of_tag(tag), at_ns);
}

static void on_begun(struct rpc_tag *tag, bool ok, int64_t at_ns)
{
    struct rpc_call *c = call_of_tag(tag);

    if (ok)
        post(c, &c->head, at_ns);
    close_step(c, at_ns);
}

static void receive(struct rpc_call *c)
{
    grpc_op op = {0};

    op.op = GRPC_OP_RECV_MESSAGE;
    op.data.recv_message.recv_message = &c->message;
    grpc_call_start_batch(c->call, &op, 1, &c->received.tag, NULL);
}

static void on_message(struct rpc_post *post);

/* The next one must not wait for the worker: its time is taken here. */
static void on_received(struct rpc_tag *tag, bool ok, int64_t at_ns)
{
    struct rpc_call *c = call_of_tag(tag);
    struct rpc_message *m;

    if (!ok || !c->message) {
        close_step(c, at_ns);
        return;
    }
    m = xcalloc(1, sizeof(*m));
    *m = (struct rpc_message){
        .post.run = on_message, .call = c, .bytes = c->message};
    c->message = NULL;
    post(c, &m->post, at_ns);
    receive(c);
}

/* ---- the end of a call ---- */

static void unlink_call(struct rpc_call *c)
{
    if (c->previous)
        c->previous->next = c->next;
    else
        c->t->live = c->next;
    if (c->next)
        c->next->previous = c->previous;
}

static void release(struct rpc_call *c)
{
    struct rpc_transport *t = c->t;

    grpc_call_unref(c->call);
    grpc_metadata_array_destroy(&c->initial);
    grpc_metadata_array_destroy(&c->trailing);
    grpc_slice_unref(c->details);
    if (c->message)
        grpc_byte_buffer_destroy(c->message);
    c->message = NULL;
    c->call = NULL;
    unlink_call(c);
    c->next = t->unused;
    t->unused = c;
}

/* A call that found no connection waited for one, which was there before it was
 * sent. */
static void take_connection(const struct rpc_call *c, struct facts *f)
{
    int64_t ready_ns = c->channel->ready_ns == TIME_ABSENT
                           ? TIME_ABSENT
                           : since_start(c, c->channel->ready_ns);

    if (!c->waits || ready_ns == TIME_ABSENT || ready_ns < f->issued)
        return;
    f->is_fresh = 1;
    f->connected = ready_ns;
    if (f->sent < ready_ns)
        f->sent = ready_ns;
}

static struct rpc_verdict judge(const struct rpc_call *c, const char *details,
                                int64_t now)
{
    return rpc_judge(&(struct rpc_ending){
        .code = (int)c->status,
        .details = details,
        .has_begun = c->n_messages > 0,
        .is_late = now >= c->request->deadline_ns,
    });
}

/* What the API makes of it. */
static void read_end(const struct rpc_call *c, const struct rpc_verdict *v,
                     const char *why)
{
    struct request *r = c->request;

    if (v->outcome == OUTCOME_OK)
        r->why = response_finish(&r->response, RPC_OK, r->facts.end);
    else
        r->why = response_break(&r->response, why);
}

static void tap_end(const struct rpc_call *c, const char *details)
{
    const struct transport_env *env = c->t->env;
    const char *name = rpc_status_name((long)c->status);
    char text[MAX_DETAILS + 100];
    int len;

    if (!env->tap)
        return;
    len = snprintf(text, sizeof(text), "\ngrpc-status: %d %s%s%.*s\n",
                   (int)c->status, name ? name : "", details[0] ? ", " : "",
                   MAX_DETAILS, details);
    if (len > 0)
        env->tap(env->arg, false, text, (size_t)len);
}

/* A status of success, and not one message: of a unary call that is no answer.
 * NULL: it is fine. */
static const char *find_miscount(const struct rpc_call *c)
{
    if (c->is_stream || c->status != GRPC_STATUS_OK || c->n_messages == 1)
        return NULL;
    return c->n_messages == 0 ? "status OK without a message"
                              : "several messages; is it a stream? (--stream "
                                "on)";
}

/* Of most calls there is nothing to judge. */
static void judge_end(const struct rpc_call *c, int64_t now,
                      struct rpc_verdict *v)
{
    char *details;

    v->outcome = OUTCOME_OK;
    v->detail = 0;
    v->text[0] = '\0';
    if (c->status == GRPC_STATUS_OK) {
        tap_end(c, "");
        return;
    }
    details = grpc_slice_to_c_string(c->details);
    *v = judge(c, details, now);
    tap_end(c, details);
    gpr_free(details);
}

/* The call is given back first: the next one, which may begin here, finds its
 * memory warm. */
static void conclude(struct rpc_call *c, int64_t now)
{
    const struct transport_env *env = c->t->env;
    struct request *r = c->request;
    struct facts *f = &r->facts;
    const char *miscount = find_miscount(c);
    struct rpc_verdict v;

    judge_end(c, now, &v);
    if (miscount) {
        v.outcome = OUTCOME_MALFORMED;
        v.detail = RESPONSE_BAD_BODY;
        snprintf(v.text, sizeof(v.text), "%s", miscount);
    }
    c->route->is_unary |= c->n_messages == 1 && v.outcome == OUTCOME_OK;
    f->status = v.outcome == OUTCOME_STATUS ? v.detail : 0;
    f->end = now;
    f->outcome = v.outcome;
    f->detail = v.detail;
    if (v.outcome == OUTCOME_STATUS ||
        (v.outcome == OUTCOME_OK && !r->class->api))
        f->first = f->last = now;
    take_connection(c, f);
    r->why = v.text;
    r->body_len = 0;
    if (r->class->api)
        read_end(c, &v, v.text);
    r->conn = NULL;
    c->request = NULL;
    release(c);
    env->ended(env->arg, r);
}

static void give_message(struct rpc_call *c, grpc_byte_buffer *bytes,
                         int64_t now);

static void on_over(struct rpc_post *p)
{
    struct rpc_call *c = call_of(p, offsetof(struct rpc_call, over));
    int64_t now = since_start(c, p->at_ns);

    if (c->request && c->message && !c->is_stepped) {
        c->request->facts.head = now;
        give_message(c, c->message, now);
    }
    if (c->request)
        conclude(c, now);
    else
        release(c);
}

/* ---- what comes ---- */

static void on_head(struct rpc_post *p)
{
    struct rpc_call *c = call_of(p, offsetof(struct rpc_call, head));

    if (c->request)
        c->request->facts.head = since_start(c, p->at_ns);
}

static void take_bytes(struct rpc_call *c, const char *data, size_t len,
                       int64_t now)
{
    const struct transport_env *env = c->t->env;
    struct request *r = c->request;

    c->n_messages++;
    r->facts.bytes_in += (int64_t)len + FRAME_LEN;
    if (env->tap)
        env->tap(env->arg, false, data, len);
    if (!r->class->api)
        return;
    if (c->is_stream)
        response_message(&r->response, now, data, len);
    else
        response_take(&r->response, RPC_OK, now, data, len);
}

/* Most are in one piece, and read where they are. */
static void give_message(struct rpc_call *c, grpc_byte_buffer *bytes,
                         int64_t now)
{
    grpc_byte_buffer_reader reader;
    size_t len = grpc_byte_buffer_length(bytes);
    grpc_slice *first = NULL;
    grpc_slice whole;

    if (!grpc_byte_buffer_reader_init(&reader, bytes))
        return;
    if (len == 0) {
        take_bytes(c, "", 0, now);
    } else if (grpc_byte_buffer_reader_peek(&reader, &first) &&
               GRPC_SLICE_LENGTH(*first) == len) {
        take_bytes(c, (const char *)GRPC_SLICE_START_PTR(*first), len, now);
    } else {
        grpc_byte_buffer_reader_destroy(&reader);
        if (!grpc_byte_buffer_reader_init(&reader, bytes))
            return;
        whole = grpc_byte_buffer_reader_readall(&reader);
        take_bytes(c, (const char *)GRPC_SLICE_START_PTR(whole),
                   GRPC_SLICE_LENGTH(whole), now);
        grpc_slice_unref(whole);
    }
    grpc_byte_buffer_reader_destroy(&reader);
}

static void on_message(struct rpc_post *p)
{
    struct rpc_message *m = (struct rpc_message *)(void *)p;

    if (m->call->request)
        give_message(m->call, m->bytes, since_start(m->call, p->at_ns));
    grpc_byte_buffer_destroy(m->bytes);
    free(m);
}

/* ---- the beginning ---- */

static struct rpc_call *take_call(struct rpc_transport *t)
{
    struct rpc_call *c = t->unused;

    if (c) {
        t->unused = c->next;
    } else {
        c = xcalloc(1, sizeof(*c));
        c->t = t;
        c->begun.call = c;
        c->received.call = c;
        c->ended.call = c;
        c->head.run = on_head;
        c->over.run = on_over;
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
        &t->routes.routes[mix_route(r->class, request_place(&r->facts))];
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
        start_batch(ops, N_SENT + 2, &c->ended, on_end);
    } else {
        start_batch(ops, N_SENT, &c->begun, on_begun);
        start_batch(&ops[N_SENT], 1, &c->received, on_received);
        start_batch(&ops[N_SENT + 1], 1, &c->ended, on_end);
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
    release(c);
    env->ended(env->arg, r);
}

static void grpc_start(void *self, struct request *r)
{
    struct rpc_transport *t = self;
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
    r->facts.bytes_out = (int64_t)grpc_byte_buffer_length(message) + FRAME_LEN;
    r->facts.sent = transport_now(t->env);
    start_ops(c, message, id);
    grpc_byte_buffer_destroy(message);
    grpc_slice_unref(id);
}

/* ---- the other ops ---- */

/* Connections are shared: the engine's bound on requests in flight is all. */
static bool grpc_has_room(void *self)
{
    (void)self;
    return true;
}

/* gRPC tells of its end all the same, and nobody listens. */
static void grpc_cancel(void *self, struct request *r)
{
    struct rpc_call *c = r->conn;

    (void)self;
    take_connection(c, &r->facts);
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

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg; /* that the loop came back is all */
}

/* There are so many channels and no more: all of them are opened. */
static int grpc_preconnect(void *self, int64_t n, struct err *err)
{
    struct rpc_transport *t = self;
    const struct transport_env *env = t->env;
    int64_t until_ns = clk_now(env->clk) + env->settings->connect_timeout_ns;
    struct timeval tv = clk_timeval(TICK_NS);
    struct event *tick = event_new(env->base, -1, EV_PERSIST, on_tick, NULL);
    struct rpc_channel *c;
    int rc = 0;

    (void)n;
    event_add(tick, &tv);
    while (rc == 0 && (c = find_missing(&t->routes))) {
        rpc_channel_connect(c);
        event_base_loop(env->base, EVLOOP_ONCE);
        if (c->state == GRPC_CHANNEL_TRANSIENT_FAILURE ||
            clk_now(env->clk) > until_ns)
            rc = refuse_connection(c, err);
    }
    event_free(tick);
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

    t->env = env;
    buf_init(&t->body, TARGET_MAX_REQUEST);
    gpr_set_log_function(say_nothing);
    grpc_init();
    t->is_global = true;
    if (rpc_queue_init(&t->queue, env->base, env->clk, err))
        return -1;
    return rpc_routes_init(&t->routes, env, &t->queue, err);
}

/* Every call ends before the queue does. */
static void grpc_transport_fini(void *self)
{
    struct rpc_transport *t = self;
    struct rpc_call *next;

    if (!t->is_global)
        return;
    for (struct rpc_call *c = t->live; c; c = c->next) {
        c->request = NULL;
        grpc_call_cancel(c->call, NULL);
    }
    while (t->live)
        rpc_queue_wait(&t->queue);
    rpc_routes_fini(&t->routes, &t->queue);
    rpc_queue_fini(&t->queue);
    for (struct rpc_call *c = t->unused; c; c = next) {
        next = c->next;
        free(c);
    }
    buf_fini(&t->body);
    grpc_shutdown_blocking();
}

const struct transport_ops transport_grpc = {
    .name = "grpc",
    .state_size = sizeof(struct rpc_transport),
    .connects_ahead = true,
    .init = grpc_transport_init,
    .preconnect = grpc_preconnect,
    .has_room = grpc_has_room,
    .start = grpc_start,
    .cancel = grpc_cancel,
    .connections = grpc_connections,
    .cpu_ns = grpc_cpu_ns,
    .fini = grpc_transport_fini,
};
