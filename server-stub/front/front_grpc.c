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

/* Maximum size of a certificate file. */
#define MAX_PEM ((size_t)1 << 20)

/* ---- the completion queue ----
 *
 * A thread waits for the completion queue of C-core and passes what happened to
 * the loop through an eventfd, so that everything else runs on the loop's
 * thread. */

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

struct front_grpc {
    struct rpc_home home;
    grpc_server *server;
    grpc_server_credentials *plain; /* NULL: TLS */
    struct listener *listener;      /* NULL: gRPC listens itself */
    bool is_shut;
    char url[96];

    int fd; /* readable: there are notes */
    struct event *event;
    bool has_thread;
    pthread_t thread;
    struct notes taken;   /* used by the loop */
    pthread_mutex_t lock; /* of what is below */
    struct notes notes;
};

/* The thread: the one that adds the first note wakes the loop. */
static void *watch(void *arg)
{
    struct front_grpc *front = arg;
    const uint64_t one = 1;

    for (;;) {
        grpc_event event = grpc_completion_queue_next(
            front->home.cq, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
        struct notes *notes = &front->notes;
        bool was_empty;

        if (event.type == GRPC_QUEUE_SHUTDOWN)
            return NULL;
        if (event.type != GRPC_OP_COMPLETE)
            continue;
        pthread_mutex_lock(&front->lock);
        was_empty = notes->len == 0;
        if (notes->len == notes->cap) {
            notes->cap = notes->cap ? 2 * notes->cap : 64;
            notes->items =
                xrealloc(notes->items, notes->cap, sizeof(*notes->items));
        }
        notes->items[notes->len++] = (struct note){
            event.tag, event.success != 0, clk_now(front->home.clk)};
        pthread_mutex_unlock(&front->lock);
        while (was_empty && write(front->fd, &one, sizeof(one)) < 0 &&
               errno == EINTR)
            continue;
    }
}

/* The loop: handle all notes. */
static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct front_grpc *front = arg;
    struct notes current;
    uint64_t times;

    (void)what;
    if (read((int)fd, &times, sizeof(times)) != sizeof(times))
        return;
    pthread_mutex_lock(&front->lock);
    current = front->notes;
    front->notes = front->taken; /* empty, with memory to reuse */
    pthread_mutex_unlock(&front->lock);
    front->taken = current;
    for (size_t i = 0; i < current.len; i++) {
        const struct note *note = &current.items[i];

        if (note->tag == front)
            front->is_shut = true;
        else
            rpc_on_done(note->tag, note->ok, note->at_ns);
    }
    front->taken.len = 0;
}

static int start_watching(struct front_grpc *front, struct loop *loop,
                          struct err *err)
{
    int rc;

    front->home.cq = grpc_completion_queue_create_for_next(NULL);
    front->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (front->fd >= 0)
        front->event = event_new(loop_base(loop), front->fd,
                                 EV_READ | EV_PERSIST, on_readable, front);
    if (!front->event || event_add(front->event, NULL))
        return err_set(err, ERR_IO, "cannot watch the gRPC queue: %s",
                       strerror(errno));
    rc = pthread_create(&front->thread, NULL, watch, front);
    if (rc)
        return err_set(err, ERR_IO, "cannot create a thread for gRPC: %s",
                       strerror(rc));
    front->has_thread = true;
    return 0;
}

/* ---- listening ---- */

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
    struct buf cert = {0};
    struct buf key = {0};
    struct buf ca = {0};
    grpc_server_credentials *creds = NULL;

    if (read_pem(s->tls_cert, "tls_cert", &cert, err) == 0 &&
        read_pem(s->tls_key, "tls_key", &key, err) == 0 &&
        (!asks || read_pem(s->tls_ca, "tls_ca", &ca, err) == 0)) {
        grpc_ssl_pem_key_cert_pair pair = {buf_text(&key), buf_text(&cert)};

        creds = grpc_ssl_server_credentials_create_ex(
            asks ? buf_text(&ca) : NULL, &pair, 1,
            asks ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                 : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
            NULL);
    }
    buf_fini(&cert);
    buf_fini(&key);
    buf_fini(&ca);
    return creds;
}

