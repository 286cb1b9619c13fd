/* A call has at most one pending operation of each kind.  settle(), which ends
 * every call from outside, reports requests that are over and frees what is no
 * longer needed. */
#include "server-stub/front/front_grpc_call.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/support/alloc.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "server-stub/front/front.h"

enum op {
    OP_ARRIVE, /* a call arrives */
    OP_READ,   /* a message is read */
    OP_SEND,   /* head, message and status, or some of them, are sent */
    OP_CLOSE,  /* the client has received everything, or is gone */
    OPS,
};

struct tag {
    struct rpc *rpc;
    enum op op;
};

/* A request: one message of the client. */
struct ask {
    struct exchange x; /* first: an exchange's address is that of its ask */
    struct rpc *rpc;
    struct ask *next;
    grpc_slice body;
    size_t unsent;   /* messages of its answer */
    int64_t sent_ns; /* time of the last message */
    bool is_held;    /* front_end() or front_break() will be called */
    bool is_lost;    /* part of the answer was not sent */
};

struct message {
    struct message *next;
    struct ask *ask;
    grpc_byte_buffer *bytes;
};

struct rpc {
    struct rpc_home *home;
    struct rpc *prev;
    struct rpc *next;
    struct tag tags[OPS];
    bool is_pending[OPS];
    grpc_call *call; /* NULL: none has arrived yet */
    grpc_call_details details;
    grpc_metadata_array metadata;
    grpc_byte_buffer *received;
    int was_cancelled;
    bool is_stream;
    bool is_at_eof;        /* the client sends no more */
    bool is_nested;        /* inside `request`: settle() is called later */
    bool has_head;         /* sent, or being sent */
    bool has_status;       /* the same: nothing can follow */
    bool is_failed;        /* nothing reaches the client any more */
    bool breaks;           /* cut the connection once everything is sent ... */
    bool resets;           /* ... with a RST */
    int status;            /* 0: OK */
    char *why;             /* owned */
    struct ask *asks;      /* requests that are not over */
    struct ask *sent;      /* the one whose message is being sent */
    struct message *first; /* to send */
    struct message **end;
};

static void settle(struct rpc *rpc);

/* ---- the connection ---- */

/* C-core names a connection that was passed to it "fd:7".  One that it accepted
 * itself, for TLS, is out of reach: its call is cancelled instead. */
static void cut(struct rpc *rpc)
{
    const struct sockaddr unspecified = {.sa_family = AF_UNSPEC};
    char *peer = grpc_call_get_peer(rpc->call);
    bool has_fd = strncmp(peer, "fd:", 3) == 0;
    int fd = has_fd ? (int)strtol(peer + 3, NULL, 10) : -1;

    gpr_free(peer);
    rpc->is_failed = true;
    if (fd < 0)
        grpc_call_cancel_with_status(rpc->call, GRPC_STATUS_UNAVAILABLE,
                                     "broken off by the stub", NULL);
    else if (rpc->resets) /* this connect() sends a RST */
        (void)connect(fd, &unspecified, sizeof(unspecified));
    else
        shutdown(fd, SHUT_RDWR);
}

/* ---- sending ---- */

static void start(struct rpc *rpc, enum op op, const grpc_op *ops, size_t n)
{
    rpc->is_pending[op] = true;
    if (grpc_call_start_batch(rpc->call, ops, n, &rpc->tags[op], NULL) !=
        GRPC_CALL_OK) {
        rpc->is_pending[op] = false;
        rpc->is_failed = true;
    }
}

static void message_free(struct message *m)
{
    grpc_byte_buffer_destroy(m->bytes);
    free(m);
}

static struct message *take_message(struct rpc *rpc)
{
    struct message *m = rpc->first;

    rpc->first = m->next;
    if (!rpc->first)
        rpc->end = &rpc->first;
    return m;
}

/* Will no message follow those that are queued? */
static bool is_complete(const struct rpc *rpc)
{
    bool has_held = false;

    for (const struct ask *ask = rpc->asks; ask; ask = ask->next)
        has_held = has_held || ask->is_held;
    return !rpc->breaks && (rpc->status != 0 || (rpc->is_at_eof && !has_held));
}

