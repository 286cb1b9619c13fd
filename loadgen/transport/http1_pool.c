#include "loadgen/transport/http1_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/payload/workload.h"
#include "loadgen/prepare/target.h"
#include "loadgen/transport/transport.h"

static struct http1_conn *conn_of(struct connlink *link)
{
    return (struct http1_conn *)link;
}

/* ---- idle ones ---- */

struct http1_conn *http1_pool_take(struct http1_route *route)
{
    struct http1_conn *c = conn_of(route->place->idle.first);

    if (!c)
        return NULL;
    c->route = route;
    connlist_remove(&c->link);
    c->pool->n_idle--;
    return c;
}

void http1_pool_keep(struct http1_conn *c, int64_t now_ns)
{
    connlist_add_first(&c->route->place->idle, &c->link);
    c->pool->n_idle++;
    c->was_idle = true;
    c->kept_ns = now_ns;
}

void http1_pool_close(struct http1_conn *c)
{
    struct http1_pool *p = c->pool;

    if (c->link.list == &c->route->place->idle)
        p->n_idle--;
    connlist_remove(&c->link);
    event_del(&c->readable);
    event_del(&c->writable);
    if (c->is_connected)
        socket_add_path(c->fd, &p->path);
    close(c->fd);
    c->fd = -1;
    c->request = NULL;
    c->next_unused = p->unused;
    p->unused = c;
    p->n_open--;
}

/* ---- connecting ---- */

static void fail_connect(struct http1_conn *c, int error, const char *why)
{
    if (c->request) {
        c->pool->user->failed(c, error, why);
        return;
    }
    c->pool->connect_error = error;
    http1_pool_close(c);
}

/* From here on the user's callbacks handle the socket's events. */
static void on_connected(evutil_socket_t fd, short what, void *arg)
{
    struct http1_conn *c = arg;
    const struct http1_user *user = c->pool->user;
    int error = socket_error(fd);

    (void)what;
    if (error) {
        fail_connect(c, error, socket_error_text(error));
        return;
    }
    connlist_remove(&c->link);
    c->is_connected = true;
    event_assign(&c->writable, c->pool->env->base, fd, EV_WRITE, user->writable,
                 c);
    event_add(&c->readable, NULL);
    if (c->request)
        user->connected(c);
    else
        http1_pool_keep(c, clk_now(c->pool->env->clk));
}

/* All have the same timeout, so that the oldest is the first to be late.  The
 * timer's resolution is milliseconds: if it fires early, it is set again.  It
 * is rounded up, so that it does not fire repeatedly at the very end. */
static void arm_connect_timer(struct http1_pool *p)
{
    int64_t late_ns;
    struct timeval tv;

    if (!p->connecting.first)
        return;
    late_ns = conn_of(p->connecting.first)->opened_ns +
              p->env->settings->connect_timeout_ns;
    tv = clk_timeval(late_ns - clk_now(p->env->clk) + NS_PER_US);
    event_add(&p->connect_timer, &tv);
}

static void on_connect_timer(evutil_socket_t fd, short what, void *arg)
{
    struct http1_pool *p = arg;
    int64_t late_ns =
        clk_now(p->env->clk) - p->env->settings->connect_timeout_ns;

    (void)fd;
    (void)what;
    while (p->connecting.first &&
           conn_of(p->connecting.first)->opened_ns <= late_ns)
        fail_connect(conn_of(p->connecting.first), ETIMEDOUT,
                     "not connected within the connect timeout");
    arm_connect_timer(p);
}

static struct http1_conn *conn_new(struct http1_pool *p)
{
    struct http1_conn *c = p->unused;

    if (c) {
        p->unused = c->next_unused;
        return c;
    }
    c = xcalloc(1, sizeof(*c));
    c->pool = p;
    http1_init(&c->parser, HTTP1_RESPONSE, p->user->response, c);
    buf_init(&c->unsent, TARGET_MAX_REQUEST);
    c->next_made = p->made;
    p->made = c;
    return c;
}

