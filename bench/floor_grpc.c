/* The minimum cost of a client on gRPC's C-core: one thread, one completion
 * queue, N calls on their way, nothing recorded; and a server that costs as
 * little, so that it is the client's limit that is found.
 *
 *   floor_grpc serve                            echoes; prints its port
 *   floor_grpc unary PORT CALLS CHANNELS SECONDS
 *   floor_grpc stream PORT CALLS CHANNELS SECONDS   5 messages come back
 *
 * Clients print calls, messages and seconds.  Channels do not retry, share no
 * connection, count nothing for others and are never idle, as tailgate's. Calls
 * have a deadline, which C-core enforces here.
 */
#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"

#define UNARY    "/bench.Echo/Unary"
#define STREAM   "/bench.Echo/Stream"
#define MESSAGES 5
#define PAYLOAD  64  /* bytes of a message */
#define WAITING  512 /* calls that the server is ready for, of each kind */

static gpr_timespec never(void)
{
    return gpr_inf_future(GPR_CLOCK_MONOTONIC);
}

static void start(grpc_call *call, const grpc_op *ops, size_t n, void *tag)
{
    if (grpc_call_start_batch(call, ops, n, tag, NULL) != GRPC_CALL_OK)
        abort();
}

/* ---- the server ---- */

struct served {
    grpc_server *server;
    grpc_completion_queue *cq;
    void *method;
    bool is_stream;
    grpc_call *call;
    grpc_metadata_array metadata;
    gpr_timespec deadline;
    grpc_byte_buffer *message;
    int sent;    /* messages */
    int is_gone; /* written by gRPC, not used */
    bool is_waiting;
};

static void wait_for_call(struct served *s)
{
    s->is_waiting = true;
    s->sent = 0;
    s->message = NULL;
    grpc_metadata_array_init(&s->metadata);
    if (grpc_server_request_registered_call(
            s->server, s->method, &s->call, &s->deadline, &s->metadata,
            &s->message, s->cq, s->cq, s) != GRPC_CALL_OK)
        abort();
}

/* The next message and, with the last one, everything else. */
static void answer(struct served *s)
{
    grpc_byte_buffer *message = grpc_byte_buffer_copy(s->message);
    bool is_last = ++s->sent == (s->is_stream ? MESSAGES : 1);
    grpc_op ops[4];
    size_t n = 0;

    memset(ops, 0, sizeof(ops));
    if (s->sent == 1)
        ops[n++].op = GRPC_OP_SEND_INITIAL_METADATA;
    ops[n].op = GRPC_OP_SEND_MESSAGE;
    ops[n++].data.send_message.send_message = message;
    if (is_last) {
        ops[n].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
        ops[n++].data.send_status_from_server.status = GRPC_STATUS_OK;
        ops[n].op = GRPC_OP_RECV_CLOSE_ON_SERVER;
        ops[n++].data.recv_close_on_server.cancelled = &s->is_gone;
    }
    start(s->call, ops, n, s);
    grpc_byte_buffer_destroy(message);
}

static void go_on(struct served *s)
{
    bool is_over = !s->is_waiting && s->sent == (s->is_stream ? MESSAGES : 1);

    if (is_over || !s->message) {
        grpc_metadata_array_destroy(&s->metadata);
        if (s->message)
            grpc_byte_buffer_destroy(s->message);
        grpc_call_unref(s->call);
        wait_for_call(s);
        return;
    }
    s->is_waiting = false;
    answer(s);
}

