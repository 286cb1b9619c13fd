#include "tests/support/stubrig.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/err.h"
#include "server-stub/front/front.h"
#include "server-stub/front/stub_loop.h"
#include "server-stub/front/wire.h"
#include "server-stub/stub_server.h"

#define START_NS (7 * NS_PER_S)

static void on_request(void *arg, struct exchange *x)
{
    const struct stubrig *rig = arg;

    server_request(rig->server, x, &wire_http);
}

static void on_ended(void *arg, struct exchange *x, int64_t sent_ns)
{
    const struct stubrig *rig = arg;

    server_ended(rig->server, x, sent_ns);
}

static const struct front_hooks hooks = {.request = on_request,
                                         .ended = on_ended};

static void tell(struct settings *s, const char *const *flags)
{
    struct opt_set set = settings_set(s, BLOCK_STUB);
    struct strlist words = {0};
    struct err err = {0};

    if (opt_parse_argv(&set, 1, flags, &words, &err))
        fail_msg("%s", err.msg);
}

static void connect_client(struct stubrig *rig)
{
    struct timeval patience = {.tv_sec = 20};
    int size = 8 << 20;
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    assert_int_equal(fcntl(pair[1], F_SETFL, O_NONBLOCK), 0);
    rig->client = pair[0];
    front_take(rig->front, pair[1]);
}

void stubrig_begin(struct stubrig *rig, const char *const *flags)
{
    struct err err = {0};

    *rig = (struct stubrig){.clock = clk_fake_at(START_NS)};
    rig->loop = loop_new(&err);
    assert_non_null(rig->loop);
    settings_init(&rig->settings);
    tell(&rig->settings, flags);
    if (stub_config(&rig->settings.stub, &rig->config, &err))
        fail_msg("%s", err.msg);
    rig->server = server_new(&rig->settings.stub, &rig->config, NULL, START_NS);
    rig->front = front_new(rig->loop, &rig->clock.clk, &hooks, rig);
    connect_client(rig);
}

void stubrig_end(struct stubrig *rig)
{
    front_free(rig->front);
    server_free(rig->server);
    settings_fini(&rig->settings);
    loop_free(rig->loop);
    close(rig->client);
}

/* Whatever is due, each at its time, until nothing is. */
static void run_dry(struct stubrig *rig)
{
    struct err err = {0};

    for (int i = 0; i < 4; i++)
        assert_int_equal(loop_poll(rig->loop, &err), 0);
    while (server_next_ns(rig->server) < INT64_MAX) {
        rig->clock.at_ns = server_next_ns(rig->server);
        server_advance(rig->server, rig->clock.at_ns);
        assert_int_equal(loop_poll(rig->loop, &err), 0);
    }
}

struct http_reply stubrig_post(struct stubrig *rig, const char *path,
                               const char *headers, const char *body,
                               size_t len)
{
    struct buf text;

    buf_init(&text, (size_t)8 << 20);
    buf_addf(&text, "POST %s HTTP/1.1\r\n%sContent-Length: %zu\r\n\r\n", path,
             headers, len);
    buf_add(&text, body, len);
    assert_int_equal(send(rig->client, text.data, text.len, MSG_NOSIGNAL),
                     text.len);
    buf_fini(&text);
    run_dry(rig);
    return http_read(rig->client);
}
