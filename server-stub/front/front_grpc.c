#include "server-stub/front/front_grpc.h"

#include <errno.h>
#include <event2/event.h>
#include <grpc/grpc.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <grpc/support/log.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "server-stub/front/front_grpc_call.h"
#include "server-stub/front/stub_loop.h"
#include "server-stub/stub_config.h"

/* Calls that may arrive at once; more have to wait for the loop. */
#define CALLS_AHEAD 256

/* A certificate, or a few of them. */
#define MAX_PEM ((size_t)1 << 20)

struct front_grpc {
    struct grpc_queue *queue;
    grpc_server *server;
    grpc_server_credentials *plain; /* NULL: TLS */
    struct listener *listener;      /* NULL: gRPC's own */
    struct rpc_home home;
    bool is_shut;
    char url[96];
};

/* C-core tells of every client that goes away; who is to know has the truth
 * log. */
static void say_nothing(gpr_log_func_args *args)
{
    (void)args;
}

static void on_done(void *arg, void *tag, bool ok, int64_t at_ns)
{
    struct front_grpc *front = arg;

    if (tag == front)
        front->is_shut = true;
    else
        rpc_on_done(tag, ok, at_ns);
}

/* ---- TLS ---- */

struct pems {
    struct buf cert;
    struct buf key;
    struct buf ca;
};

static int read_pem(const char *path, const char *key, struct buf *out,
                    struct err *err)
{
    struct err why = {0};

    buf_init(out, MAX_PEM);
    if (file_read(path, out, &why) == 0)
        return 0;
    return err_set(err, ERR_CONFIG, "stub.%s: %s", key, why.msg);
}

static grpc_server_credentials *make_credentials(const struct stub_settings *s,
                                                 struct err *err)
{
    bool asks = stub_asks_clients(s);
    struct pems pems = {0};
    grpc_server_credentials *creds = NULL;

    if (read_pem(s->tls_cert, "tls_cert", &pems.cert, err) == 0 &&
        read_pem(s->tls_key, "tls_key", &pems.key, err) == 0 &&
        (!asks || read_pem(s->tls_ca, "tls_ca", &pems.ca, err) == 0)) {
        grpc_ssl_pem_key_cert_pair pair = {buf_text(&pems.key),
                                           buf_text(&pems.cert)};

        creds = grpc_ssl_server_credentials_create_ex(
            asks ? buf_text(&pems.ca) : NULL, &pair, 1,
            asks ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                 : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
            NULL);
    }
    buf_fini(&pems.cert);
    buf_fini(&pems.key);
    buf_fini(&pems.ca);
    return creds;
}

/* gRPC listens itself: it takes no socket that is to speak TLS. */
static int listen_tls(struct front_grpc *front, const struct stub_settings *s,
                      int port, struct err *err)
{
    const char *format = strchr(s->bind, ':') ? "[%s]:%d" : "%s:%d";
    grpc_server_credentials *creds = make_credentials(s, err);
    char place[80];
    int bound;

    if (!creds)
        return -1;
    snprintf(place, sizeof(place), format, s->bind, port);
    bound = grpc_server_add_http2_port(front->server, place, creds);
    grpc_server_credentials_release(creds);
    if (bound == 0)
        return err_set(err, ERR_IO,
                       "%s: cannot listen there with this certificate", place);
    snprintf(place, sizeof(place), format, s->bind, bound);
    snprintf(front->url, sizeof(front->url), "grpcs://%s", place);
    return 0;
}

/* ---- making and ending ---- */

static int listen_plain(struct front_grpc *front,
                        const struct front_grpc_env *env, int port,
                        struct err *err)
{
    struct listener_place place = {"grpc", env->settings->bind, port};

    front->plain = grpc_insecure_server_credentials_create();
    front->listener =
        listener_new(env->loop, &place, env->accepted, env->arg, err);
    if (!front->listener)
        return -1;
    snprintf(front->url, sizeof(front->url), "%s",
             listener_url(front->listener));
    return 0;
}

