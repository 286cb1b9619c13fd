/* gRPC through C-core.  The life of a request:
 *
 *   grpc_start() -> start_ops() -> C-core
 *   unary:  on_end_seen() -> on_over() -> conclude()
 *   stream: on_begun_seen() -> on_head(), on_received_seen() -> on_message()
 *           again and again, on_end_seen() -> on_over() -> conclude()
 *
 * The functions called ..._seen() run on the queue's thread (grpc_queue.h),
 * which takes the time and goes on reading a stream; everything else runs
 * inside the handoff.
 */
#include <errno.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/support/alloc.h>
#include <grpc/support/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/wire/http_message.h"
#include "common/wire/status.h"
#include "loadgen/api/api.h"
#include "loadgen/engine/request.h"
#include "loadgen/payload/workload.h"
#include "loadgen/prepare/target.h"
#include "loadgen/schedule/session.h"
#include "loadgen/transport/grpc/grpc_channel.h"
#include "loadgen/transport/grpc/grpc_outcome.h"
#include "loadgen/transport/transport.h"

#define TICK_NS (10 * NS_PER_MS)

/* At the end cancelled calls get CANCEL_NS to end by themselves, and FORCE_NS
 * more until every connection is shut down. */
#define CANCEL_NS (100 * NS_PER_MS)
#define FORCE_NS  NS_PER_S

/* The deadline is sent in milliseconds, and a server may end a call this much
 * before it. */
#define DEADLINE_GRAIN_NS (2 * NS_PER_MS)

#define MAX_DETAILS 400
#define FRAME_LEN   5 /* before each message: a flag and its length */

/* One batch of operations, whose tag gRPC returns when it is complete. */
struct rpc_batch {
    struct rpc_tag tag;
    struct rpc_call *call;
};

struct rpc_call {
    struct rpc_transport *t;
    struct rpc_call *next; /* in the list of live or unused calls */
    struct rpc_call *previous;
    struct request *request; /* NULL: it was cancelled */
    struct rpc_route *route;
    const struct rpc_channel *channel;
    grpc_call *call;
    bool is_stream;  /* any number of messages may come */
    bool is_stepped; /* messages are read one after the other */
    bool waits;      /* for a connection, as far as is known */
    int n_messages;  /* received so far */

    int n_open; /* batches not complete; the queue's thread counts */
    struct rpc_batch begun;    /* stream: request sent, head received */
    struct rpc_batch received; /* stream: one message after the other */
    struct rpc_batch ended;    /* the status; of a unary call everything */
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
    bool is_global;  /* gRPC was initialised */
};

struct rpc_message {
    struct post post;
    struct rpc_call *call;
    grpc_byte_buffer *bytes;
    size_t cost;  /* bytes, for the backlog */
    bool resumes; /* reading was paused; go on after this message */
};

static struct rpc_call *call_of_tag(struct rpc_tag *tag)
{
    return ((struct rpc_batch *)(void *)tag)->call;
}

static struct rpc_call *call_of_post(struct post *post, size_t offset)
{
    return (struct rpc_call *)(void *)((char *)post - offset);
}

static int64_t since_start(const struct rpc_call *c, int64_t at_ns)
{
    return at_ns - c->t->env->start_ns;
}

/* ---- the end of a call ---- */

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
    if (c->previous)
        c->previous->next = c->next;
    else
        t->live = c->next;
    if (c->next)
        c->next->previous = c->previous;
    c->next = t->unused;
    t->unused = c;
}

/* A call that found no connection waited for one, which was established before
 * the call was sent. */
