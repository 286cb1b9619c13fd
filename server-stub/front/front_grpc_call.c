/* At any time a call has at most one operation of each kind under way;
 * settle(), with which every call from outside ends, reports requests that are
 * over and frees what nobody needs any more. */
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
    OP_ARRIVE, /* the call */
    OP_READ,   /* a message */
    OP_SEND,   /* head, message and status, or some of them */
    OP_CLOSE,  /* the client has got everything, or is gone */
    OPS,
};

struct tag {
    struct rpc *rpc;
    enum op op;
};

/* A request: one message of the client's. */
struct ask {
    struct exchange x; /* first: an exchange's address is its ask's */
    struct rpc *rpc;
    struct ask *next;
    grpc_slice body;
    size_t unsent;   /* messages of its answer */
    int64_t sent_ns; /* of the last */
    bool is_held;    /* front_end() or front_break() will come */
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
    grpc_call *call; /* NULL: none has come yet */
    grpc_call_details details;
    grpc_metadata_array metadata;
    grpc_byte_buffer *received;
    int was_cancelled;
    bool is_stream;
    bool is_at_eof;        /* the client sends no more */
    bool is_nested;        /* inside `request`: settle() comes later */
    bool has_head;         /* sent, or under way */
    bool has_status;       /* likewise: nothing can follow */
    bool is_failed;        /* nothing gets to the client any more */
    bool breaks;           /* cut the connection after what is unsent ... */
    bool resets;           /* ... with a RST */
    int status;            /* 0: OK */
    char *why;             /* owned */
    struct ask *asks;      /* those that are not over */
    struct ask *sent;      /* whose message is under way */
    struct message *first; /* of those to send */
    struct message **end;
};

static void settle(struct rpc *rpc);

/* ---- the connection ---- */

/* A socket that we were given has its number as its name; one that gRPC
 * accepted itself, for TLS, is out of reach. */
static int socket_of(const struct rpc *rpc)
{
    static const char named[] = "fd:";
    char *peer = grpc_call_get_peer(rpc->call);
    int fd = -1;

    if (strncmp(peer, named, strlen(named)) == 0)
        fd = (int)strtol(peer + strlen(named), NULL, 10);
    gpr_free(peer);
    return fd;
}

static void cut(struct rpc *rpc)
{
    const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    int fd = socket_of(rpc);

    rpc->is_failed = true;
    if (fd < 0)
        grpc_call_cancel_with_status(rpc->call, GRPC_STATUS_UNAVAILABLE,
                                     "broken off by the stub", NULL);
    else if (rpc->resets)
        (void)connect(fd, &nobody, sizeof(nobody)); /* which is a RST */
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

static bool has_held(const struct rpc *rpc)
{
    for (const struct ask *ask = rpc->asks; ask; ask = ask->next) {
        if (ask->is_held)
            return true;
    }
    return false;
}

/* Nothing follows the messages that are there? */
static bool is_complete(const struct rpc *rpc)
{
    if (rpc->breaks)
        return false;
    return rpc->status != 0 || (rpc->is_at_eof && !has_held(rpc));
}

static grpc_op status_op(const struct rpc *rpc, grpc_slice *why)
{
    grpc_op todo = {.op = GRPC_OP_SEND_STATUS_FROM_SERVER};

    *why = grpc_slice_from_copied_string(rpc->why ? rpc->why : "");
    todo.data.send_status_from_server.status = (grpc_status_code)rpc->status;
    todo.data.send_status_from_server.status_details = why;
    return todo;
}

/* The answer to a single message goes out in one piece: it waits for its end.
 */
static bool has_to_wait(const struct rpc *rpc)
{
    return rpc->is_pending[OP_SEND] || rpc->is_failed || rpc->has_status ||
           (!rpc->is_stream && !rpc->breaks && !is_complete(rpc));
}

static void send_next(struct rpc *rpc)
{
    grpc_slice why = grpc_empty_slice();
    struct message *m = NULL;
    grpc_op ops[3];
    size_t n = 0;

    if (has_to_wait(rpc))
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
    if (rpc->has_status)
        ops[n++] = status_op(rpc, &why);
    if (n > 0) {
        rpc->has_head = true;
        start(rpc, OP_SEND, ops, n);
    }
    grpc_slice_unref(why);
    if (m)
        message_free(m);
}

static void drop_unsent(struct rpc *rpc)
{
    while (rpc->first) {
        struct message *m = take_message(rpc);

        m->ask->unsent--;
        m->ask->is_lost = true;
        message_free(m);
    }
}

static void on_sent(struct rpc *rpc, bool ok, int64_t at_ns)
{
    struct ask *ask = rpc->sent;

    rpc->sent = NULL;
    if (ask) {
        ask->unsent--;
        ask->sent_ns = at_ns;
        ask->is_lost |= !ok;
    }
    if (!ok)
        rpc->is_failed = true;
}

/* ---- what the server says ---- */

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

/* The first status that is not OK is the call's. */
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

static void copy(char *out, size_t size, grpc_slice slice)
{
    size_t len = GRPC_SLICE_LENGTH(slice);

    if (len >= size)
        len = size - 1;
    memcpy(out, GRPC_SLICE_START_PTR(slice), len);
    out[len] = '\0';
}

/* A number among the metadata; `absent` if there is none. */
static int64_t number(const struct rpc *rpc, const char *key, int64_t absent)
{
    for (size_t i = 0; i < rpc->metadata.count; i++) {
        const grpc_metadata *item = &rpc->metadata.metadata[i];

        if (grpc_slice_str_cmp(item->key, key) == 0)
            return front_digits((const char *)GRPC_SLICE_START_PTR(item->value),
                                GRPC_SLICE_LENGTH(item->value), absent);
    }
    return absent;
}

/* All of a message in one piece. */
static grpc_slice whole(grpc_byte_buffer *bytes)
{
    grpc_byte_buffer_reader reader;
    grpc_slice slice;

    if (!grpc_byte_buffer_reader_init(&reader, bytes))
        return grpc_empty_slice();
    slice = grpc_byte_buffer_reader_readall(&reader);
    grpc_byte_buffer_reader_destroy(&reader);
    return slice;
}

static struct ask *ask_new(struct rpc *rpc)
{
    struct ask *ask = xcalloc(1, sizeof(*ask));

    ask->rpc = rpc;
    ask->is_held = true;
    ask->sent_ns = TIME_ABSENT;
    ask->body = whole(rpc->received);
    ask->next = rpc->asks;
    rpc->asks = ask;
    ask->x = (struct exchange){
        .ops = &ops,
        .method = "POST",
        .body = (const char *)GRPC_SLICE_START_PTR(ask->body),
        .body_len = GRPC_SLICE_LENGTH(ask->body),
        .id = number(rpc, "x-tailgate-id", TIME_ABSENT),
        .priority = number(rpc, "x-priority", 0),
        .json_len = TIME_ABSENT,
        .arrival_ns = clk_now(rpc->home->clk),
        .keeps_alive = true,
    };
    copy(ask->x.path, sizeof(ask->x.path), rpc->details.method);
    return ask;
}

static void serve(struct rpc *rpc)
{
    const struct rpc_home *home = rpc->home;
    struct ask *ask = ask_new(rpc);

    grpc_byte_buffer_destroy(rpc->received);
    rpc->received = NULL;
    rpc->is_nested = true;
    home->hooks->request(home->arg, &ask->x);
    rpc->is_nested = false;
    if (rpc->is_stream)
        read_next(rpc);
}

/* The end of a call that should have had one message is not its answer. */
static void on_read(struct rpc *rpc)
{
    rpc->is_at_eof = !rpc->is_stream || !rpc->received;
    if (rpc->received && rpc->home->is_closing)
        rpc->is_failed = true;
    else if (rpc->received)
        serve(rpc);
    else if (!rpc->is_stream) {
        rpc->status = GRPC_STATUS_INVALID_ARGUMENT;
        rpc->why = xstrdup("no message");
    }
}

/* ---- the life of a call ---- */

static void on_arrived(struct rpc *rpc)
{
    grpc_op todo = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER};
    char path[FRONT_MAX_PATH];

    if (!rpc->home->is_closing)
        rpc_expect(rpc->home);
    copy(path, sizeof(path), rpc->details.method);
    rpc->is_stream = strstr(path, "Stream") != NULL;
    todo.data.recv_close_on_server.cancelled = &rpc->was_cancelled;
    start(rpc, OP_CLOSE, &todo, 1);
    read_next(rpc);
}

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