/* gRPC listens itself: it does not accept a socket for TLS. */
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
        return err_set(err, ERR_IO, "%s: cannot listen with this certificate",
                       place);
    snprintf(place, sizeof(place), format, s->bind, bound);
    snprintf(front->url, sizeof(front->url), "grpcs://%s", place);
    return 0;
}

/* ---- start and end ---- */

static grpc_arg integer(const char *key, int64_t value)
{
    return (grpc_arg){.type = GRPC_ARG_INTEGER,
                      .key = (char *)key,
                      .value.integer =
                          value < INT32_MAX ? (int)value : INT32_MAX};
}

static int start(struct front_grpc *front, const struct front_grpc_env *env,
                 struct err *err)
{
    const struct stub_settings *s = env->settings;
    int port = (int)strtol(s->grpc_port, NULL, 10); /* was checked */
    struct listener_place place = {"grpc", s->bind, port};
    grpc_arg args[] = {
        integer(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, s->grpc_max_message),
        integer(GRPC_ARG_ALLOW_REUSEPORT, 0),
        integer(GRPC_ARG_MAX_CONNECTION_AGE_MS,
                s->grpc_max_age_ns > 0 ? s->grpc_max_age_ns / NS_PER_MS
                                       : INT32_MAX),
    };
    grpc_channel_args all = {sizeof(args) / sizeof(args[0]), args};

    if (start_watching(front, env->loop, err))
        return -1;
    front->server = grpc_server_create(&all, NULL);
    front->home.server = front->server;
    grpc_server_register_completion_queue(front->server, front->home.cq, NULL);
    if (stub_has_tls(s)) {
        if (listen_tls(front, s, port, err))
            return -1;
    } else {
        front->plain = grpc_insecure_server_credentials_create();
        front->listener =
            listener_new(env->loop, &place, env->accepted, env->arg, err);
        if (!front->listener)
            return -1;
        snprintf(front->url, sizeof(front->url), "%s",
                 listener_url(front->listener));
    }
    grpc_server_start(front->server);
    for (int i = 0; i < CALLS_AHEAD; i++)
        rpc_expect(&front->home);
    return 0;
}

/* C-core logs every client that disconnects; the truth log has that. */
static void drop_log(gpr_log_func_args *args)
{
    (void)args;
}

struct front_grpc *front_grpc_new(const struct front_grpc_env *env,
                                  struct err *err)
{
    struct front_grpc *front = xcalloc(1, sizeof(*front));

    front->fd = -1;
    front->home = (struct rpc_home){
        .clk = env->clk, .hooks = env->hooks, .arg = env->arg};
    pthread_mutex_init(&front->lock, NULL);
    gpr_set_log_function(drop_log);
    grpc_init();
    if (start(front, env, err) == 0)
        return front;
    front_grpc_free(front);
    return NULL;
}

/* Cancel all calls and wait until the queue has returned everything. */
static void shut_down(struct front_grpc *front)
{
    struct pollfd ready = {.fd = front->fd, .events = POLLIN};

    front->home.is_closing = true;
    grpc_server_shutdown_and_notify(front->server, front->home.cq, front);
    grpc_server_cancel_all_calls(front->server);
    rpc_abandon_all(&front->home);
    while (!front->is_shut || front->home.first) {
        if (poll(&ready, 1, -1) > 0)
            on_readable(front->fd, 0, front);
    }
    grpc_server_destroy(front->server);
}

void front_grpc_free(struct front_grpc *front)
{
    if (!front)
        return;
    listener_free(front->listener);
    if (front->server)
        shut_down(front);
    grpc_completion_queue_shutdown(front->home.cq);
    if (front->has_thread)
        pthread_join(front->thread, NULL);
    else
        watch(front); /* C-core requires that the queue is drained */
    grpc_completion_queue_destroy(front->home.cq);
    if (front->event)
        event_free(front->event);
    if (front->fd >= 0)
        close(front->fd);
    pthread_mutex_destroy(&front->lock);
    free(front->notes.items);
    free(front->taken.items);
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