static grpc_arg integer(const char *key, int64_t value)
{
    return (grpc_arg){.type = GRPC_ARG_INTEGER,
                      .key = (char *)key,
                      .value.integer =
                          value < INT32_MAX ? (int)value : INT32_MAX};
}

static grpc_server *make_server(const struct stub_settings *s)
{
    grpc_arg args[] = {
        integer(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, s->grpc_max_message),
        integer(GRPC_ARG_ALLOW_REUSEPORT, 0),
        integer(GRPC_ARG_MAX_CONNECTION_AGE_MS,
                s->grpc_max_age_ns > 0 ? s->grpc_max_age_ns / NS_PER_MS
                                       : INT32_MAX),
    };
    grpc_channel_args all = {sizeof(args) / sizeof(args[0]), args};

    return grpc_server_create(&all, NULL);
}

static int start(struct front_grpc *front, const struct front_grpc_env *env,
                 struct err *err)
{
    const struct stub_settings *s = env->settings;
    int port = (int)strtol(s->grpc_port, NULL, 10); /* was checked */

    front->queue = grpc_queue_new(env->loop, env->clk, on_done, front, err);
    if (!front->queue)
        return -1;
    front->server = make_server(s);
    front->home = (struct rpc_home){.server = front->server,
                                    .cq = grpc_queue_of(front->queue),
                                    .clk = env->clk,
                                    .hooks = env->hooks,
                                    .arg = env->arg};
    grpc_server_register_completion_queue(front->server, front->home.cq, NULL);
    if (stub_has_tls(s) ? listen_tls(front, s, port, err)
                        : listen_plain(front, env, port, err))
        return -1;
    grpc_server_start(front->server);
    for (int i = 0; i < CALLS_AHEAD; i++)
        rpc_expect(&front->home);
    return 0;
}

struct front_grpc *front_grpc_new(const struct front_grpc_env *env,
                                  struct err *err)
{
    struct front_grpc *front = xcalloc(1, sizeof(*front));

    gpr_set_log_function(say_nothing);
    grpc_init();
    if (start(front, env, err) == 0)
        return front;
    front_grpc_free(front);
    return NULL;
}

/* Clients are told to go away; what is under way is given back by the queue. */
static void shut(struct front_grpc *front)
{
    front->home.is_closing = true;
    grpc_server_shutdown_and_notify(front->server, front->home.cq, front);
    grpc_server_cancel_all_calls(front->server);
    rpc_abandon_all(&front->home);
    while (!front->is_shut || front->home.first)
        grpc_queue_wait(front->queue);
    grpc_server_destroy(front->server);
}

void front_grpc_free(struct front_grpc *front)
{
    if (!front)
        return;
    listener_free(front->listener);
    if (front->server)
        shut(front);
    grpc_queue_free(front->queue);
    if (front->plain)
        grpc_server_credentials_release(front->plain);
    grpc_shutdown_blocking();
    free(front);
}

void front_grpc_take(struct front_grpc *front, int fd)
{
    grpc_server_add_channel_from_fd(front->server, fd, front->plain);
}

const char *front_grpc_url(const struct front_grpc *front)
{
    return front->url;
}

struct note {
    void *tag;
    bool ok;
    int64_t at_ns;
};

struct notes {
    struct note *items; /* owned */
    size_t len;
    size_t cap;
};

struct grpc_queue {
    const struct clk *clk;
    grpc_queue_hook *hook;
    void *arg;
    grpc_completion_queue *cq;
    int fd; /* readable: there are notes */
    struct event *event;
    bool has_thread;
    pthread_t thread;
    struct notes taken;   /* the loop's */
    pthread_mutex_t lock; /* of what is below */
    struct notes notes;
};

/* ---- the thread ---- */

static void notes_add(struct notes *notes, struct note note)
{
    if (notes->len == notes->cap) {
        notes->cap = notes->cap ? 2 * notes->cap : 64;
        notes->items =
            xrealloc(notes->items, notes->cap, sizeof(*notes->items));
    }
    notes->items[notes->len++] = note;
}

