#include "loadgen/transport/curl_pool.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/payload/workload.h"
#include "loadgen/prepare/target.h"
#include "loadgen/transport/curl_options.h"
#include "loadgen/transport/socket.h"
#include "loadgen/transport/transport.h"

#define HANDLES_A_MULTI 32
#define READ_SIZE       (16L << 10)

/* A few handles and the connections that they share. */
struct curl_multi {
    struct curl_driver driver;
    struct curl_handle handles[HANDLES_A_MULTI];
    size_t n_handles;           /* that were made */
    struct curl_handle *unused; /* of those */
    bool has_room;              /* it is on the place's list of those */
    struct curl_multi *next_with_room;
    struct curl_multi *next;
};

/* ---- making handles ---- */

static void add_header(struct curl_handle *h, const char *line)
{
    struct curl_slist *longer = curl_slist_append(h->headers, line);

    if (!longer)
        abort(); /* out of memory */
    h->headers = longer;
}

/* "Name: " would take a header of libcurl's away; "Name;" is one without a
 * value. */
static void add_line(struct curl_handle *h, const char *line)
{
    size_t name_len = strcspn(line, ":");
    char *empty;

    if (line[name_len] &&
        !line[name_len + 1 + strspn(line + name_len + 1, " \t")]) {
        empty = xasprintf("%.*s;", (int)name_len, line);
        add_header(h, empty);
        free(empty);
    } else {
        add_header(h, line);
    }
}

/* The digits of the id's header, which is the last. */
static char *find_id(const struct curl_slist *headers)
{
    while (headers->next)
        headers = headers->next;
    return headers->data + strlen(TARGET_ID_HEADER ": ");
}

/* Each handle has a list of its own, for the id in it.  What libcurl would add
 * by itself is not asked for. */
static void set_headers(struct curl_handle *h, const struct strlist *lines,
                        bool has_id)
{
    static const char *const unasked[] = {
        "Expect:", "Accept:", "Content-Type:"};

    for (size_t i = 0; i < sizeof(unasked) / sizeof(unasked[0]); i++)
        add_header(h, unasked[i]);
    for (size_t i = 0; i < lines->len; i++)
        add_line(h, lines->items[i]);
    h->id = has_id ? find_id(h->headers) : NULL;
    curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, h->headers);
}

static void make_easy(struct curl_handle *h)
{
    struct curl_route *route = h->route;
    struct curl_pool *p = route->pool;

    h->easy = curl_easy_init();
    if (!h->easy)
        abort(); /* out of memory */
    curl_easy_setopt(h->easy, CURLOPT_URL, route->endpoint->target->text);
    curl_easy_setopt(h->easy, CURLOPT_BUFFERSIZE, READ_SIZE);
    h->transfer = (struct curl_transfer){.loop = &p->loop, .handle = h};
    curl_loop_adopt(&h->transfer, h->easy);
    set_headers(h, &route->class->targets->headers,
                route->class->settings->request_id);
    curl_set_options(h->easy, p->env, route->class, p->trust,
                     route->connect_to);
    p->user->prepare(h);
}

static void drop_easy(struct curl_handle *h)
{
    curl_easy_cleanup(h->easy);
    curl_slist_free_all(h->headers);
    h->headers = NULL;
}

static const struct http1_hooks no_hooks = {0};

static void handle_init(struct curl_handle *h, struct curl_multi *m,
                        struct curl_route *route)
{
    h->multi = m;
    h->route = route;
    buf_init(&h->out, TARGET_MAX_REQUEST);
    http1_init(&h->parser, HTTP1_RESPONSE, &no_hooks, NULL);
    make_easy(h);
}

/* ---- making multis ---- */

static void add_room(struct curl_place *place, struct curl_multi *m)
{
    if (m->has_room)
        return;
    m->has_room = true;
    m->next_with_room = place->with_room;
    place->with_room = m;
}

static struct curl_multi *multi_new(struct curl_route *route)
{
    struct curl_multi *m = xcalloc(1, sizeof(*m));
    CURLM *curl;

    curl_driver_init(&m->driver, &route->pool->loop);
    curl = m->driver.multi;
    curl_multi_setopt(curl, CURLMOPT_MAXCONNECTS, (long)HANDLES_A_MULTI);
    curl_multi_setopt(curl, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    m->next = route->place->multis;
    route->place->multis = m;
    add_room(route->place, m);
    return m;
}

static void multi_free(struct curl_multi *m)
{
    for (size_t i = 0; i < m->n_handles; i++) {
        curl_driver_stop(&m->driver, m->handles[i].easy);
        drop_easy(&m->handles[i]);
        buf_fini(&m->handles[i].out);
        http1_fini(&m->handles[i].parser);
    }
    curl_driver_fini(&m->driver);
    free(m);
}

/* ---- the life of a handle ---- */

/* One of this route, or any where there is no room for another; NULL: there is
 * none. */
static struct curl_handle *take_unused(struct curl_multi *m,
                                       struct curl_route *route)
{
    struct curl_handle **at = &m->unused;
    struct curl_handle *h;

