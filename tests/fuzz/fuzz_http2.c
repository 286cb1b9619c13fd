/* Whatever a server sends, each request of the HTTP/2 transport ends once, or
 * is still there to be given up, and nothing is left behind.  An input is the
 * length of the pieces, what follows them (a close or a reset), and the bytes
 * of the server; seeds are recorded sessions. */
#include <arpa/inet.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/engine/request.h"
#include "loadgen/payload/workload.h"
#include "loadgen/prepare/target.h"
#include "loadgen/transport/transport.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUESTS  4
#define MAX_INPUT ((size_t)64 << 10)

/* Turns of the event loop: loopback delivers at once. */
#define TURNS 4

struct rig {
    struct event_base *base;
    struct clk_fake clk;
    struct target_settings settings;
    struct targets targets;
    struct workload workload;
    struct transport_env env;
    void *self;
    int listener;
    struct request requests[REQUESTS];
    int ended[REQUESTS];
};

static void on_ended(void *arg, struct request *r)
{
    struct rig *rig = arg;

    rig->ended[r->facts.seq]++;
}

static void turn(const struct rig *rig)
{
    for (int i = 0; i < TURNS; i++)
        event_base_loop(rig->base, EVLOOP_NONBLOCK);
}

static void begin(struct rig *rig)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    struct err err = {0};
    char *url;

    rig->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(rig->listener, (struct sockaddr *)&address, len) ||
        listen(rig->listener, REQUESTS) ||
        getsockname(rig->listener, (struct sockaddr *)&address, &len))
        abort();
    url = xasprintf("http://127.0.0.1:%d/", ntohs(address.sin_port));
    strlist_add(&rig->settings.urls, url);
    free(url);
    rig->settings.method = xstrdup("POST");
    rig->settings.body = xstrdup("hello");
    rig->settings.http2 = true;
    rig->settings.connect_timeout_ns = NS_PER_S;
    rig->settings.max_response = 10000;
    if (targets_init(&rig->targets, &rig->settings, NULL, &err))
        abort();
    rig->base = event_base_new();
    rig->clk = clk_fake_at(1000);
    workload_of_one(&rig->workload, &rig->targets, NULL, &rig->settings);
    rig->env = (struct transport_env){
        .base = rig->base,
        .clk = &rig->clk.clk,
        .workload = &rig->workload,
        .settings = &rig->settings,
        .max_connections = 2,
        .lane = {.workers = 1},
        .ended = on_ended,
        .arg = rig,
    };
    rig->self = xcalloc(1, transport_http2.state_size);
    if (transport_http2.init(rig->self, &rig->env, &err))
        abort();
    for (int i = 0; i < REQUESTS; i++) {
        rig->requests[i].class = &rig->workload.classes[0];
        rig->requests[i].facts = facts_unknown(i, 0);
        transport_http2.start(rig->self, &rig->requests[i]);
    }
}

static void end(struct rig *rig)
{
    for (int i = 0; i < REQUESTS; i++) {
        if (rig->ended[i] > 1)
            abort();
        if (rig->ended[i] == 0)
            transport_http2.cancel(rig->self, &rig->requests[i]);
    }
    turn(rig);
    transport_http2.fini(rig->self);
    free(rig->self);
    workload_fini(&rig->workload);
    targets_fini(&rig->targets);
    strlist_fini(&rig->settings.urls);
    free(rig->settings.method);
    free(rig->settings.body);
    event_base_free(rig->base);
    close(rig->listener);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    struct rig rig = {0};
    size_t step;
    int fd;

    if (size < 2 || size > MAX_INPUT)
        return 0;
    step = data[0] > 0 ? data[0] : MAX_INPUT;
    begin(&rig);
    turn(&rig);
    fd = accept(rig.listener, NULL, NULL);
    if (fd < 0)
        abort();
    for (size_t at = 2; at < size; at += step) {
        size_t n = size - at < step ? size - at : step;

        if (send(fd, data + at, n, MSG_NOSIGNAL) < 0)
            break;
        turn(&rig);
    }
    if (data[1] & 1)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    if (data[1] & 2)
        close(fd);
    turn(&rig);
    end(&rig);
    if (!(data[1] & 2))
        close(fd);
    return 0;
}