/* The answer of a unary call is sent in one piece, so it waits for its end. */
static void send_next(struct rpc *rpc)
{
    grpc_slice why = grpc_empty_slice();
    struct message *m = NULL;
    grpc_op ops[3];
    size_t n = 0;

    if (rpc->is_pending[OP_SEND] || rpc->is_failed || rpc->has_status ||
        (!rpc->is_stream && !rpc->breaks && !is_complete(rpc)))
        return;
    if (rpc->first)
        m = take_message(rpc);
    rpc->has_status = !rpc->first && is_complete(rpc);
    if (!rpc->has_head && (m || rpc->has_status))
        ops[n++] = (grpc_op){.op = GRPC_OP_SEND_INITIAL_METADATA};
    if (m) {
        ops[n] = (grpc_op){.op = GRPC_OP_SEND_MESSAGE};
        ops[n++].data.send_message.send_message = m->bytes;
        rpc->sent = m->ask;
    }
    if (rpc->has_status) {
        why = grpc_slice_from_copied_string(rpc->why ? rpc->why : "");
        ops[n] = (grpc_op){.op = GRPC_OP_SEND_STATUS_FROM_SERVER};
        ops[n].data.send_status_from_server.status =
            (grpc_status_code)rpc->status;
        ops[n++].data.send_status_from_server.status_details = &why;
    }
    if (n > 0) {
        rpc->has_head = true;
        start(rpc, OP_SEND, ops, n);
    }
    grpc_slice_unref(why);
    if (m)
        message_free(m);
}

/* ---- the operations of the front ---- */

static void send_message(struct exchange *x, const char *data, size_t len)
{
    struct ask *ask = (struct ask *)x;
    struct rpc *rpc = ask->rpc;
    grpc_slice slice;
    struct message *m;

    if (rpc->is_failed || rpc->has_status || rpc->status != 0) {
        ask->is_lost = true;
        return;
    }
    slice = grpc_slice_from_copied_buffer(data, len);
    m = xcalloc(1, sizeof(*m));
    m->ask = ask;
    m->bytes = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    ask->unsent++;
    *rpc->end = m;
    rpc->end = &m->next;
    send_next(rpc);
}

/* The first status other than OK becomes that of the call. */
static void end(struct exchange *x)
{
    struct ask *ask = (struct ask *)x;
    struct rpc *rpc = ask->rpc;

    ask->is_held = false;
    if (x->status != 0 && rpc->status == 0) {
        rpc->status = x->status;
        rpc->why = xstrdup(x->why ? x->why : "");
    }
    settle(rpc);
}

static void break_off(struct exchange *x, bool with_reset)
{
    struct ask *ask = (struct ask *)x;
    struct rpc *rpc = ask->rpc;

    ask->is_held = false;
    ask->is_lost = true;
    rpc->breaks = true;
    rpc->resets |= with_reset;
    settle(rpc);
}

static const struct front_ops ops = {
    .send = send_message, .end = end, .break_off = break_off};

/* ---- reading ---- */

static void read_next(struct rpc *rpc)
{
    grpc_op todo = {.op = GRPC_OP_RECV_MESSAGE};

    todo.data.recv_message.recv_message = &rpc->received;
    start(rpc, OP_READ, &todo, 1);
}

static const char *text_of(const grpc_slice *slice)
{
    return (const char *)GRPC_SLICE_START_PTR(*slice);
}

static struct ask *ask_new(struct rpc *rpc)
{
    struct ask *ask = xcalloc(1, sizeof(*ask));
    grpc_byte_buffer_reader reader;

    ask->rpc = rpc;
    ask->is_held = true;
    ask->sent_ns = TIME_ABSENT;
    ask->body = grpc_empty_slice();
    if (grpc_byte_buffer_reader_init(&reader, rpc->received)) {
        ask->body = grpc_byte_buffer_reader_readall(&reader);
        grpc_byte_buffer_reader_destroy(&reader);
    }
    ask->next = rpc->asks;
    rpc->asks = ask;
    ask->x = (struct exchange){
        .ops = &ops,
        .method = "POST",
        .body = text_of(&ask->body),
        .body_len = GRPC_SLICE_LENGTH(ask->body),
        .id = TIME_ABSENT,
        .json_len = TIME_ABSENT,
        .arrival_ns = clk_now(rpc->home->clk),
        .keeps_alive = true,
    };
    for (size_t i = 0; i < rpc->metadata.count; i++) {
        const grpc_metadata *item = &rpc->metadata.metadata[i];

        front_take_header(&ask->x, text_of(&item->key),
                          GRPC_SLICE_LENGTH(item->key), text_of(&item->value),
                          GRPC_SLICE_LENGTH(item->value));
    }
    front_copy(ask->x.path, sizeof(ask->x.path), text_of(&rpc->details.method),
               GRPC_SLICE_LENGTH(rpc->details.method));
    return ask;
}

/* A message was read, or the client has ended its stream. */
static void on_read(struct rpc *rpc)
{
    const struct rpc_home *home = rpc->home;
    struct ask *ask;

    rpc->is_at_eof = !rpc->is_stream || !rpc->received;
    if (!rpc->received) {
        if (rpc->is_stream)
            return;
        rpc->status = GRPC_STATUS_INVALID_ARGUMENT;
        rpc->why = xstrdup("no message");
        return;
    }
    if (home->is_closing) {
        rpc->is_failed = true;
        return;
    }
    ask = ask_new(rpc);
    grpc_byte_buffer_destroy(rpc->received);
    rpc->received = NULL;
    rpc->is_nested = true;
    home->hooks->request(home->arg, &ask->x);
    rpc->is_nested = false;
    if (rpc->is_stream)
        read_next(rpc);
}

