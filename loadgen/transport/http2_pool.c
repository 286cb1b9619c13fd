#include "loadgen/transport/http2_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/engine/request.h"
#include "loadgen/payload/workload.h"
#include "loadgen/transport/transport.h"

/* Streams per connection until the server's SETTINGS have arrived: RFC 9113
 * recommends at least 100.  Only the first of them is sent before, because a
 * server with a lower limit would refuse the others. */
#define FIRST_LIMIT 100
#define FIRST_SENT  1

/* Flow control must not slow a stream down: what arrives is used at once, so
 * that a window costs no memory.  h2load has the same. */
#define WINDOW ((1 << 30) - 1)

/* Frames are gathered for one write.  A frame has at most MAX_FRAME bytes. */
#define OUT_SIZE  ((size_t)64 << 10)
#define MAX_FRAME ((size_t)(16 << 10) + 9)

static struct http2_conn *conn_of_room(struct connlink *link)
{
    return (struct http2_conn *)(void *)((char *)link -
                                         offsetof(struct http2_conn, room));
}

/* ---- room ---- */

void http2_conn_update(struct http2_conn *c)
{
    bool had_room = c->room.list != NULL;
    bool has_room = !c->is_draining && c->n_used < c->limit;
    bool is_over = c->is_draining && c->n_used == 0 && c->session;
    bool is_idle = !c->is_draining && c->n_used == 0;

    c->pool->n_over += is_over - c->is_over;
    c->is_over = is_over;
    c->pool->n_idle += is_idle - c->is_idle;
    c->is_idle = is_idle;
    if (c->n_used == 0) {
        c->idle_ns = clk_now(c->pool->env->clk);
        c->woke_ns = TIME_ABSENT;
    }
    if (had_room == has_room)
        return;
    if (has_room)
        connlist_add_first(&c->place->roomy, &c->room);
    else
        connlist_remove(&c->room);
}

/* ---- connections ---- */

void http2_conn_close(struct http2_conn *c)
{
    c->is_draining = true;
    nghttp2_session_del(c->session);
    c->session = NULL;
    http2_conn_update(c);
    conn_close(&c->conn);
    c->pool->n_open--;
}

/* At max_connections one without streams, to another place, is closed; if its
 * session is at work, when that is done. */
static void make_way(struct http2_pool *p)
{
    struct conn *conn = p->dialer.made;
    struct http2_conn *c;

    if (p->n_idle == 0)
        return;
    while (!(c = (struct http2_conn *)conn)->is_idle)
        conn = conn->next_made;
    c->is_draining = true;
    http2_conn_update(c);
    if (c->is_busy)
        return;
    http2_conn_close(c);
    conn_give_back(conn);
}

static bool may_open(const struct http2_pool *p)
{
    return p->n_open - p->n_over < p->env->max_connections;
}

bool http2_place_has_room(const struct http2_pool *p,
                          const struct http2_place *place)
{
    return place->roomy.first || p->n_idle > 0 || may_open(p);
}

bool http2_pool_has_room(const struct http2_pool *p)
{
    for (size_t i = 0; i < p->env->workload->n_places; i++) {
        if (!http2_place_has_room(p, &p->places[i]))
            return false;
    }
    return true;
}

struct http2_conn *http2_conn_open(struct http2_pool *p,
                                   struct http2_route *route)
{
    const struct target_settings *s = p->env->settings;
    struct http2_conn *c;

    if (!may_open(p))
        make_way(p);
    c = (struct http2_conn *)conn_take(&p->dialer, sizeof(*c));
    if (conn_open(&c->conn, route->endpoint)) {
        conn_give_back(&c->conn);
        return NULL;
    }
    c->pool = p;
    c->place = route->place;
    c->n_used = 0;
    c->limit = s->no_keepalive                              ? 1
               : s->streams > 0 && s->streams < FIRST_LIMIT ? s->streams
                                                            : FIRST_LIMIT;
    c->n_submitted = 0;
    c->held_until = 0;
    c->is_busy = false;
    c->has_settings = false;
    c->has_goaway = false;
    c->last_served = 0;
    c->is_draining = false;
    c->is_flooded = false;
    c->empty = 0;
    p->n_open++;
    http2_conn_update(c);
    return c;
}

void http2_conn_begin(struct http2_conn *c)
{
    static const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW},
    };

    if (nghttp2_session_client_new2(&c->session, c->pool->callbacks, c,
                                    c->pool->option) ||
        nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings,
                                sizeof(settings) / sizeof(settings[0])) ||
        nghttp2_session_set_local_window_size(c->session, NGHTTP2_FLAG_NONE, 0,
                                              WINDOW))
        abort(); /* out of memory */
}

/* ---- writing ---- */

/* As many frames as fit; 0: there are none. */
static size_t gather(struct http2_conn *c)
{
    char *out = c->pool->out;
    size_t len = 0;

    while (OUT_SIZE - len >= MAX_FRAME) {
        const uint8_t *data;
        ssize_t n = nghttp2_session_mem_send(c->session, &data);

        if (n <= 0)
            break;
        memcpy(out + len, data, (size_t)n);
        len += (size_t)n;
    }
    return len;
}

