/* What comes of a call: its head, its messages, its end.  A unary one is
 * rpc_on_end() -> on_over(); a stream rpc_on_begun() -> on_head(),
 * rpc_on_received() -> on_message() again and again, rpc_on_end() -> on_over().
 * The first of each pair is on the queue's thread, the second inside of the
 * gate. */
#include <grpc/byte_buffer_reader.h>
#include <grpc/support/alloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/wire/http_message.h"
#include "common/wire/status.h"
#include "loadgen/api/api.h"
#include "loadgen/engine/request.h"
#include "loadgen/payload/workload.h"
#include "loadgen/transport/grpc_call.h"
#include "loadgen/transport/grpc_verdict.h"
#include "loadgen/transport/transport.h"

#define MAX_DETAILS 400

/* The deadline goes out in milliseconds, and a server may end a call so much
 * before it. */
#define GRAIN_NS (2 * NS_PER_MS)

struct rpc_message {
    struct post post;
    struct rpc_call *call;
    grpc_byte_buffer *bytes;
    size_t cost;  /* bytes, for the backlog */
    bool resumes; /* reading was paused; go on after this message */
};

static struct rpc_call *call_of_tag(struct rpc_tag *tag)
{
    return ((struct rpc_step *)(void *)tag)->call;
}

static struct rpc_call *call_of(struct post *post, size_t offset)
{
    return (struct rpc_call *)(void *)((char *)post - offset);
}

static bool is_late(const struct request *r, int64_t now)
{
    return now >= r->deadline_ns - GRAIN_NS;
}

/* More of the time that the server was given is over than left. */
static bool is_aging(const struct request *r, int64_t now)
{
    return r->deadline_ns - now <= now - r->facts.issued;
}

static int64_t since_start(const struct rpc_call *c, int64_t at_ns)
{
    return at_ns - c->t->env->start_ns;
}

/* ---- the queue's thread ---- */

/* The last one of a call to be over ends it. */
static void close_step(struct rpc_call *c, int64_t at_ns)
{
    if (--c->n_open == 0)
        rpc_queue_post(&c->t->queue, &c->over, at_ns);
}

void rpc_on_end(struct rpc_tag *tag, bool ok, int64_t at_ns)
{
    (void)ok; /* the status says it */
    close_step(call_of_tag(tag), at_ns);
}

void rpc_on_begun(struct rpc_tag *tag, bool ok, int64_t at_ns)
{
    struct rpc_call *c = call_of_tag(tag);

    if (ok)
        rpc_queue_post(&c->t->queue, &c->head, at_ns);
    close_step(c, at_ns);
}

static void receive(struct rpc_call *c)
{
    grpc_op op = {0};

    op.op = GRPC_OP_RECV_MESSAGE;
    op.data.recv_message.recv_message = &c->message;
    rpc_tag_arm(&c->received.tag, rpc_on_received);
    grpc_call_start_batch(c->call, &op, 1, &c->received.tag, NULL);
}

static void on_message(struct post *post);

/* The next read starts at once, because the time is taken here.  If the backlog
 * is full, it starts after the worker has taken this message. */
void rpc_on_received(struct rpc_tag *tag, bool ok, int64_t at_ns)
{
    struct rpc_call *c = call_of_tag(tag);
    struct rpc_message *m;
    bool resumes;
    size_t cost;

    if (!ok || !c->message) {
        close_step(c, at_ns);
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

/* ---- what comes ---- */

/* A server that ends a call at its deadline ends all of it, this as if it had
 * come. */
static void on_head(struct post *p)
{
    struct rpc_call *c = call_of(p, offsetof(struct rpc_call, head));
    int64_t now = since_start(c, p->at_ns);

    if (c->request && !is_late(c->request, now))
        c->request->facts.head = now;
}

/* End the request and cancel the call, which ends later. */
static void break_off(struct rpc_call *c, int64_t now, enum outcome outcome,
                      int64_t detail, const char *why)
{
    const struct transport_env *env = c->t->env;
    struct request *r = c->request;

    rpc_call_take_connection(c);
    r->facts.end = now;
    r->facts.outcome = outcome;
    r->facts.detail = detail;
    r->why = r->class->api ? response_break(&r->response, why) : why;
    r->body_len = 0;
    r->conn = NULL;
    c->request = NULL;
    grpc_call_cancel(c->call, NULL);
    env->ended(env->arg, r);
}

/* C-core limits each message; this limits the sum of a stream's messages. */
static bool is_too_long(const struct rpc_call *c)
{
    return c->n_messages > 1 &&
           c->request->facts.bytes_in > c->t->env->settings->max_response;
}

static void take_bytes(struct rpc_call *c, const char *data, size_t len,
                       int64_t now)
{
    const struct transport_env *env = c->t->env;
    struct request *r = c->request;

    c->n_messages++;
    r->facts.bytes_in += (int64_t)len + RPC_FRAME_LEN;
    if (env->tap)
        env->tap(env->arg, false, data, len);
    if (is_too_long(c)) {
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

static void on_message(struct post *p)
{
    struct rpc_message *m = (struct rpc_message *)(void *)p;

    if (m->call->request)
        give_message(m->call, m->bytes, since_start(m->call, p->at_ns));
    grpc_byte_buffer_destroy(m->bytes);
    rpc_queue_drop_backlog(&m->call->t->queue, m->cost);
    if (m->resumes)
        receive(m->call);
    free(m);
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

void rpc_call_release(struct rpc_call *c)
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
void rpc_call_take_connection(const struct rpc_call *c)
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

static struct rpc_verdict judge(const struct rpc_call *c, const char *details,
                                int64_t now)
{
    return rpc_judge(&(struct rpc_ending){
        .code = (int)c->status,
        .details = details,
        .has_begun = c->n_messages > 0,
        .is_late = is_late(c->request, now),
        .is_aging = is_aging(c->request, now),
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
    rpc_call_take_connection(c);
    r->why = v.text;
    r->body_len = 0;
    if (r->class->api)
        read_end(c, &v, v.text);
    r->conn = NULL;
    c->request = NULL;
    rpc_call_release(c);
    env->ended(env->arg, r);
}

static void on_over(struct post *p)
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
        rpc_call_release(c);
}

void rpc_call_listen(struct rpc_call *c)
{
    c->begun.call = c;
    c->received.call = c;
    c->ended.call = c;
    c->head.run = on_head;
    c->over.run = on_over;
}