/* An answer to one message is over with its status, others with their last
 * message. */
static bool is_over(const struct rpc *rpc, const struct ask *ask)
{
    if (ask->is_held || ask->unsent > 0)
        return false;
    return rpc->is_failed || rpc->is_stream ||
           (rpc->has_status && !rpc->is_pending[OP_SEND]);
}

static void report(struct rpc *rpc, struct ask *ask)
{
    const struct rpc_home *home = rpc->home;
    bool is_sent =
        !ask->is_lost && (ask->sent_ns != TIME_ABSENT || !rpc->is_failed);

    if (is_sent && ask->sent_ns == TIME_ABSENT)
        ask->sent_ns = clk_now(home->clk);
    home->hooks->ended(home->arg, &ask->x,
                       is_sent ? ask->sent_ns : TIME_ABSENT);
    grpc_slice_unref(ask->body);
    free(ask);
}

static void report_those_over(struct rpc *rpc)
{
    struct ask **at = &rpc->asks;

    while (*at) {
        struct ask *ask = *at;

        if (is_over(rpc, ask)) {
            *at = ask->next;
            report(rpc, ask);
        } else {
            at = &ask->next;
        }
    }
}

static bool is_idle(const struct rpc *rpc)
{
    for (int i = 0; i < OPS; i++) {
        if (rpc->is_pending[i])
            return false;
    }
    return !rpc->asks;
}

/* What follows from the state that we are in now. */
static void settle(struct rpc *rpc)
{
    if (rpc->is_nested)
        return;
    send_next(rpc);
    if (rpc->breaks && !rpc->is_failed &&
        (rpc->resets || (!rpc->first && !rpc->is_pending[OP_SEND])))
        cut(rpc);
    if (rpc->is_failed)
        drop_unsent(rpc);
    report_those_over(rpc);
    if (is_idle(rpc))
        rpc_free(rpc);
}

void rpc_on_done(void *tag, bool ok, int64_t at_ns)
{
    const struct tag *done = tag;
    struct rpc *rpc = done->rpc;

    rpc->is_pending[done->op] = false;
    switch (done->op) {
    case OP_ARRIVE:
        if (ok)
            on_arrived(rpc);
        break;
    case OP_READ:
        on_read(rpc);
        break;
    case OP_SEND:
        on_sent(rpc, ok, at_ns);
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