void http2_conn_flush(struct http2_conn *c)
{
    size_t len;

    if (c->is_busy || !c->session || c->conn.unsent.len > 0)
        return;
    if (c->pool->is_gathering) {
        event_active(&c->conn.writable, EV_WRITE, 0);
        return;
    }
    c->write_ns = transport_now(c->pool->env);
    do {
        c->taken_before = c->conn.wire.taken;
        c->is_busy = c->pool->is_gathering = true;
        len = gather(c);
        c->is_busy = c->pool->is_gathering = false;
    } while (len > 0 && conn_send(&c->conn, c->pool->out, len) == len);
    if (len == 0 && c->has_settings)
        c->held_until = c->n_submitted;
}

/* ---- streams ---- */

struct http2_stream *http2_stream_new(struct http2_pool *p,
                                      struct http2_route *route,
                                      struct request *r)
{
    struct http2_stream *s = p->unused_streams;

    if (s) {
        p->unused_streams = s->next_unused;
    } else {
        s = xcalloc(1, sizeof(*s));
        buf_init(&s->made, TARGET_MAX_REQUEST);
        s->next_made = p->made_streams;
        p->made_streams = s;
    }
    s->conn = NULL;
    s->route = route;
    s->request = r;
    s->attempts = 0;
    s->is_again = false;
    return s;
}

void http2_stream_give_back(struct http2_pool *p, struct http2_stream *s)
{
    s->next_unused = p->unused_streams;
    p->unused_streams = s;
}

int http2_stream_attach(struct http2_pool *p, struct http2_stream *s)
{
    struct connlink *first = s->route->place->roomy.first;
    struct http2_conn *c = first ? conn_of_room(first) : NULL;

    s->opens = !c;
    if (!c)
        c = http2_conn_open(p, s->route);
    if (!c)
        return -1;
    s->conn = c;
    s->id = 0;
    s->attempts++;
    s->body_sent = 0;
    s->is_sent = false;
    s->status = 0;
    s->has_begun = false;
    s->is_whole = false;
    s->is_reset = false;
    s->error = HTTP1_FINE;
    s->head_len = 0;
    s->content_length = -1;
    connlist_add_last(&c->streams, &s->link);
    c->n_used++;
    if (p->env->settings->no_keepalive)
        c->is_draining = true;
    http2_conn_update(c);
    return 0;
}

void http2_stream_detach(struct http2_stream *s)
{
    struct http2_conn *c = s->conn;

    connlist_remove(&s->link);
    s->conn = NULL;
    if (s->id > 0 && c->session)
        nghttp2_session_set_stream_user_data(c->session, s->id, NULL);
    c->n_used--;
    http2_conn_update(c);
}

/* ---- all of them ---- */

static void init_routes(struct http2_pool *p)
{
    const struct workload *workload = p->env->workload;

    p->routes = xcalloc(workload->n_routes, sizeof(*p->routes));
    p->places = xcalloc(workload->n_places, sizeof(*p->places));
    for (size_t k = 0; k < workload->len; k++) {
        const struct class *class = &workload->classes[k];
        bool makes_bodies = class->api && class->api->makes_bodies;

        for (size_t i = 0; i < class->targets->n_endpoints; i++) {
            const struct endpoint *e = &class->targets->endpoints[i];
            struct http2_route *route = &p->routes[class->first_route + i];

            route->endpoint = e;
            route->place = &p->places[e->place];
            http2_head_init(&route->head, class->targets, e->target,
                            class->settings->method, makes_bodies,
                            class->settings->request_id);
        }
    }
}

int http2_pool_init(struct http2_pool *p, const struct transport_env *env,
                    const struct dialer_hooks *hooks,
                    nghttp2_session_callbacks *callbacks, struct err *err)
{
    p->callbacks = callbacks;
    if (dialer_init(&p->dialer, env, hooks, err))
        return -1;
    if (nghttp2_option_new(&p->option))
        abort(); /* out of memory */
    nghttp2_option_set_no_closed_streams(p->option, 1);
    nghttp2_option_set_peer_max_concurrent_streams(p->option, FIRST_SENT);
    p->env = env;
    p->out = xcalloc(1, OUT_SIZE);
    init_routes(p);
    return 0;
}

void http2_pool_fini(struct http2_pool *p)
{
    nghttp2_session_callbacks_del(p->callbacks);
    if (!p->env)
        return;
    for (struct conn *c = p->dialer.made; c; c = c->next_made) {
        if (c->wire.fd >= 0)
            http2_conn_close((struct http2_conn *)c);
    }
    while (p->made_streams) {
        struct http2_stream *s = p->made_streams;

        p->made_streams = s->next_made;
        buf_fini(&s->made);
        free(s);
    }
    dialer_fini(&p->dialer);
    nghttp2_option_del(p->option);
    for (size_t i = 0; i < p->env->workload->n_routes; i++)
        http2_head_fini(&p->routes[i].head);
    free(p->routes);
    free(p->places);
    free(p->out);
}
