#include "loadgen/transport/grpc_route.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/api/api.h"
#include "loadgen/payload/workload.h"
#include "loadgen/transport/transport.h"

#define MAX_VALUE ((size_t)64 << 10)

/* ---- metadata ---- */

/* Those that the channel says. */
static bool is_of_channel(const char *name, size_t len)
{
    static const char *const known[] = {"user-agent", "host", "content-type",
                                        "te"};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strlen(known[i]) == len && strncasecmp(name, known[i], len) == 0)
            return true;
    }
    return false;
}

/* Names are in small letters on the wire. */
static grpc_slice lower_slice(const char *name, size_t len)
{
    grpc_slice slice = grpc_slice_from_copied_buffer(name, len);
    unsigned char *at = GRPC_SLICE_START_PTR(slice);

    for (size_t i = 0; i < len; i++)
        at[i] |= at[i] >= 'A' && at[i] <= 'Z' ? 0x20 : 0;
    return slice;
}

/* Of a name that ends in -bin the value is given as base64. */
static int read_value(grpc_metadata *m, const char *value, struct err *err)
{
    struct buf bytes;
    int rc = 0;

    if (!grpc_is_binary_header(m->key)) {
        m->value = grpc_slice_from_copied_string(value);
        return grpc_header_nonbin_value_is_legal(m->value) ? 0 : -1;
    }
    buf_init(&bytes, MAX_VALUE);
    if (base64_decode(value, strlen(value), &bytes))
        rc = err_set(err, ERR_CONFIG,
                     "target.headers: the value of a name that ends in -bin "
                     "is written as base64");
    m->value = grpc_slice_from_copied_buffer(buf_text(&bytes), bytes.len);
    buf_fini(&bytes);
    return rc;
}

static int add_metadata(struct rpc_route *r, const char *line, struct err *err)
{
    size_t len = strcspn(line, ":");
    const char *value = line + len + (line[len] != '\0');
    grpc_metadata *m = &r->metadata[r->n_metadata];

    if (is_of_channel(line, len))
        return 0;
    m->key = lower_slice(line, len);
    m->value = grpc_empty_slice();
    r->n_metadata++;
    if (!grpc_header_key_is_legal(m->key) ||
        read_value(m, value + strspn(value, " "), err))
        return err->code ? -1
                         : err_set(err, ERR_CONFIG,
                                   "target.headers: gRPC has no metadata like "
                                   "'%.*s'",
                                   (int)len, line);
    return 0;
}

static int add_all_metadata(struct rpc_route *r, struct err *err)
{
    const struct strlist *lines = &r->class->targets->headers;

    r->metadata = xcalloc(lines->len + 1, sizeof(*r->metadata));
    for (size_t i = 0; i < lines->len; i++) {
        if (add_metadata(r, lines->items[i], err))
            return -1;
    }
    r->has_id = r->class->settings->request_id;
    if (r->has_id) {
        grpc_slice_unref(r->metadata[r->n_metadata - 1].value);
        r->metadata[r->n_metadata - 1].value = grpc_empty_slice();
    }
    return 0;
}

/* ---- routes ---- */

static grpc_byte_buffer *message_of(const struct class *c)
{
    const struct buf *body = &c->targets->body;
    grpc_slice slice;
    grpc_byte_buffer *message;

    if (c->api && c->api->makes_bodies)
        return NULL;
    slice = grpc_slice_from_copied_buffer(buf_text(body), body->len);
    message = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    return message;
}

static int route_init(struct rpc_route *r, const struct class *c,
                      const struct endpoint *e, struct rpc_place *place,
                      struct err *err)
{
    const char *method = c->api ? api_grpc_method(c->api->ops->kind) : NULL;