struct http1_conn *http1_pool_open(struct http1_pool *p,
                                   struct http1_route *route)
{
    struct http1_place *place = p->places;
    struct http1_conn *c;
    int fd;

    if (p->n_open >= p->env->max_connections && p->n_idle > 0) {
        while (!place->idle.last) /* close an idle one to another place */
            place++;
        http1_pool_close(conn_of(place->idle.last));
    }
    fd = socket_connect(route->endpoint->address);
    if (fd < 0)
        return NULL;
    c = conn_new(p);
    c->route = route;
    c->fd = fd;
    c->is_connected = false;
    c->was_idle = false;
    c->is_stamped = false;
    c->taken = 0;
    c->opened_ns = clk_now(p->env->clk);
    event_assign(&c->readable, p->env->base, fd, EV_READ | EV_PERSIST,
                 p->user->readable, c);
    event_assign(&c->writable, p->env->base, fd, EV_WRITE, on_connected, c);
    event_add(&c->writable, NULL);
    connlist_add_last(&p->connecting, &c->link);
    if (p->connecting.len == 1)
        arm_connect_timer(p);
    p->n_open++;
    return c;
}

/* ---- ahead of the requests ---- */

int http1_pool_preconnect(struct http1_pool *p, int64_t n, struct err *err)
{
    const struct workload *workload = p->env->workload;
    struct lane lane = p->env->lane;

    p->connect_error = 0;
    for (int64_t i = 0; i < n && !p->connect_error; i++) {
        int64_t seq = lane.worker + i * lane.workers;
        const struct class *class =
            &workload->classes[workload_draw(workload, seq)];

        if (!http1_pool_open(p, &p->routes[workload_route(class, seq)]))
            p->connect_error = errno;
    }
    while (p->connecting.len > 0 && !atomic_load(&stop_signal))
        event_base_loop(p->env->base, EVLOOP_ONCE);
    if (atomic_load(&stop_signal))
        return err_set(err, ERR_IO, "interrupted");
    if (!p->connect_error)
        return 0;
    return err_set(err, ERR_IO,
                   "client.preconnect: only %lld of %lld connections could be "
                   "opened: %s",
                   (long long)p->n_idle, (long long)n,
                   socket_error_text(p->connect_error));
}

/* ---- all of them ---- */

struct socket_path http1_pool_path(const struct http1_pool *p)
{
    struct socket_path path = p->path;

    for (const struct http1_conn *c = p->made; c; c = c->next_made) {
        if (c->fd >= 0 && c->is_connected)
            socket_add_path(c->fd, &path);
    }
    return path;
}

void http1_pool_init(struct http1_pool *p, const struct transport_env *env,
                     const struct http1_user *user)
{
    const struct workload *workload = env->workload;

    p->env = env;
    p->user = user;
    event_assign(&p->connect_timer, env->base, -1, 0, on_connect_timer, p);
    p->routes = xcalloc(workload->n_routes, sizeof(*p->routes));
    p->places = xcalloc(workload->n_places, sizeof(*p->places));
    for (size_t k = 0; k < workload->len; k++) {
        const struct class *class = &workload->classes[k];

        for (size_t i = 0; i < class->targets->n_endpoints; i++) {
            const struct endpoint *e = &class->targets->endpoints[i];
            const struct buf *request = &e->target->request;

            p->routes[class->first_route + i] = (struct http1_route){
                .endpoint = e,
                .place = &p->places[e->place],
                .out = xstrndup(request->data, request->len),
            };
        }
    }
}

void http1_pool_fini(struct http1_pool *p)
{
    if (!p->env)
        return;
    while (p->made) {
        struct http1_conn *c = p->made;

        p->made = c->next_made;
        if (c->fd >= 0)
            http1_pool_close(c);
        http1_fini(&c->parser);
        buf_fini(&c->unsent);
        free(c);
    }
    event_del(&p->connect_timer);
    for (size_t i = 0; i < p->env->workload->n_routes; i++)
        free(p->routes[i].out);
    free(p->routes);
    free(p->places);
}
