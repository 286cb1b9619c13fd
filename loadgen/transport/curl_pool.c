#include "loadgen/transport/curl_pool.h"

#include <stdlib.h>
#include <string.h>

#include "common/settings.h"
#include "common/xalloc.h"
#include "loadgen/target.h"
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
    bool has_room;              /* it is on the route's list of those */
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
    curl_easy_setopt(h->easy, CURLOPT_PRIVATE, h);
    curl_easy_setopt(h->easy, CURLOPT_URL, route->endpoint->target->text);
    curl_easy_setopt(h->easy, CURLOPT_BUFFERSIZE, READ_SIZE);
    curl_loop_adopt(&p->loop, h->easy);
    set_headers(h, &p->env->targets->headers, p->env->settings->request_id);
    curl_set_options(h->easy, p->env, p->trust, route->connect_to);
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

static void add_room(struct curl_route *route, struct curl_multi *m)
{
    if (m->has_room)
        return;
    m->has_room = true;
    m->next_with_room = route->with_room;
    route->with_room = m;
}

static struct curl_multi *multi_new(struct curl_route *route)
{
    struct curl_multi *m = xcalloc(1, sizeof(*m));
    CURLM *curl;

    curl_driver_init(&m->driver, &route->pool->loop);
    curl = m->driver.multi;
    curl_multi_setopt(curl, CURLMOPT_MAXCONNECTS, (long)HANDLES_A_MULTI);
    curl_multi_setopt(curl, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    m->next = route->multis;
    route->multis = m;
    add_room(route, m);
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

struct curl_handle *curl_pool_take(struct curl_route *route)
{
    struct curl_multi *m =
        route->with_room ? route->with_room : multi_new(route);
    struct curl_handle *h = m->unused;

    if (h) {
        m->unused = h->next;
    } else {
        h = &m->handles[m->n_handles++];
        handle_init(h, m, route);
    }
    if (!m->unused && m->n_handles == HANDLES_A_MULTI) {
        route->with_room = m->next_with_room;
        m->has_room = false;
    }
    route->pool->n_taken++;
    return h;
}

void curl_pool_start(struct curl_handle *h)
{
    curl_driver_start(&h->multi->driver, h->easy);
}

/* libcurl 7.88 carries the errno of a failure, and how often it has sent again,
 * over to the next transfer of the easy handle. */
static bool is_marked(const struct curl_handle *h)
{
    long error = 0;

    curl_easy_getinfo(h->easy, CURLINFO_OS_ERRNO, &error);
    return error != 0 || h->sends > 1;
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
    add_room(h->route, m);
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
                       const struct endpoint *e)
{
    char address[SOCKET_ADDRESS_TEXT];
    char *text;

    route->pool = p;
    route->endpoint = e;
    if (!e->address || is_spelled_out(e))
        return;
    text = xasprintf("::%s", socket_address_text(e->address, address));
    route->connect_to = curl_slist_append(NULL, text);
    free(text);
}

static void route_fini(struct curl_route *route)
{
    while (route->multis) {
        struct curl_multi *m = route->multis;

        route->multis = m->next;
        multi_free(m);
    }
    curl_slist_free_all(route->connect_to);
}

void curl_pool_init(struct curl_pool *p, const struct transport_env *env,
                    const struct curl_trust *trust,
                    const struct curl_user *user)
{
    size_t n = env->targets->n_endpoints;

    p->env = env;
    p->trust = trust;
    p->user = user;
    curl_loop_init(&p->loop, env->base, user->ended);
    p->routes = xcalloc(n, sizeof(*p->routes));
    for (size_t i = 0; i < n; i++)
        route_init(&p->routes[i], p, &env->targets->endpoints[i]);
}

void curl_pool_fini(struct curl_pool *p)
{
    if (!p->env)
        return;
    for (size_t i = 0; i < p->env->targets->n_endpoints; i++)
        route_fini(&p->routes[i]);
    curl_loop_fini(&p->loop);
    free(p->routes);
}