    r->place = place;
    r->class = c;
    r->method = method ? method : e->target->url.path;
    r->message = message_of(c);
    r->handles = xcalloc(place->len, sizeof(*r->handles));
    for (size_t i = 0; i < place->len; i++)
        r->handles[i] = grpc_channel_register_call(place->channels[i].channel,
                                                   r->method, NULL, NULL);
    return add_all_metadata(r, err);
}

static int place_init(struct rpc_place *p, const struct endpoint *e,
                      const struct transport_env *env, struct rpc_queue *queue,
                      struct err *err)
{
    size_t n = env->channels > 0 ? (size_t)env->channels : 1;

    if (p->len > 0)
        return 0; /* another class goes there, too */
    p->channels = xcalloc(n, sizeof(*p->channels));
    for (size_t i = 0; i < n; i++) {
        if (rpc_channel_init(&p->channels[i], e, env->settings, queue, err))
            return -1;
        p->len++;
    }
    return 0;
}

static int add_class(struct rpc_routes *r, const struct class *c,
                     const struct transport_env *env, struct rpc_queue *queue,
                     struct err *err)
{
    for (size_t i = 0; i < c->targets->n_endpoints; i++) {
        const struct endpoint *e = &c->targets->endpoints[i];
        struct rpc_place *place = &r->places[e->place];

        if (place_init(place, e, env, queue, err) ||
            route_init(&r->routes[c->first_route + i], c, e, place, err))
            return -1;
    }
    return 0;
}

int rpc_routes_init(struct rpc_routes *r, const struct transport_env *env,
                    struct rpc_queue *queue, struct err *err)
{
    const struct workload *workload = env->workload;

    r->n_routes = workload->n_routes;
    r->n_places = workload->n_places;
    r->routes = xcalloc(r->n_routes, sizeof(*r->routes));
    r->places = xcalloc(r->n_places, sizeof(*r->places));
    for (size_t i = 0; i < workload->len; i++) {
        if (add_class(r, &workload->classes[i], env, queue, err))
            return -1;
    }
    return 0;
}

static void route_fini(struct rpc_route *r)
{
    for (size_t i = 0; i < r->n_metadata; i++) {
        grpc_slice_unref(r->metadata[i].key);
        grpc_slice_unref(r->metadata[i].value);
    }
    if (r->message)
        grpc_byte_buffer_destroy(r->message);
    free(r->metadata);
    free(r->handles);
}

/* The channels of a place all go to one address. */
static int place_break(const struct rpc_place *p, bool is_forced)
{
    return p->len > 0 ? rpc_channel_break(&p->channels[0], is_forced) : 0;
}

void rpc_routes_break(struct rpc_routes *r, bool is_forced)
{
    for (size_t i = 0; i < r->n_places; i++)
        r->n_broken += place_break(&r->places[i], is_forced);
}

static int place_fini(struct rpc_place *p, struct rpc_queue *queue)
{
    int n_broken;

    for (size_t i = 0; i < p->len; i++)
        rpc_channel_close(&p->channels[i]);
    n_broken = place_break(p, false);
    for (size_t i = 0; i < p->len; i++) {
        while (p->channels[i].is_watched)
            rpc_queue_wait(queue);
    }
    free(p->channels);
    return n_broken;
}

void rpc_routes_fini(struct rpc_routes *r, struct rpc_queue *queue)
{
    int n_broken = r->n_broken;

    for (size_t i = 0; r->routes && i < r->n_routes; i++)
        route_fini(&r->routes[i]);
    for (size_t i = 0; r->places && i < r->n_places; i++)
        n_broken += place_fini(&r->places[i], queue);
    free(r->routes);
    free(r->places);
    *r = (struct rpc_routes){.n_broken = n_broken};
}

int64_t rpc_routes_ready(const struct rpc_routes *r)
{
    int64_t n = 0;

    for (size_t i = 0; i < r->n_places; i++) {
        for (size_t k = 0; k < r->places[i].len; k++)
            n += rpc_channel_is_ready(&r->places[i].channels[k]);
    }
    return n;
}