/* Whoever finds it empty wakes the loop, which takes all there is. */
static void put(struct grpc_queue *q, const grpc_event *event)
{
    const uint64_t one = 1;
    bool was_empty;

    pthread_mutex_lock(&q->lock);
    was_empty = q->notes.len == 0;
    notes_add(&q->notes,
              (struct note){event->tag, event->success != 0, clk_now(q->clk)});
    pthread_mutex_unlock(&q->lock);
    while (was_empty && write(q->fd, &one, sizeof(one)) < 0 && errno == EINTR)
        continue;
}

static void *watch(void *arg)
{
    struct grpc_queue *q = arg;

    for (;;) {
        grpc_event event = grpc_completion_queue_next(
            q->cq, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);

        if (event.type == GRPC_QUEUE_SHUTDOWN)
            return NULL;
        if (event.type == GRPC_OP_COMPLETE)
            put(q, &event);
    }
}

/* ---- the loop ---- */

static void handle(struct grpc_queue *q)
{
    struct notes there;

    pthread_mutex_lock(&q->lock);
    there = q->notes;
    q->notes = q->taken; /* empty, with room */
    pthread_mutex_unlock(&q->lock);
    q->taken = there;
    for (size_t i = 0; i < there.len; i++)
        q->hook(q->arg, there.items[i].tag, there.items[i].ok,
                there.items[i].at_ns);
    q->taken.len = 0;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    uint64_t times;

    (void)what;
    if (read((int)fd, &times, sizeof(times)) == sizeof(times))
        handle(arg);
}

void grpc_queue_wait(struct grpc_queue *q)
{
    struct pollfd ready = {.fd = q->fd, .events = POLLIN};

    if (poll(&ready, 1, -1) > 0)
        on_readable(q->fd, 0, q);
}

/* ---- making and ending ---- */

static int watch_on(struct grpc_queue *q, struct loop *loop, struct err *err)
{
    int rc;

    q->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (q->fd < 0)
        return err_set(err, ERR_IO, "cannot watch a queue of gRPC: %s",
                       strerror(errno));
    q->event =
        event_new(loop_base(loop), q->fd, EV_READ | EV_PERSIST, on_readable, q);
    if (!q->event || event_add(q->event, NULL))
        return err_set(err, ERR_IO, "cannot watch a queue of gRPC");
    rc = pthread_create(&q->thread, NULL, watch, q);
    if (rc)
        return err_set(err, ERR_IO, "a thread for gRPC: %s", strerror(rc));
    q->has_thread = true;
    return 0;
}

struct grpc_queue *grpc_queue_new(struct loop *loop, const struct clk *clk,
                                  grpc_queue_hook *hook, void *arg,
                                  struct err *err)
{
    struct grpc_queue *q = xcalloc(1, sizeof(*q));

    *q = (struct grpc_queue){.clk = clk, .hook = hook, .arg = arg, .fd = -1};
    pthread_mutex_init(&q->lock, NULL);
    q->cq = grpc_completion_queue_create_for_next(NULL);
    if (watch_on(q, loop, err) == 0)
        return q;
    grpc_queue_free(q);
    return NULL;
}

/* Without its thread somebody has to see that the queue is empty. */
void grpc_queue_free(struct grpc_queue *q)
{
    if (!q)
        return;
    grpc_completion_queue_shutdown(q->cq);
    if (q->has_thread)
        pthread_join(q->thread, NULL);
    else
        watch(q);
    grpc_completion_queue_destroy(q->cq);
    if (q->event)
        event_free(q->event);
    if (q->fd >= 0)
        close(q->fd);
    pthread_mutex_destroy(&q->lock);
    free(q->notes.items);
    free(q->taken.items);
    free(q);
}

struct grpc_completion_queue *grpc_queue_of(const struct grpc_queue *q)
{
    return q->cq;
}