/* ---- the life of a call ---- */

void rpc_expect(struct rpc_home *home)
{
    struct rpc *rpc = xcalloc(1, sizeof(*rpc));

    rpc->home = home;
    rpc->end = &rpc->first;
    for (int i = 0; i < OPS; i++)
        rpc->tags[i] = (struct tag){rpc, (enum op)i};
    grpc_call_details_init(&rpc->details);
    grpc_metadata_array_init(&rpc->metadata);
    rpc->next = home->first;
    if (rpc->next)
        rpc->next->prev = rpc;
    home->first = rpc;
    rpc->is_pending[OP_ARRIVE] = true;
    grpc_server_request_call(home->server, &rpc->call, &rpc->details,
                             &rpc->metadata, home->cq, home->cq,
                             &rpc->tags[OP_ARRIVE]);
}

static void rpc_free(struct rpc *rpc)
{
    if (rpc->prev)
        rpc->prev->next = rpc->next;
    else
        rpc->home->first = rpc->next;
    if (rpc->next)
        rpc->next->prev = rpc->prev;
    if (rpc->call)
        grpc_call_unref(rpc->call);
    if (rpc->received)
        grpc_byte_buffer_destroy(rpc->received);
    grpc_call_details_destroy(&rpc->details);
    grpc_metadata_array_destroy(&rpc->metadata);
    free(rpc->why);
    free(rpc);
}

/* Report the requests that are over: in a stream with their last message, in a
 * unary call with its status. */
static void report_finished(struct rpc *rpc)
{
    const struct rpc_home *home = rpc->home;
    struct ask **at = &rpc->asks;

    while (*at) {
        struct ask *ask = *at;
        bool is_over = rpc->is_failed || rpc->is_stream ||
                       (rpc->has_status && !rpc->is_pending[OP_SEND]);
        bool is_sent =
            !ask->is_lost && (ask->sent_ns != TIME_ABSENT || !rpc->is_failed);

        if (ask->is_held || ask->unsent > 0 || !is_over) {
            at = &ask->next;
            continue;
        }
        *at = ask->next;
        if (is_sent && ask->sent_ns == TIME_ABSENT)
            ask->sent_ns = clk_now(home->clk);
        home->hooks->ended(home->arg, &ask->x,
                           is_sent ? ask->sent_ns : TIME_ABSENT);
        grpc_slice_unref(ask->body);
        free(ask);
    }
}

/* Do what follows from the current state. */
static void settle(struct rpc *rpc)
{
    bool is_idle = true;

    if (rpc->is_nested)
        return;
    send_next(rpc);
    if (rpc->breaks && !rpc->is_failed &&
        (rpc->resets || (!rpc->first && !rpc->is_pending[OP_SEND])))
        cut(rpc);
    while (rpc->is_failed && rpc->first) {
        struct message *m = take_message(rpc);

        m->ask->unsent--;
        m->ask->is_lost = true;
        message_free(m);
    }
    report_finished(rpc);
    for (int i = 0; i < OPS; i++)
        is_idle = is_idle && !rpc->is_pending[i];
    if (is_idle && !rpc->asks)
        rpc_free(rpc);
}

void rpc_on_done(void *tag, bool ok, int64_t at_ns)
{
    const struct tag *done = tag;
    struct rpc *rpc = done->rpc;
    grpc_op todo = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER};
    char path[FRONT_MAX_PATH];

    rpc->is_pending[done->op] = false;
    switch (done->op) {
    case OP_ARRIVE:
        if (!ok)
            break;
        if (!rpc->home->is_closing)
            rpc_expect(rpc->home);
        front_copy(path, sizeof(path), text_of(&rpc->details.method),
                   GRPC_SLICE_LENGTH(rpc->details.method));
        rpc->is_stream = strstr(path, "Stream") != NULL;
        todo.data.recv_close_on_server.cancelled = &rpc->was_cancelled;
        start(rpc, OP_CLOSE, &todo, 1);
        read_next(rpc);
        break;
    case OP_READ:
        on_read(rpc);
        break;
    case OP_SEND:
        if (rpc->sent) {
            rpc->sent->unsent--;
            rpc->sent->sent_ns = at_ns;
            rpc->sent->is_lost |= !ok;
        }
        rpc->sent = NULL;
        rpc->is_failed |= !ok;
        break;
    case OP_CLOSE:
        if (rpc->was_cancelled)
            rpc->is_failed = true;
        break;
    case OPS:
        break;
    }
    settle(rpc);
}

void rpc_abandon_all(struct rpc_home *home)
{
    struct rpc *next;

    for (struct rpc *rpc = home->first; rpc; rpc = next) {
        next = rpc->next;
        rpc->is_failed = true;
        for (struct ask *ask = rpc->asks; ask; ask = ask->next)
            ask->is_held = false;
        settle(rpc);
    }
}
