#include "loadgen/transport/curl_pool.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/payload/workload.h"
#include "loadgen/prepare/target.h"
#include "loadgen/transport/curl_connect.h"
#include "loadgen/transport/socket.h"
#include "loadgen/transport/transport.h"

#define MULTI_HANDLES 32
#define READ_SIZE     (16L << 10)

/* A few handles and the connections that they share. */
struct curl_multi {
    struct curl_driver driver;
    struct curl_handle handles[MULTI_HANDLES];
    size_t n_handles;           /* in use or unused */
    struct curl_handle *unused; /* of those */
    bool has_room;              /* it is in the place's list with_room */
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

/* Each handle has a list of its own, because of the id in it.  The headers that
 * libcurl would add by itself are removed. */
static void set_headers(struct curl_handle *h, const struct class *class)
{
    static const char *const unwanted[] = {
        "Expect:", "Accept:", "Content-Type:"};
    const struct strlist *lines = &class->targets->headers;

    for (size_t i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++)
        add_header(h, unwanted[i]);
    for (size_t i = 0; i < lines->len; i++) {
        const char *line = lines->items[i];
        size_t len = strcspn(line, ":");
        bool is_empty =
            line[len] && !line[len + 1 + strspn(line + len + 1, " \t")];

        if (is_empty) { /* "Name: " would remove a header, "Name;" is empty */
            char *empty = xasprintf("%.*s;", (int)len, line);

            add_header(h, empty);
            free(empty);
        } else {
            add_header(h, line);
        }
    }
    h->id = NULL;
    if (class->settings->request_id) { /* its header is the last */
        const struct curl_slist *last = h->headers;

        while (last->next)
            last = last->next;
        h->id = last->data + strlen(TARGET_ID_HEADER ": ");
    }
    curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, h->headers);
}

static int on_debug(CURL *easy, curl_infotype type, char *data, size_t len,
                    void *arg)
{
    const struct transport_env *env = arg;
    bool is_sent = type == CURLINFO_HEADER_OUT || type == CURLINFO_DATA_OUT;

    (void)easy;
    if (is_sent || type == CURLINFO_HEADER_IN || type == CURLINFO_DATA_IN)
        env->tap(env->arg, is_sent, data, len);
    return 0;
}

static void make_easy(struct curl_handle *h)
{
    struct curl_route *route = h->route;
    struct curl_pool *p = route->pool;
    const struct targets *ts = route->class->targets;

    h->easy = curl_easy_init();
    if (!h->easy)
        abort(); /* out of memory */
    curl_easy_setopt(h->easy, CURLOPT_URL, route->endpoint->target->text);
    curl_easy_setopt(h->easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(h->easy, CURLOPT_BUFFERSIZE, READ_SIZE);
    h->transfer = (struct curl_transfer){.loop = &p->loop, .handle = h};
    curl_loop_adopt(&h->transfer, h->easy);
    set_headers(h, route->class);
    curl_easy_setopt(h->easy, CURLOPT_CUSTOMREQUEST,
                     route->class->settings->method);
    if (ts->is_head) {
        curl_easy_setopt(h->easy, CURLOPT_NOBODY, 1L);
    } else if (ts->has_length) {
        curl_easy_setopt(h->easy, CURLOPT_POSTFIELDS, buf_text(&ts->body));
        curl_easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                         (curl_off_t)ts->body.len);
    }
    curl_set_connection(h->easy, p->env->settings, p->trust, route->connect_to);
    if (p->env->tap) {
        curl_easy_setopt(h->easy, CURLOPT_DEBUGFUNCTION, on_debug);
        curl_easy_setopt(h->easy, CURLOPT_DEBUGDATA, p->env);
        curl_easy_setopt(h->easy, CURLOPT_VERBOSE, 1L);
    }
    p->user->prepare(h);
}

static void drop_easy(struct curl_handle *h)
{
    curl_easy_cleanup(h->easy);
    curl_slist_free_all(h->headers);
    h->headers = NULL;
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

    curl_driver_init(&m->driver, &route->pool->loop);
    curl_multi_setopt(m->driver.multi, CURLMOPT_MAXCONNECTS,
                      (long)MULTI_HANDLES);
    curl_multi_setopt(m->driver.multi, CURLMOPT_PIPELINING,
                      (long)CURLPIPE_MULTIPLEX);
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

/* One of this route, or any if there is no room for a new one; NULL: make a new
 * one. */
static struct curl_handle *take_unused(struct curl_multi *m,
                                       struct curl_route *route)
{
    struct curl_handle **at = &m->unused;
    struct curl_handle *h;

    while (*at && (*at)->route != route)
        at = &(*at)->next;
    if (!*at && m->n_handles == MULTI_HANDLES)
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
    static const struct http1_hooks no_hooks = {0};
    struct curl_place *place = route->place;
    struct curl_multi *m =
        place->with_room ? place->with_room : multi_new(route);
    struct curl_handle *h = take_unused(m, route);

    if (!h) {
        h = &m->handles[m->n_handles++];
        h->multi = m;
        h->route = route;
        buf_init(&h->out, TARGET_MAX_REQUEST);
        http1_init(&h->parser, HTTP1_RESPONSE, &no_hooks, NULL);
        make_easy(h);
    }
    if (!m->unused && m->n_handles == MULTI_HANDLES) {
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

/* libcurl 7.88 carries the errno of a failure, and how often it has sent a
 * request again, over to the next transfer of an easy handle: such a handle is
 * replaced. */
void curl_pool_put_back(struct curl_handle *h)
{
    struct curl_multi *m = h->multi;
    long error = 0;

    curl_driver_stop(&m->driver, h->easy);
    curl_easy_getinfo(h->easy, CURLINFO_OS_ERRNO, &error);
    if (error != 0 || h->sends > 1 || h->is_again) {
        drop_easy(h);
        make_easy(h);
    }
    h->next = m->unused;
    m->unused = h;
    h->route->pool->n_taken--;
    add_room(h->route->place, m);
}

/* ---- making and ending ---- */

/* Is the host of the URL the address itself?  Then libcurl needs no
 * CURLOPT_CONNECT_TO, which it would parse again for every request. */
static bool is_spelled_out(const struct endpoint *e)
{
    const struct url *url = &e->target->url;
    char address[SOCKET_ADDRESS_TEXT];
    size_t len = strlen(url->host);

    if (!e->address)
        return false;
    socket_address_text(e->address, address);
    return strncmp(address, url->host, len) == 0 && address[len] == ':' &&
           strcmp(address + len + 1, url->port) == 0;
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
    for (size_t k = 0; k < workload->len; k++) {
        const struct class *class = &workload->classes[k];

        for (size_t i = 0; i < class->targets->n_endpoints; i++) {
            const struct endpoint *e = &class->targets->endpoints[i];

            p->routes[class->first_route + i] = (struct curl_route){
                .pool = p,
                .place = &p->places[e->place],
                .class = class,
                .endpoint = e,
                .connect_to = is_spelled_out(e) ? NULL : curl_connect_to(e),
            };
        }
    }
}

void curl_pool_fini(struct curl_pool *p)
{
    if (!p->env)
        return;
    for (size_t i = 0; i < p->env->workload->n_places; i++) {
        for (struct curl_multi *m = p->places[i].multis, *next; m; m = next) {
            next = m->next;
            multi_free(m);
        }
    }
    for (size_t i = 0; i < p->env->workload->n_routes; i++)
        curl_slist_free_all(p->routes[i].connect_to);
    curl_loop_fini(&p->loop);
    free(p->routes);
    free(p->places);
}