    while (*at && (*at)->route != route)
        at = &(*at)->next;
    if (!*at && m->n_handles == HANDLES_A_MULTI)
        at = &m->unused;
    h = *at;
    if (!h)
        return NULL;
    *at = h->next;
    if (h->route != route) {
        drop_easy(h);
        h->route = route;
        make_easy(h);
    }
    return h;
}

struct curl_handle *curl_pool_take(struct curl_route *route)
{
    struct curl_place *place = route->place;
    struct curl_multi *m =
        place->with_room ? place->with_room : multi_new(route);
    struct curl_handle *h = take_unused(m, route);

    if (!h) {
        h = &m->handles[m->n_handles++];
        handle_init(h, m, route);
    }
    if (!m->unused && m->n_handles == HANDLES_A_MULTI) {
        place->with_room = m->next_with_room;
        m->has_room = false;
    }
    route->pool->n_taken++;
    return h;
}

int64_t curl_pool_closed_ns(const struct curl_handle *h)
{
    return h->multi->driver.closed_ns;
}

bool curl_pool_was_flooded(const struct curl_handle *h)
{
    const struct curl_driver *d = &h->multi->driver;

    /* A later connection may have the same port. */
    return h->local_port > 0 && d->flooded_port == h->local_port &&
           h->asked_ns <= d->flooded_ns;
}

void curl_pool_start(struct curl_handle *h)
{
    curl_driver_start(&h->multi->driver, h->easy);
}

void curl_pool_restart(struct curl_handle *h)
{
    curl_driver_stop(&h->multi->driver, h->easy);
    curl_easy_setopt(h->easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_driver_start(&h->multi->driver, h->easy);
}

/* libcurl 7.88 carries the errno of a failure, and how often it has sent again,
 * over to the next transfer of the easy handle. */
static bool is_marked(const struct curl_handle *h)
{
    long error = 0;

    curl_easy_getinfo(h->easy, CURLINFO_OS_ERRNO, &error);
    return error != 0 || h->sends > 1 || h->is_again;
}

void curl_pool_put_back(struct curl_handle *h)
{
    struct curl_multi *m = h->multi;

    curl_driver_stop(&m->driver, h->easy);
    if (is_marked(h)) {
        drop_easy(h);
        make_easy(h);
    }
    h->next = m->unused;
    m->unused = h;
    h->route->pool->n_taken--;
    add_room(h->route->place, m);
}

/* ---- making and ending ---- */

/* Is the host of the URL the address itself?  libcurl would read it again for
 * every request, for nothing. */
static bool is_spelled_out(const struct endpoint *e)
{
    const struct url *url = &e->target->url;
    char address[SOCKET_ADDRESS_TEXT];
    size_t len = strlen(url->host);

    socket_address_text(e->address, address);
    return strncmp(address, url->host, len) == 0 && address[len] == ':' &&
           strcmp(address + len + 1, url->port) == 0;
}

/* Host and port stay those of the URL for TLS and the Host header; only where
 * the connection goes is ours to say. */
static void route_init(struct curl_route *route, struct curl_pool *p,
                       const struct class *class, const struct endpoint *e)
{
    char address[SOCKET_ADDRESS_TEXT];
    char *text;

    route->pool = p;
    route->place = &p->places[e->place];
    route->class = class;
    route->endpoint = e;
    if (!e->address || is_spelled_out(e))
        return;
    text = xasprintf("::%s", socket_address_text(e->address, address));
    route->connect_to = curl_slist_append(NULL, text);
    free(text);
}

static void place_fini(struct curl_place *place)
{
    while (place->multis) {
        struct curl_multi *m = place->multis;

        place->multis = m->next;
        multi_free(m);
    }
}

static void add_routes(struct curl_pool *p, const struct class *class)
{
    const struct targets *ts = class->targets;

    for (size_t i = 0; i < ts->n_endpoints; i++)
        route_init(&p->routes[class->first_route + i], p, class,
                   &ts->endpoints[i]);
}

void curl_pool_init(struct curl_pool *p, const struct transport_env *env,
                    const struct curl_trust *trust,
                    const struct curl_user *user)
{
    const struct workload *workload = env->workload;

    p->env = env;
    p->trust = trust;
    p->user = user;
    curl_loop_init(&p->loop, env->base, env->clk, user->ended);
    p->loop.is_multiplexed = env->settings->http2;
    p->routes = xcalloc(workload->n_routes, sizeof(*p->routes));
    p->places = xcalloc(workload->n_places, sizeof(*p->places));
    for (size_t i = 0; i < workload->len; i++)
        add_routes(p, &workload->classes[i]);
}

void curl_pool_fini(struct curl_pool *p)
{
    if (!p->env)
        return;
    for (size_t i = 0; i < p->env->workload->n_places; i++)
        place_fini(&p->places[i]);
    for (size_t i = 0; i < p->env->workload->n_routes; i++)
        curl_slist_free_all(p->routes[i].connect_to);
    curl_loop_fini(&p->loop);
    free(p->routes);
    free(p->places);
}