static void take_connection(const struct rpc_call *c)
{
    struct facts *f = &c->request->facts;
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

static struct request *detach_request(struct rpc_call *c)
{
    struct request *r = c->request;

    r->conn = NULL;
    c->request = NULL;
    return r;
}

/* End the request with a failure; the caller ends or cancels the call. */
static struct request *fail_request(struct rpc_call *c, int64_t now,
                                    enum outcome outcome, int64_t detail,
                                    const char *why)
{
    struct request *r = detach_request(c);

    request_break(r, now, outcome, detail, why);
    return r;
}

/* End the request and cancel the call, which ends later. */
static void break_off(struct rpc_call *c, int64_t now, enum outcome outcome,
                      int64_t detail, const char *why)
{
    const struct transport_env *env = c->t->env;
    struct request *r;

    take_connection(c);
    r = fail_request(c, now, outcome, detail, why);
    grpc_call_cancel(c->call, NULL);
    env->ended(env->arg, r);
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

/* Only v->text[0] is set for a call that succeeded, which most do. */
static void judge(const struct rpc_call *c, int64_t now, struct rpc_verdict *v)
{
    const struct request *r = c->request;
    const char *miscount = NULL;

    v->outcome = OUTCOME_OK;
    v->detail = 0;
    v->text[0] = '\0';
    if (c->status == GRPC_STATUS_OK) {
        tap_end(c, "");
        if (!c->is_stream && c->n_messages != 1)
            miscount = c->n_messages == 0
                           ? "status OK without a message"
                           : "several messages; is it a stream? (--stream on)";
    } else {
        char *details = grpc_slice_to_c_string(c->details);

        *v = rpc_judge(&(struct rpc_ending){
            .code = (int)c->status,
            .details = details,
            .has_begun = c->n_messages > 0,
            .is_late = now >= r->deadline_ns - DEADLINE_GRAIN_NS,
            .is_aging = r->deadline_ns - now <= now - r->facts.issued,
        });
        tap_end(c, details);
        gpr_free(details);
    }
    if (miscount) {
        v->outcome = OUTCOME_MALFORMED;
        v->detail = RESPONSE_BAD_BODY;
        snprintf(v->text, sizeof(v->text), "%s", miscount);
    }
}

/* The call is released before the request ends: the next one, which may begin
 * there, finds its memory in the cache. */
static void conclude(struct rpc_call *c, int64_t now)
{
    const struct transport_env *env = c->t->env;
    struct request *r = c->request;
    struct facts *f = &r->facts;
    struct rpc_verdict v;

    judge(c, now, &v);
    c->route->is_unary |= c->n_messages == 1 && v.outcome == OUTCOME_OK;
    f->status = v.outcome == OUTCOME_STATUS ? v.detail : 0;
    f->end = now;
    f->outcome = v.outcome;
    f->detail = v.detail;
    if (v.outcome == OUTCOME_STATUS ||
        (v.outcome == OUTCOME_OK && !r->class->api))
        f->first = f->last = now;
    take_connection(c);
    r->why = v.text;
    if (r->class->api)
        r->why = v.outcome == OUTCOME_OK
                     ? response_finish(&r->response, RPC_OK, f->end)
                     : response_break(&r->response, v.text);
    detach_request(c);
    release(c);
    env->ended(env->arg, r);
}

/* ---- what is received, inside the handoff ---- */

/* C-core limits each message; max_response limits the sum of a stream's
 * messages as well. */
static void take_bytes(struct rpc_call *c, const char *data, size_t len,
                       int64_t now)
{
    const struct transport_env *env = c->t->env;
    struct request *r = c->request;

    c->n_messages++;
    r->facts.bytes_in += (int64_t)len + FRAME_LEN;
    if (env->tap)
        env->tap(env->arg, false, data, len);
    if (c->n_messages > 1 && r->facts.bytes_in > env->settings->max_response) {
        break_off(c, now, OUTCOME_MALFORMED, HTTP1_LONG_BODY,
                  http1_error_text(HTTP1_LONG_BODY));
        return;
    }
    if (!r->class->api)
        return;
    if (c->is_stream)
        response_message(&r->response, now, data, len);
    else
        response_take(&r->response, RPC_OK, now, data, len);
    if (response_is_starved(&r->response))
        break_off(c, now, OUTCOME_TRUNCATED, 0, NULL);
}

/* Most messages are in one piece, and are not copied. */
static void take_message(struct rpc_call *c, grpc_byte_buffer *bytes,
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

/* A server that ends a call at its deadline also produces a head; that one does
 * not count. */
static void on_head(struct post *p)
{
    struct rpc_call *c = call_of_post(p, offsetof(struct rpc_call, head));
    int64_t now = since_start(c, p->at_ns);

    if (c->request && now < c->request->deadline_ns - DEADLINE_GRAIN_NS)
        c->request->facts.head = now;
}

static void receive(struct rpc_call *c);

static void on_message(struct post *p)
{
    struct rpc_message *m = (struct rpc_message *)(void *)p;

    if (m->call->request)
        take_message(m->call, m->bytes, since_start(m->call, p->at_ns));
    grpc_byte_buffer_destroy(m->bytes);
    rpc_queue_drop_backlog(&m->call->t->queue, m->cost);
    if (m->resumes)
        receive(m->call);
    free(m);
}

static void on_over(struct post *p)
{
    struct rpc_call *c = call_of_post(p, offsetof(struct rpc_call, over));
    int64_t now = since_start(c, p->at_ns);

    if (c->request && c->message && !c->is_stepped) {
        c->request->facts.head = now;
        take_message(c, c->message, now);
    }
    if (c->request)
        conclude(c, now);
    else
        release(c);
}

/* ---- the queue's thread ---- */

/* The call is over when its last batch is. */
static void close_batch(struct rpc_call *c, int64_t at_ns)
{
    if (--c->n_open == 0)
        rpc_queue_post(&c->t->queue, &c->over, at_ns);
}

static void on_end_seen(struct rpc_tag *tag, bool ok, int64_t at_ns)
{
    (void)ok; /* the status says it */
    close_batch(call_of_tag(tag), at_ns);
}

static void on_begun_seen(struct rpc_tag *tag, bool ok, int64_t at_ns)
{
    struct rpc_call *c = call_of_tag(tag);

    if (ok)
        rpc_queue_post(&c->t->queue, &c->head, at_ns);
    close_batch(c, at_ns);
}

/* The next read starts at once, because the time is taken here.  If the backlog
 * is full, it starts after the worker has taken this message. */
static void on_received_seen(struct rpc_tag *tag, bool ok, int64_t at_ns)
{
    struct rpc_call *c = call_of_tag(tag);
    struct rpc_message *m;
    bool resumes;
    size_t cost;

    if (!ok || !c->message) {
        close_batch(c, at_ns);
        return;
    }
    m = xcalloc(1, sizeof(*m));
    cost = sizeof(*m) + grpc_byte_buffer_length(c->message);
    resumes = rpc_queue_add_backlog(&c->t->queue, cost);
    *m = (struct rpc_message){.post.run = on_message,
                              .call = c,
                              .bytes = c->message,
                              .cost = cost,
                              .resumes = resumes};
    c->message = NULL;
    rpc_queue_post(&c->t->queue, &m->post, at_ns);
    if (!resumes)
        receive(c);
}

/* ---- the beginning of a call ---- */

static void start_batch(const grpc_op *ops, size_t n, struct rpc_batch *batch,
                        rpc_seen_fn *seen)
{
    grpc_call_error error;

    rpc_tag_arm(&batch->tag, seen);
    error = grpc_call_start_batch(batch->call->call, ops, n, &batch->tag, NULL);
    if (error != GRPC_CALL_OK)
        abort(); /* the batch is wrong */
}

static void receive(struct rpc_call *c)
{
    grpc_op op = {0};

    op.op = GRPC_OP_RECV_MESSAGE;
    op.data.recv_message.recv_message = &c->message;
    start_batch(&op, 1, &c->received, on_received_seen);
}

/* A call in the list of live ones, for this request. */
static struct rpc_call *begin(struct rpc_transport *t, struct request *r)
{
    struct rpc_route *route =
        &t->routes.routes[workload_route(r->class, request_place(&r->facts))];
    size_t turn = route->place->turn++ % route->place->len;
    int64_t deadline_ns = t->env->start_ns + r->deadline_ns;
    gpr_timespec deadline = {.tv_sec = deadline_ns / NS_PER_S,
                             .tv_nsec = (int32_t)(deadline_ns % NS_PER_S),
                             .clock_type = GPR_CLOCK_MONOTONIC};
    struct rpc_call *c = t->unused;

    if (c) {
        t->unused = c->next;
    } else {
        c = xcalloc(1, sizeof(*c));
        c->t = t;
        c->begun.call = c->received.call = c->ended.call = c;
        c->head.run = on_head;
        c->over.run = on_over;
    }
    c->previous = NULL;
    c->next = t->live;
    if (c->next)
        c->next->previous = c;
    t->live = c;
    c->request = r;
    r->conn = c;
    r->facts.target = route->place - t->routes.places;
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
        route->handles[turn], deadline, NULL);
    if (c->is_stream)
        response_expect_messages(&r->response);
    return c;
}

static void tap_slice(const struct transport_env *env, grpc_slice slice)
{
    env->tap(env->arg, true, (const char *)GRPC_SLICE_START_PTR(slice),
             GRPC_SLICE_LENGTH(slice));
}

/* Like the lines of an HTTP request. */
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

#define N_SENT 4 /* the operations that both kinds begin with */

/* A unary call is one batch, with one completion to wait for.  A call that
 * turns out to have several messages would never complete that way, so the
 * first calls of a method are read like streams until one has had exactly one
 * message. */
static void start_ops(struct rpc_call *c, grpc_byte_buffer *message)
{
    const struct rpc_route *route = c->route;
    grpc_metadata *id =
        route->has_id ? &route->metadata[route->n_metadata - 1] : NULL;
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

    if (id) {
        char digits[TARGET_ID_DIGITS];

        target_put_id(digits, c->request->facts.seq);
        id->value = grpc_slice_from_copied_buffer(digits, sizeof(digits));
    }
    c->n_open = c->is_stepped ? 3 : 1;
    if (!c->is_stepped) {
        start_batch(ops, N_SENT + 2, &c->ended, on_end_seen);
    } else {
        start_batch(ops, N_SENT, &c->begun, on_begun_seen);
        start_batch(&ops[N_SENT], 1, &c->received, on_received_seen);
        start_batch(&ops[N_SENT + 1], 1, &c->ended, on_end_seen);
    }
    if (id) {
        grpc_slice_unref(id->value);
        id->value = grpc_empty_slice();
    }
}

/* GRPC_OP_SEND_MESSAGE empties its buffer, so that each call needs its own; the
 * bytes of a message that is the same for all are shared. */
static void grpc_start(void *self, struct request *r)
{
    struct rpc_transport *t = self;
    struct rpc_call *c = begin(t, r);
    grpc_byte_buffer *message = NULL;
    if (c->route->message) {
        message = grpc_byte_buffer_copy(c->route->message);
    } else {
        buf_reset(&t->body);
        api_make_body(r->class->api, &r->facts, &r->row, r->session, &t->body);
        if (!t->body.overflowed)
            message = rpc_message_new(&t->body);
    }
    if (!message) {
        fail_request(c, transport_now(t->env), OUTCOME_RESET, EMSGSIZE,
                     TARGET_TOO_LARGE);
        release(c);
        t->env->ended(t->env->arg, r);
        return;
    }
    if (t->env->tap)
        tap_start(c, message);
    r->facts.bytes_out = (int64_t)grpc_byte_buffer_length(message) + FRAME_LEN;
    r->facts.sent = transport_now(t->env);
    start_ops(c, message);
    grpc_byte_buffer_destroy(message);
}

/* ---- the other ops ---- */

/* Connections are shared: only max_in_flight limits the requests. */
static bool grpc_has_room(void *self)
{
    (void)self;
    return true;
}

/* gRPC still reports the call's end, which is then ignored. */
static void grpc_cancel(void *self, struct request *r)
{
    struct rpc_call *c = r->conn;

    (void)self;
    take_connection(c);
    detach_request(c);
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

    return t->queue.has_thread ? clk_cpu_ns_of(t->queue.thread) : 0;
}

static int report_no_connection(struct rpc_channel *c, struct err *err)
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

/* The number of channels is fixed: all of them are opened, whatever n is. */
static int grpc_preconnect(void *self, int64_t n, struct err *err)
{
    struct rpc_transport *t = self;
    const struct transport_env *env = t->env;
    int64_t until_ns = clk_now(env->clk) + env->settings->connect_timeout_ns;
    struct rpc_channel *c;
    int rc = 0;

    (void)n;
    handoff_enter(&t->queue.handoff);
    while (rc == 0 && (c = rpc_routes_find_unready(&t->routes))) {
        grpc_channel_check_connectivity_state(c->channel, 1); /* connect */
        handoff_wait(&t->queue.handoff, TICK_NS);
        if (c->state == GRPC_CHANNEL_TRANSIENT_FAILURE ||
            clk_now(env->clk) > until_ns)
            rc = report_no_connection(c, err);
        else if (atomic_load(&stop_signal))
            rc = err_set(err, ERR_IO, "interrupted");
    }
    handoff_leave(&t->queue.handoff);
    return rc;
}

/* gRPC's log is not shown: what it has to say of a call is in its status. */
static void ignore_log(gpr_log_func_args *args)
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
    gpr_set_log_function(ignore_log);
    grpc_init();
    t->is_global = true;
    if (rpc_queue_init(&t->queue, env->base, env->clk, err))
        return -1;
    handoff_enter(&t->queue.handoff);
    rc = rpc_routes_init(&t->routes, env, &t->queue, err);
    handoff_leave(&t->queue.handoff);
    return rc;
}

static struct handoff *grpc_handoff(void *self)
{
    struct rpc_transport *t = self;

    return &t->queue.handoff;
}

/* Every call must end before the queue does.  A cancelled call ends within
 * milliseconds, unless a write on its connection is blocked because the server
 * does not read.  Such connections are shut down; if calls are still left after
 * FORCE_NS, whatever the reason, every connection to these servers is.
 *
 * After a blocked connection was shut down, a thread of C-core polls for up to
 * 10 s, and grpc_shutdown_blocking() would wait for it.  C-core is left running
 * then; its threads sleep. */
static void grpc_transport_fini(void *self)
{
    struct rpc_transport *t = self;
    int64_t until_ns = clk_now(&clk_monotonic) + CANCEL_NS;
    struct rpc_call *next;

    if (!t->is_global)
        return;
    if (t->queue.has_thread) {
        handoff_enter(&t->queue.handoff);
        for (struct rpc_call *c = t->live; c; c = c->next) {
            c->request = NULL;
            grpc_call_cancel(c->call, NULL);
        }
        while (t->live) {
            int64_t now;

            handoff_wait(&t->queue.handoff, TICK_NS);
            now = clk_now(&clk_monotonic);
            if (now > until_ns)
                rpc_routes_break(&t->routes, now > until_ns + FORCE_NS);
        }
        rpc_routes_fini(&t->routes, &t->queue);
        handoff_leave(&t->queue.handoff);
    }
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
    .handoff = grpc_handoff,
    .has_room = grpc_has_room,
    .start = grpc_start,
    .cancel = grpc_cancel,
    .connections = grpc_connections,
    .cpu_ns = grpc_cpu_ns,
    .fini = grpc_transport_fini,
};
