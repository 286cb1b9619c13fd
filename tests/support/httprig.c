#include "tests/support/httprig.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "tests/support/loopback.h"

static void on_ended(void *arg, struct request *r)
{
    struct httprig *rig = arg;

    rig->ended++;
    snprintf(rig->why, sizeof(rig->why), "%s", r->why ? r->why : "");
}

/* ---- making and ending ---- */

static void add_server(struct httprig *rig, const char *path)
{
    struct sockaddr_in address = {0};
    char *url;

    rig->listeners[rig->n_servers] = loopback_listen(&address, 16);
    url =
        path ? xasprintf("http://127.0.0.1:%d%s", ntohs(address.sin_port), path)
             : xasprintf("http://127.0.0.1:%d/%zu", ntohs(address.sin_port),
                         rig->n_servers);
    strlist_add(&rig->settings.urls, url);
    free(url);
    rig->n_servers++;
}

static void make_settings(struct target_settings *s,
                          const struct httprig_setup *setup)
{
    s->method = xstrdup(setup->method ? setup->method : "POST");
    if (!setup->has_no_body) {
        s->body = xcalloc(setup->body_len + 1, 1);
        memset(s->body, 'x', setup->body_len);
    }
    if (setup->header[0])
        strmap_put(&s->headers, setup->header[0], setup->header[1]);
    s->request_id = setup->has_id;
    s->connect_timeout_ns = NS_PER_S;
    s->max_response =
        setup->max_response > 0 ? setup->max_response : 1000000000;
}

struct httprig *httprig_new(const struct httprig_setup *setup)
{
    struct httprig *rig = xcalloc(1, sizeof(*rig));
    struct err err = {0};

    make_settings(&rig->settings, setup);
    do
        add_server(rig, setup->path);
    while (rig->n_servers < setup->n_servers);
    assert_int_equal(targets_init(&rig->targets, &rig->settings, NULL, &err),
                     0);
    rig->base = event_base_new();
    rig->clk = clk_fake_at(1000);
    workload_of_one(&rig->workload, &rig->targets, NULL, &rig->settings);
    rig->env = (struct transport_env){
        .base = rig->base,
        .clk = &rig->clk.clk,
        .workload = &rig->workload,
        .settings = &rig->settings,
        .max_connections =
            setup->max_connections > 0 ? setup->max_connections : 8,
        .stamps_all = true,
        .lane = {.worker = 0, .workers = 1},
        .ended = on_ended,
        .arg = rig};
    rig->transport = setup->transport ? setup->transport : &transport_http1;
    rig->self = xcalloc(1, rig->transport->state_size);
    assert_int_equal(rig->transport->init(rig->self, &rig->env, &err), 0);
    return rig;
}

void httprig_stop_server(struct httprig *rig, size_t i)
{
    if (rig->listeners[i] >= 0)
        close(rig->listeners[i]);
    rig->listeners[i] = -1;
}

void httprig_free(struct httprig *rig)
{
    rig->transport->fini(rig->self);
    free(rig->self);
    event_base_free(rig->base);
    targets_fini(&rig->targets);
    strlist_fini(&rig->settings.urls);
    strmap_fini(&rig->settings.headers);
    free(rig->settings.method);
    free(rig->settings.body);
    for (size_t i = 0; i < rig->n_servers; i++)
        httprig_stop_server(rig, i);
    free(rig);
}

/* With a backlog of 0 there is room for one that is not accepted. */
void httprig_fill_server(const struct httprig *rig, size_t i, int *filler)
{
    struct sockaddr_in address;
    socklen_t len = sizeof(address);

    assert_int_equal(listen(rig->listeners[i], 0), 0);
    assert_int_equal(
        getsockname(rig->listeners[i], (struct sockaddr *)&address, &len), 0);
    *filler = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(*filler, (struct sockaddr *)&address, len), 0);
}

/* ---- requests ---- */

struct request httprig_request(const struct httprig *rig)
{
    return (struct request){.facts = facts_unknown(rig->ended, 0),
                            .class = &rig->workload.one};
}

void httprig_start(struct httprig *rig, struct request *r)
{
    rig->transport->start(rig->self, r);
}

void httprig_step(const struct httprig *rig)
{
    event_base_loop(rig->base, EVLOOP_NONBLOCK);
}

void httprig_step_until_ended(const struct httprig *rig, int ended)
{
    for (int i = 0; i < HTTPRIG_MAX_SPIN && rig->ended < ended; i++)
        httprig_step(rig);
    assert_int_equal(rig->ended, ended);
}

int httprig_accept(const struct httprig *rig, size_t i, const struct request *r)
{
    for (int n = 0; n < HTTPRIG_MAX_SPIN && r->facts.sent == TIME_ABSENT; n++)
        httprig_step(rig);
    return accept(rig->listeners[i], NULL, NULL);
}

void httprig_answer(int fd, const char *bytes)
{
    assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
}

void httprig_read_request(const struct httprig *rig, size_t i, int fd)
{
    const struct buf *want = &rig->targets.items[i].request;
    char bytes[1024];

    assert_true(want->len <= sizeof(bytes));
    assert_int_equal(recv(fd, bytes, want->len, MSG_WAITALL), want->len);
    assert_memory_equal(bytes, want->data, want->len);
}

int httprig_serve_one(struct httprig *rig, size_t i)
{
    struct request r = httprig_request(rig);
    int ended = rig->ended;
    int fd;

    httprig_start(rig, &r);
    fd = httprig_accept(rig, i, &r);
    httprig_read_request(rig, i, fd);
    httprig_answer(fd, HTTPRIG_ANSWER);
    httprig_step_until_ended(rig, ended + 1);
    assert_int_equal(r.facts.outcome, OUTCOME_OK);
    return fd;
}
