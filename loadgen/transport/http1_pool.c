#include "loadgen/transport/http1_pool.h"

#include <stdlib.h>

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
    connlist_remove(&c->conn.link);
    c->pool->n_idle--;
    return c;
}

void http1_pool_keep(struct http1_conn *c, int64_t now_ns)
{
    connlist_add_first(&c->route->place->idle, &c->conn.link);
    c->pool->n_idle++;
    c->was_idle = true;
    c->kept_ns = now_ns;
}

void http1_pool_close(struct http1_conn *c)
{
    struct http1_pool *p = c->pool;

    if (c->conn.link.list == &c->route->place->idle)
        p->n_idle--;
    conn_close(&c->conn);
    c->request = NULL;
    c->next_unused = p->unused;
    p->unused = c;
    p->n_open--;
}

/* ---- new ones ---- */

static struct http1_conn *conn_new(struct http1_pool *p)
{
    struct http1_conn *c = p->unused;

    if (c) {
        p->unused = c->next_unused;
        return c;
    }
    c = xcalloc(1, sizeof(*c));
    c->conn.wire.fd = -1;
    c->pool = p;
    http1_init(&c->parser, HTTP1_RESPONSE, p->response, c);
    if (!p->response->header)
        c->parser.known = &p->known;
    buf_init(&c->conn.unsent, TARGET_MAX_REQUEST);
    c->next_made = p->made;
    p->made = c;
    return c;
}

struct http1_conn *http1_pool_open(struct http1_pool *p,
                                   struct http1_route *route)
{
    struct http1_place *place = p->places;
    struct http1_conn *c;

    if (p->n_open >= p->env->max_connections && p->n_idle > 0) {
        while (!place->idle.last) /* close an idle one to another place */
            place++;
        http1_pool_close(conn_of(place->idle.last));
    }
    c = conn_new(p);
    if (conn_open(&c->conn, &p->dialer, route->endpoint)) {
        c->next_unused = p->unused;
        p->unused = c;
        return NULL;
    }
    c->route = route;
    c->was_idle = false;
    p->n_open++;
    return c;
}

/* ---- ahead of the requests ---- */

static bool open_one(void *arg, size_t route)
{
    struct http1_pool *p = arg;

    return http1_pool_open(p, &p->routes[route]) != NULL;
}

int http1_pool_preconnect(struct http1_pool *p, int64_t n, struct err *err)
{
    return dialer_preconnect(&p->dialer, n, open_one, p, &p->n_idle, err);
}

/* ---- all of them ---- */

struct socket_path http1_pool_path(const struct http1_pool *p)
{
    struct socket_path path = p->dialer.path;

    for (const struct http1_conn *c = p->made; c; c = c->next_made) {
        if (c->conn.wire.fd >= 0 && c->conn.connected_ns != TIME_ABSENT)
            socket_add_path(c->conn.wire.fd, &path);
    }
    path.tls = tls_context_counts(p->dialer.tls);
    return path;
}

int http1_pool_init(struct http1_pool *p, const struct transport_env *env,
                    const struct dialer_hooks *hooks,
                    const struct http1_hooks *response, struct err *err)
{
    const struct workload *workload = env->workload;

    if (dialer_init(&p->dialer, env, hooks, err))
        return -1;
    p->env = env;
    p->response = response;
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
    return 0;
}

void http1_pool_fini(struct http1_pool *p)
{
    if (!p->env)
        return;
    while (p->made) {
        struct http1_conn *c = p->made;

        p->made = c->next_made;
        if (c->conn.wire.fd >= 0)
            http1_pool_close(c);
        http1_fini(&c->parser);
        buf_fini(&c->conn.unsent);
        free(c);
    }
    dialer_fini(&p->dialer);
    for (size_t i = 0; i < p->env->workload->n_routes; i++)
        free(p->routes[i].out);
    free(p->routes);
    free(p->places);
}