static void serve(void)
{
    grpc_completion_queue *cq = grpc_completion_queue_create_for_next(NULL);
    grpc_server *server = grpc_server_create(NULL, NULL);
    grpc_server_credentials *creds = grpc_insecure_server_credentials_create();
    struct served *all = xcalloc(2 * (size_t)WAITING, sizeof(*all));
    void *unary = grpc_server_register_method(
        server, UNARY, NULL, GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER, 0);
    void *stream = grpc_server_register_method(
        server, STREAM, NULL, GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER, 0);

    grpc_server_register_completion_queue(server, cq, NULL);
    printf("%d\n", grpc_server_add_http2_port(server, "127.0.0.1:0", creds));
    fflush(stdout);
    grpc_server_start(server);
    for (int i = 0; i < 2 * WAITING; i++) {
        all[i] = (struct served){.server = server,
                                 .cq = cq,
                                 .is_stream = i % 2,
                                 .method = i % 2 ? stream : unary};
        wait_for_call(&all[i]);
    }
    for (;;) { /* until it is killed */
        grpc_event e = grpc_completion_queue_next(cq, never(), NULL);

        go_on(e.tag);
    }
}

/* ---- the client ---- */

struct client {
    grpc_completion_queue *cq;
    grpc_channel **channels;
    void **methods;
    size_t n_channels;
    size_t turn;
    bool is_stream;
    grpc_byte_buffer *message;
    int64_t until_ns;
    int64_t calls;
    int64_t messages;
    int64_t failed;
    size_t live;
};

struct flight;

/* What a tag says: which batch of which call. */
struct step {
    struct flight *flight;
    bool is_message;
};

struct flight {
    struct client *client;
    grpc_call *call;
    struct step others;
    struct step received;
    int open;
    grpc_metadata_array initial;
    grpc_metadata_array trailing;
    grpc_byte_buffer *answer;
    grpc_status_code status;
    grpc_slice details;
};

static void receive(struct flight *f)
{
    grpc_op op;

    memset(&op, 0, sizeof(op));
    op.op = GRPC_OP_RECV_MESSAGE;
    op.data.recv_message.recv_message = &f->answer;
    start(f->call, &op, 1, &f->received);
}

