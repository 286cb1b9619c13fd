/* The gRPC transport and a server that sends faster than the client takes. */
#include <arpa/inet.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/wire/http_message.h"
#include "loadgen/engine/request.h"
#include "loadgen/payload/workload.h"
#include "loadgen/prepare/target.h"
#include "loadgen/transport/grpc/grpc_queue.h"
#include "loadgen/transport/transport.h"
#include "tests/support/h2raw.h"
#include "tests/support/keep.h"
#include "tests/support/loopback.h"
#include "tests/support/test.h"

#define MAX_RESPONSE (RPC_MAX_BACKLOG + ((int64_t)8 << 20))
#define PATIENT_S    60
#define FRAME_LEN    5

/* ---- a transport to one server ---- */

struct rig {
    struct h2raw server;
    struct target_settings settings;
    struct targets targets;
    struct workload workload;
    struct transport_env env;
    void *transport;
    struct request request;
    int ended;
};

static void on_ended(void *arg, struct request *r)
{
    struct rig *rig = arg;

    (void)r;
    rig->ended++;
}

static struct rig *rig_new(struct h2raw server)
{
    struct rig *rig = xcalloc(1, sizeof(*rig));
    struct err err = {0};
    char *url = keepf("%s/any.Echo/Unary", server.url);

    rig->server = server;
    rig->settings.method = xstrdup("POST");
    rig->settings.body = xstrdup("x");
    rig->settings.connect_timeout_ns = PATIENT_S * NS_PER_S;
    rig->settings.max_response = MAX_RESPONSE;
    strlist_add(&rig->settings.urls, url);
    if (targets_init(&rig->targets, &rig->settings, NULL, &err))
        fail_msg("%s", err.msg);
    workload_of_one(&rig->workload, &rig->targets, NULL, &rig->settings);
    rig->env =
        (struct transport_env){.base = transport_base_new(&transport_grpc),
                               .clk = &clk_monotonic,
                               .start_ns = clk_now(&clk_monotonic),
                               .workload = &rig->workload,
                               .settings = &rig->settings,
                               .lane = {.worker = 0, .workers = 1},
                               .ended = on_ended,
                               .arg = rig};
    rig->transport = xcalloc(1, transport_grpc.state_size);
    if (transport_grpc.init(rig->transport, &rig->env, &err) ||
        transport_grpc.preconnect(rig->transport, 1, &err))
        fail_msg("%s", err.msg);
    return rig;
}

static void rig_free(struct rig *rig)
{
    transport_grpc.fini(rig->transport);
    free(rig->transport);
    event_base_free(rig->env.base);
    targets_fini(&rig->targets);
    strlist_fini(&rig->settings.urls);
    free(rig->settings.method);
    free(rig->settings.body);
    h2raw_stop(&rig->server);
    free(rig);
}

/* Inside the handoff. */
static void start(struct rig *rig)
{
    struct request *r = &rig->request;

    r->facts = facts_unknown(0, 0);
    r->facts.issued = transport_now(&rig->env);
    r->class = &rig->workload.one;
    r->deadline_ns = r->facts.issued + PATIENT_S * NS_PER_S;
    transport_grpc.start(rig->transport, r);
}

static bool is_late(const struct rig *rig)
{
    return transport_now(&rig->env) > PATIENT_S * NS_PER_S;
}

/* ---- a stream that is faster than the client ---- */

#define MESSAGE_LEN 16000

/* While the worker takes no messages, reading stops at the limit. */
TEST(backlog_is_bounded)
{
    struct rig *rig = rig_new(h2raw_start_endless(MESSAGE_LEN));
    struct handoff *handoff = transport_grpc.handoff(rig->transport);
    struct rpc_queue *queue =
        (void *)((char *)handoff - offsetof(struct rpc_queue, handoff));
    struct request *r = &rig->request;
    int64_t backlog = 0;

    handoff_enter(handoff);
    start(rig);
    while (backlog <= RPC_MAX_BACKLOG && !is_late(rig))
        backlog = atomic_load(&queue->backlog);
    /* One stream exceeds the limit by one message; then flow control stops the
     * server. */
    while (!atomic_load(rig->server.is_held) && !is_late(rig))
        continue;
    assert_in_range(atomic_load(&queue->backlog), RPC_MAX_BACKLOG + 1,
                    RPC_MAX_BACKLOG + MESSAGE_LEN + 200);

    while (rig->ended == 0 && !is_late(rig))
        handoff_wait(handoff, 10 * NS_PER_MS);
    assert_int_equal(rig->ended, 1);
    assert_int_equal(r->facts.outcome, OUTCOME_MALFORMED);
    assert_int_equal(r->facts.detail, HTTP1_LONG_BODY);
    assert_in_range(r->facts.bytes_in, MAX_RESPONSE + 1,
                    MAX_RESPONSE + MESSAGE_LEN + FRAME_LEN);
    handoff_leave(handoff);
    rig_free(rig);
}

/* ---- connections that are shut down for a library ---- */

static int connect_to(const void *address, socklen_t len)
{
    const struct sockaddr *a = address;
    int fd = socket(a->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, a, len), 0);
    return fd;
}

/* Write until the socket is full; the peer does not read. */
static void fill(int fd)
{
    static const char zeros[65536];

    while (send(fd, zeros, sizeof(zeros), MSG_DONTWAIT) > 0)
        continue;
}

static bool is_open(int fd)
{
    char c;

    return recv(fd, &c, 1, MSG_DONTWAIT) < 0;
}

/* Sockets of both families are found.  Those that are writable, and those to
 * another server, stay open. */
TEST(stuck_connections_are_shut)
{
    struct sockaddr_in peer = {0};
    struct sockaddr_in other = {0};
    struct sockaddr_in6 mapped = {.sin6_family = AF_INET6};
    int listeners[] = {loopback_listen(&peer, 4), loopback_listen(&other, 4)};
    int fds[4];

    mapped.sin6_port = peer.sin_port;
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.sin6_addr);
    fds[0] = connect_to(&peer, sizeof(peer));
    fds[1] = connect_to(&mapped, sizeof(mapped));
    fds[2] = connect_to(&peer, sizeof(peer));
    fds[3] = connect_to(&other, sizeof(other));
    fill(fds[0]);
    fill(fds[1]);
    fill(fds[3]);
    assert_int_equal(socket_shut_stuck((struct sockaddr *)&peer, false), 2);
    assert_false(is_open(fds[0]));
    assert_false(is_open(fds[1]));
    assert_true(is_open(fds[2]));
    assert_true(is_open(fds[3]));
    assert_true(socket_shut_stuck((struct sockaddr *)&peer, true) >= 1);
    assert_false(is_open(fds[2]));
    assert_true(is_open(fds[3]));
    for (size_t i = 0; i < 4; i++)
        close(fds[i]);
    close(listeners[0]);
    close(listeners[1]);
}
