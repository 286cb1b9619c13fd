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
    conn_give_back(&c->conn);
    c->request = NULL;
    p->n_open--;
}

/* ---- new ones ---- */

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
    c = (struct http1_conn *)conn_take(&p->dialer, sizeof(*c));
    if (!c->pool) { /* a new one */
        c->pool = p;
        http1_init(&c->parser, HTTP1_RESPONSE, p->response, c);
        if (!p->response->header)
            c->parser.known = &p->known;
    }
    if (conn_open(&c->conn, route->endpoint)) {
        conn_give_back(&c->conn);
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
    for (struct conn *conn = p->dialer.made; conn; conn = conn->next_made) {
        struct http1_conn *c = (struct http1_conn *)conn;

        if (conn->wire.fd >= 0)
            http1_pool_close(c);
        http1_fini(&c->parser);
    }
    dialer_fini(&p->dialer);
    for (size_t i = 0; i < p->env->workload->n_routes; i++)
        free(p->routes[i].out);
    free(p->routes);
    free(p->places);
}