static void launch(struct flight *f)
{
    struct client *c = f->client;
    size_t turn = c->turn++ % c->n_channels;
    grpc_byte_buffer *message = grpc_byte_buffer_copy(c->message);
    int64_t due_ns = clk_now(&clk_monotonic) + 30 * NS_PER_S;
    gpr_timespec deadline = {.tv_sec = due_ns / NS_PER_S,
                             .tv_nsec = (int32_t)(due_ns % NS_PER_S),
                             .clock_type = GPR_CLOCK_MONOTONIC};
    grpc_op ops[6];

    memset(ops, 0, sizeof(ops));
    f->call = grpc_channel_create_registered_call(
        c->channels[turn], NULL, GRPC_PROPAGATE_DEFAULTS, c->cq,
        c->methods[turn], deadline, NULL);
    grpc_metadata_array_init(&f->initial);
    grpc_metadata_array_init(&f->trailing);
    f->answer = NULL;
    ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
    ops[1].op = GRPC_OP_SEND_MESSAGE;
    ops[1].data.send_message.send_message = message;
    ops[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
    ops[3].op = GRPC_OP_RECV_INITIAL_METADATA;
    ops[3].data.recv_initial_metadata.recv_initial_metadata = &f->initial;
    ops[4].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
    ops[4].data.recv_status_on_client.trailing_metadata = &f->trailing;
    ops[4].data.recv_status_on_client.status = &f->status;
    ops[4].data.recv_status_on_client.status_details = &f->details;
    ops[5].op = GRPC_OP_RECV_MESSAGE;
    ops[5].data.recv_message.recv_message = &f->answer;
    f->open = c->is_stream ? 3 : 1;
    if (c->is_stream) {
        start(f->call, ops, 4, &f->others);
        receive(f);
        start(f->call, &ops[4], 1, &f->others);
    } else {
        start(f->call, ops, 6, &f->others);
    }
    grpc_byte_buffer_destroy(message);
}

static void land(struct flight *f)
{
    struct client *c = f->client;

    c->calls++;
    c->failed += f->status != GRPC_STATUS_OK;
    if (f->answer) {
        c->messages++;
        grpc_byte_buffer_destroy(f->answer);
    }
    grpc_metadata_array_destroy(&f->initial);
    grpc_metadata_array_destroy(&f->trailing);
    grpc_slice_unref(f->details);
    grpc_call_unref(f->call);
    if (clk_now(&clk_monotonic) < c->until_ns)
        launch(f);
    else
        c->live--;
}

static void step_on(const struct step *s)
{
    struct flight *f = s->flight;

    if (s->is_message && f->answer) {
        f->client->messages++;
        grpc_byte_buffer_destroy(f->answer);
        f->answer = NULL;
        receive(f);
        return;
    }
    if (--f->open == 0)
        land(f);
}

static grpc_arg number(const char *key, int value)
{
    return (grpc_arg){.type = GRPC_ARG_INTEGER,
                      .key = (char *)(uintptr_t)key,
                      .value.integer = value};
}

static grpc_channel *make_channel(const char *port)
{
    grpc_arg args[] = {
        number(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1),
        number(GRPC_ARG_ENABLE_RETRIES, 0),
        number(GRPC_ARG_ENABLE_CHANNELZ, 0),
        number(GRPC_ARG_CLIENT_IDLE_TIMEOUT_MS, INT_MAX),
    };
    grpc_channel_credentials *creds = grpc_insecure_credentials_create();
    char *target = xasprintf("ipv4:127.0.0.1:%s", port);
    grpc_channel *channel = grpc_channel_create(
        target, creds,
        &(grpc_channel_args){.num_args = sizeof(args) / sizeof(args[0]),
                             .args = args});

    grpc_channel_credentials_release(creds);
    free(target);
    return channel;
}

static void open_channels(struct client *c, const char *port, size_t n)
{
    c->channels = xcalloc(n, sizeof(grpc_channel *));
    c->methods = xcalloc(n, sizeof(void *));
    c->n_channels = n;
    for (size_t i = 0; i < n; i++) {
        c->channels[i] = make_channel(port);
        c->methods[i] = grpc_channel_register_call(
            c->channels[i], c->is_stream ? STREAM : UNARY, NULL, NULL);
    }
}

static int drive(int argc, char **argv)
{
    static char payload[PAYLOAD];
    struct client c = {.cq = grpc_completion_queue_create_for_next(NULL)};
    grpc_slice slice = grpc_slice_from_static_buffer(payload, sizeof(payload));
    struct flight *flights;
    int64_t start_ns;

    if (argc != 6) {
        fprintf(stderr, "usage: floor_grpc unary|stream PORT CALLS CHANNELS "
                        "SECONDS\n");
        return 2;
    }
    c.is_stream = strcmp(argv[1], "stream") == 0;
    c.live = strtoul(argv[3], NULL, 10);
    c.message = grpc_raw_byte_buffer_create(&slice, 1);
    open_channels(&c, argv[2], strtoul(argv[4], NULL, 10));
    flights = xcalloc(c.live, sizeof(*flights));
    start_ns = clk_now(&clk_monotonic);
    c.until_ns = start_ns + strtol(argv[5], NULL, 10) * NS_PER_S;
    for (size_t i = 0, n = c.live; i < n; i++) {
        flights[i].client = &c;
        flights[i].others.flight = &flights[i];
        flights[i].received =
            (struct step){.flight = &flights[i], .is_message = true};
        launch(&flights[i]);
    }
    while (c.live > 0)
        step_on(grpc_completion_queue_next(c.cq, never(), NULL).tag);
    printf("%lld %lld %.3f\n", (long long)(c.calls - c.failed),
           (long long)c.messages,
           (double)(clk_now(&clk_monotonic) - start_ns) / (double)NS_PER_S);
    return c.failed > 0;
}

int main(int argc, char **argv)
{
    grpc_init();
    if (argc == 2 && strcmp(argv[1], "serve") == 0)
        serve();
    return drive(argc, argv);
}
