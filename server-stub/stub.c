/* Connects the parts: the sockets, the server, and one timer for whatever is
 * due next. */
#include "server-stub/stub.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/heap.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "server-stub/front/front.h"
#include "server-stub/front/front_grpc.h"
#include "server-stub/front/front_tls.h"
#include "server-stub/front/stub_loop.h"
#include "server-stub/front/wire.h"
#include "server-stub/sim/stalls.h"
#include "server-stub/stub_config.h"
#include "server-stub/stub_server.h"
#include "server-stub/truth_log.h"

#define TICK_NS (50 * NS_PER_MS)

/* A client that a fault delays. */
struct unaccepted {
    int fd;
    bool is_grpc;
};

struct stub {
    const struct clk *clk;
    struct stub_config config;
    struct loop *loop;
    struct loop_timer *due;  /* for whatever is due next */
    struct loop_timer *tick; /* for the stop flag and the truth log */
    int64_t due_ns;          /* the time that `due` is set to */
    struct front *front;
    struct front_tls *tls;   /* NULL: no TLS */
    struct front_grpc *grpc; /* NULL: not wanted */
    struct listener *listener;
    struct server *server;
    struct heap unaccepted;  /* by time */
    struct truth_log *truth; /* NULL: not wanted */
};

int stub_check(const struct stub_settings *settings, struct err *err)
{
    struct stub_config config;

    return stub_config(settings, &config, err);
}

/* ---- events ---- */

static void set_timer(struct stub *stub)
{
    int64_t server_ns = server_next_ns(stub->server);
    int64_t accept_ns = heap_first_key(&stub->unaccepted);
    int64_t next_ns = server_ns < accept_ns ? server_ns : accept_ns;

    if (next_ns == stub->due_ns)
        return;
    stub->due_ns = next_ns;
    loop_timer_set(stub->due, next_ns);
}

static void take(struct stub *stub, int fd, bool is_grpc)
{
    if (is_grpc)
        front_grpc_take(stub->grpc, fd);
    else
        front_take(stub->front, fd);
}

/* Never early: server_advance() compares with the clock. */
static void on_due(void *arg)
{
    struct stub *stub = arg;
    int64_t now_ns = clk_now(stub->clk);

    stub->due_ns = INT64_MAX;
    server_advance(stub->server, now_ns);
    while (heap_first_key(&stub->unaccepted) <= now_ns) {
        struct unaccepted *client = heap_pop(&stub->unaccepted);

        take(stub, client->fd, client->is_grpc);
        free(client);
    }
    set_timer(stub);
}

static void on_request(void *arg, struct exchange *x)
{
    struct stub *stub = arg;

    server_request(stub->server, x, &wire_http);
    set_timer(stub);
}

static void on_grpc_request(void *arg, struct exchange *x)
{
    struct stub *stub = arg;

    server_request(stub->server, x, &wire_grpc);
    set_timer(stub);
}

static void on_ended(void *arg, struct exchange *x, int64_t sent_ns)
{
    const struct stub *stub = arg;

    server_ended(stub->server, x, sent_ns);
}

static const struct front_hooks hooks = {.request = on_request,
                                         .ended = on_ended};
static const struct front_hooks grpc_hooks = {.request = on_grpc_request,
                                              .ended = on_ended};

static void accept_client(struct stub *stub, int fd, bool is_grpc)
{
    int64_t now_ns = clk_now(stub->clk);
    int64_t delay_ns = server_accept_delay_ns(stub->server, now_ns);
    struct unaccepted *client;

    if (delay_ns == 0) {
        take(stub, fd, is_grpc);
        return;
    }
    client = xcalloc(1, sizeof(*client));
    *client = (struct unaccepted){fd, is_grpc};
    heap_push(&stub->unaccepted, time_after(now_ns, delay_ns), client);
    set_timer(stub);
}

static void on_client(void *arg, int fd)
{
    accept_client(arg, fd, false);
}

static void on_grpc_client(void *arg, int fd)
{
    accept_client(arg, fd, true);
}

static void on_tick(void *arg)
{
    struct stub *stub = arg;

    if (stub->truth)
        truth_log_tick(stub->truth, clk_now(stub->clk));
    if (atomic_load(&stop_signal) ||
        (stub->truth && truth_log_has_failed(stub->truth)))
        loop_stop(stub->loop);
}

/* ---- start and end ---- */

/* What was made is freed by stub_run(), even after a failure. */
static int stub_init(struct stub *stub, const struct stub_settings *settings,
                     const struct stub_options *options, struct err *err)
{
    bool has_tls = stub_has_tls(settings);
    struct listener_place place = {has_tls ? "https" : "http", settings->bind,
                                   settings->port};
    struct front_grpc_env env = {.clk = &clk_monotonic,
                                 .settings = settings,
                                 .hooks = &grpc_hooks,
                                 .accepted = on_grpc_client,
                                 .arg = stub};

    *stub = (struct stub){.clk = &clk_monotonic, .due_ns = INT64_MAX};
    if (stub_config(settings, &stub->config, err) ||
        !(stub->loop = loop_new(err)) ||
        !(stub->due = loop_timer_new(stub->loop, on_due, stub, err)) ||
        !(stub->tick = loop_timer_new(stub->loop, on_tick, stub, err)))
        return -1;
    loop_timer_sharpen(stub->due);
    if (settings->awake)
        loop_stay_awake(stub->loop);
    if (has_tls && front_tls_new(&stub->tls, settings, err))
        return -1;
    stub->front = front_new(stub->loop, stub->clk, &hooks, stub);
    front_use_tls(stub->front, stub->tls);
    stub->listener = listener_new(stub->loop, &place, on_client, stub, err);
    if (!stub->listener)
        return -1;
    env.loop = stub->loop;
    if (strcmp(settings->grpc_port, "none") != 0 &&
        !(stub->grpc = front_grpc_new(&env, err)))
        return -1;
    if (options->truth_path) {
        stub->truth = truth_log_new(options->truth_path,
                                    stub->config.sim.model->has_tokens, err);
        if (!stub->truth)
            return -1;
    }
    stub->server =
        server_new(settings, &stub->config, stub->truth, clk_now(stub->clk));
    loop_timer_repeat(stub->tick, TICK_NS);
    return 0;
}

int stub_run(const struct stub_settings *settings,
             const struct stub_options *options, struct err *err)
{
    struct err late = {0};
    struct stub stub;
    int rc;

    files_raise_limit();
    rc = stub_init(&stub, settings, options, err);
    if (rc == 0 && options->listening) {
        options->listening(options->arg, listener_url(stub.listener));
        if (stub.grpc)
            options->listening(options->arg, front_grpc_url(stub.grpc));
    }
    if (rc == 0)
        rc = loop_run(stub.loop, err);
    listener_free(stub.listener);
    while (stub.unaccepted.len > 0) {
        struct unaccepted *client = heap_pop(&stub.unaccepted);

        close(client->fd);
        free(client);
    }
    heap_fini(&stub.unaccepted);
    front_free(stub.front);
    front_tls_free(stub.tls);
    front_grpc_free(stub.grpc);
    server_free(stub.server);
    if (truth_log_free(stub.truth, &late) && rc == 0) {
        *err = late; /* the first failure is the one to report */
        rc = -1;
    }
    loop_timer_free(stub.tick);
    loop_timer_free(stub.due);
    loop_free(stub.loop);
    return rc;
}
