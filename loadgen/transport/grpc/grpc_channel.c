#include "loadgen/transport/grpc/grpc_channel.h"

#include <grpc/grpc_security.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/api/api.h"
#include "loadgen/payload/workload.h"
#include "loadgen/prepare/target.h"
#include "loadgen/transport/socket.h"
#include "loadgen/transport/transport.h"

#define MAX_PEM ((size_t)16 << 20)

/* A load test wants to notice soon that the server is back. */
#define FIRST_BACKOFF_MS 100
#define MAX_BACKOFF_MS   1000

#define EXPLAIN_MS 1000

#define MAX_VALUE ((size_t)64 << 10) /* of metadata */

/* ---- credentials ---- */

static int read_pem(const char *key, const char *path, struct buf *out,
                    struct err *err)
{
    buf_init(out, MAX_PEM);
    return path && file_read(path, out, err)
               ? err_context(err, "target.%s", key)
               : 0;
}

/* The caller releases them; NULL with err set. */
static grpc_channel_credentials *
make_credentials(const char *scheme, const struct target_settings *s,
                 struct err *err)
{
    grpc_channel_credentials *made = NULL;
    struct buf ca = {0};
    struct buf cert = {0};
    struct buf key = {0};

    if (strcmp(scheme, "grpcs") != 0)
        return grpc_insecure_credentials_create();
    if (s->insecure) { /* the server's certificate is not checked */
        grpc_tls_credentials_options *options =
            grpc_tls_credentials_options_create();
        grpc_tls_certificate_verifier *any =
            grpc_tls_certificate_verifier_no_op_create();

        grpc_tls_credentials_options_set_verify_server_cert(options, 0);
        grpc_tls_credentials_options_set_check_call_host(options, 0);
        grpc_tls_credentials_options_set_certificate_verifier(options, any);
        grpc_tls_certificate_verifier_release(any);
        return grpc_tls_credentials_create(options);
    }
    if (read_pem("ca_file", s->ca_file, &ca, err) == 0 &&
        read_pem("cert", s->cert, &cert, err) == 0 &&
        read_pem("key", s->key, &key, err) == 0) {
        grpc_ssl_pem_key_cert_pair pair = {.private_key = buf_text(&key),
                                           .cert_chain = buf_text(&cert)};

        made = grpc_ssl_credentials_create_ex(ca.len > 0 ? buf_text(&ca) : NULL,
                                              cert.len > 0 ? &pair : NULL, NULL,
                                              NULL);
    }
    buf_fini(&ca);
    buf_fini(&cert);
    buf_fini(&key);
    return made;
}

/* ---- channels ---- */

#define NUMBER_ARG(name, number)                                               \
    {                                                                          \
        .type = GRPC_ARG_INTEGER, .key = (char *)(uintptr_t)(name),            \
        .value.integer = (number)                                              \
    }
#define TEXT_ARG(name, text)                                                   \
    {                                                                          \
        .type = GRPC_ARG_STRING, .key = (char *)(uintptr_t)(name),             \
        .value.string = (char *)(uintptr_t)(text)                              \
    }

static int bounded(int64_t n)
{
    return n < INT_MAX ? (int)n : INT_MAX;
}

static const char *find_header(const struct target_settings *s,
                               const char *name)
{
    for (size_t i = 0; i < s->headers.keys.len; i++) {
        if (strcasecmp(s->headers.keys.items[i], name) == 0)
            return s->headers.values.items[i];
    }
    return NULL;
}

/* Deadlines are sent with every call, and the engine enforces them: a second
 * timer per call, C-core's, would only judge the same fact twice.  C-core must
 * not close idle connections either.  Texts are borrowed. */
static grpc_channel *make_channel(const char *address, const char *authority,
                                  const struct url *url,
                                  const struct target_settings *s,
                                  grpc_channel_credentials *creds)
{
    const char *agent = find_header(s, "user-agent");
    const char *host = find_header(s, "host");
    grpc_arg args[] = {
        NUMBER_ARG(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1),
        NUMBER_ARG(GRPC_ARG_ENABLE_RETRIES, 0),
        NUMBER_ARG(GRPC_ARG_ENABLE_HTTP_PROXY, 0),
        NUMBER_ARG(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1),
        NUMBER_ARG(GRPC_ARG_ENABLE_CHANNELZ, 0),
        NUMBER_ARG(GRPC_ARG_ENABLE_DEADLINE_CHECKS, 0),
        NUMBER_ARG(GRPC_ARG_CLIENT_IDLE_TIMEOUT_MS, INT_MAX),
        NUMBER_ARG(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
                   bounded(s->max_response)),
        NUMBER_ARG(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, FIRST_BACKOFF_MS),
        NUMBER_ARG(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, MAX_BACKOFF_MS),
        NUMBER_ARG(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS,
                   bounded(s->connect_timeout_ns / NS_PER_MS)),
        TEXT_ARG(GRPC_ARG_PRIMARY_USER_AGENT_STRING,
                 agent ? agent : "tailgate"),
        TEXT_ARG(GRPC_ARG_DEFAULT_AUTHORITY, host ? host : authority),
        TEXT_ARG(GRPC_SSL_TARGET_NAME_OVERRIDE_ARG, url->host), /* TLS only */
    };
    size_t n = sizeof(args) / sizeof(args[0]);
    grpc_channel_args list = {
        .num_args = strcmp(url->scheme, "grpcs") == 0 ? n : n - 1,
        .args = args,
    };

    return grpc_channel_create(address, creds, &list);
}

static void on_seen(struct rpc_tag *tag, bool ok, int64_t at_ns)
{
    struct rpc_channel *c = (struct rpc_channel *)tag;

    (void)ok;
    rpc_queue_post(c->queue, &c->post, at_ns);
}

static void watch(struct rpc_channel *c)
{
    c->is_watched = true;
    rpc_tag_arm(&c->tag, on_seen);
    grpc_channel_watch_connectivity_state(c->channel, c->state,
                                          gpr_inf_future(GPR_CLOCK_MONOTONIC),
                                          c->queue->cq, &c->tag);
}

static void on_change(struct post *post)
{
    struct rpc_channel *c =
        (struct rpc_channel *)(void *)((char *)post -
                                       offsetof(struct rpc_channel, post));

    c->is_watched = false;
    if (c->is_closing)
        return;
    c->state = grpc_channel_check_connectivity_state(c->channel, 0);
    if (rpc_channel_is_ready(c))
        c->ready_ns = post->at_ns;
    watch(c);
}

/* In zeroed memory, which must not move; not connected yet.  gRPC resolves
 * nothing ("ipv4:127.0.0.1:80"), so that addresses take turns as they do for
 * HTTP.  ERR_CONFIG for a file that cannot be read. */
static int channel_init(struct rpc_channel *c, const struct endpoint *e,
                        const struct target_settings *s,
                        struct rpc_queue *queue, struct err *err)
{
    const struct url *url = &e->target->url;
    grpc_channel_credentials *creds = make_credentials(url->scheme, s, err);
    bool is_ipv6 = strchr(url->host, ':') != NULL;
    char text[SOCKET_ADDRESS_TEXT];
    char *authority;
    char *address;

    if (!creds)
        return -1;
    authority = xasprintf("%s%s%s:%s", is_ipv6 ? "[" : "", url->host,
                          is_ipv6 ? "]" : "", url->port);
    address = e->address ? xasprintf("%s:%s",
                                     e->address->ai_family == AF_INET6 ? "ipv6"
                                                                       : "ipv4",
                                     socket_address_text(e->address, text))
                         : xasprintf("unix:%s", s->unix_socket);
    c->channel = make_channel(address, authority, url, s, creds);
    c->address = e->address;
    c->unix_socket = s->unix_socket;
    c->post.run = on_change;
    c->queue = queue;
    c->ready_ns = TIME_ABSENT;
    c->state = grpc_channel_check_connectivity_state(c->channel, 0);
    watch(c);
    grpc_channel_credentials_release(creds);
    free(authority);
    free(address);
    return 0;
}

/* See rpc_routes_break().  Returns how many. */
static int channel_break(const struct rpc_channel *c, bool is_forced)
{
    struct sockaddr_un path = {.sun_family = AF_UNIX};

    if (c->address)
        return socket_shut_stuck(c->address->ai_addr, is_forced);
    snprintf(path.sun_path, sizeof(path.sun_path), "%s", c->unix_socket);
    return socket_shut_stuck((const struct sockaddr *)&path, is_forced);
}

/* A call on a channel that has just failed fails at once with the reason. */
void rpc_channel_explain(struct rpc_channel *c, struct buf *out)
{
    grpc_completion_queue *cq = grpc_completion_queue_create_for_pluck(NULL);
    gpr_timespec until =
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                     gpr_time_from_millis(EXPLAIN_MS, GPR_TIMESPAN));
    grpc_call *call = grpc_channel_create_call(
        c->channel, NULL, GRPC_PROPAGATE_DEFAULTS, cq,
        grpc_slice_from_static_string("/"), NULL, until, NULL);
    grpc_status_code code = GRPC_STATUS_UNKNOWN;
    grpc_slice details = grpc_empty_slice();
    grpc_metadata_array trailing;
    grpc_op ops[2] = {
        {.op = GRPC_OP_SEND_INITIAL_METADATA},
        {.op = GRPC_OP_RECV_STATUS_ON_CLIENT,
         .data.recv_status_on_client = {.trailing_metadata = &trailing,
                                        .status = &code,
                                        .status_details = &details}},
    };

    grpc_metadata_array_init(&trailing);
    if (grpc_call_start_batch(call, ops, 2, cq, NULL) == GRPC_CALL_OK &&
        grpc_completion_queue_pluck(cq, cq, until, NULL).type ==
            GRPC_QUEUE_TIMEOUT) {
        grpc_call_cancel_with_status(call, GRPC_STATUS_UNAVAILABLE,
                                     "it timed out", NULL);
        channel_break(c, true);
        grpc_completion_queue_pluck(cq, cq, gpr_inf_future(GPR_CLOCK_MONOTONIC),
                                    NULL);
    }
    buf_add(out, GRPC_SLICE_START_PTR(details), GRPC_SLICE_LENGTH(details));
    grpc_metadata_array_destroy(&trailing);
    grpc_slice_unref(details);
    grpc_call_unref(call);
    grpc_completion_queue_shutdown(cq);
    grpc_completion_queue_destroy(cq);
}

/* ---- routes ---- */

/* Names are sent in lower case.  If one ends in -bin, the value is given as
 * base64. */
static int add_metadata(struct rpc_route *r, const char *line, struct err *err)
{
    static const char *const by_channel[] = {"user-agent", "host",
                                             "content-type", "te"};
    size_t len = strcspn(line, ":");
    const char *value = line + len + (line[len] != '\0');
    grpc_metadata *m = &r->metadata[r->n_metadata];
    bool is_legal = true;
    unsigned char *at;
    struct buf bytes;
    int rc = 0;

    for (size_t i = 0; i < sizeof(by_channel) / sizeof(by_channel[0]); i++) {
        if (strlen(by_channel[i]) == len &&
            strncasecmp(line, by_channel[i], len) == 0)
            return 0; /* the channel sends it */
    }
    m->key = grpc_slice_from_copied_buffer(line, len);
    at = GRPC_SLICE_START_PTR(m->key);
    for (size_t i = 0; i < len; i++)
        at[i] |= at[i] >= 'A' && at[i] <= 'Z' ? 0x20 : 0;
    r->n_metadata++;
    value += strspn(value, " ");
    buf_init(&bytes, MAX_VALUE);
    if (!grpc_is_binary_header(m->key)) {
        m->value = grpc_slice_from_copied_string(value);
        is_legal = grpc_header_nonbin_value_is_legal(m->value);
    } else {
        rc = base64_decode(value, strlen(value), &bytes);
        m->value = grpc_slice_from_copied_buffer(buf_text(&bytes), bytes.len);
    }
    buf_fini(&bytes);
    if (!is_legal || !grpc_header_key_is_legal(m->key))
        return err_set(err, ERR_CONFIG,
                       "target.headers: '%.*s' is not valid gRPC metadata",
                       (int)len, line);
    if (rc)
        return err_set(err, ERR_CONFIG,
                       "target.headers: a value must be base64 if its name "
                       "ends in -bin");
    return 0;
}

grpc_byte_buffer *rpc_message_new(const struct buf *bytes)
{
    grpc_slice slice =
        grpc_slice_from_copied_buffer(buf_text(bytes), bytes->len);
    grpc_byte_buffer *message = grpc_raw_byte_buffer_create(&slice, 1);

    grpc_slice_unref(slice);
    return message;
}

static int route_init(struct rpc_route *r, const struct class *c,
                      const struct endpoint *e, struct rpc_place *place,
                      struct err *err)
{
    const char *method = c->api ? api_grpc_method(c->api->ops->kind) : NULL;
    const struct strlist *lines = &c->targets->headers;

    r->place = place;
    r->class = c;
    r->method = method ? method : e->target->url.path;
    if (!c->api || !c->api->makes_bodies)
        r->message = rpc_message_new(&c->targets->body);
    r->handles = xcalloc(place->len, sizeof(*r->handles));
    for (size_t i = 0; i < place->len; i++)
        r->handles[i] = grpc_channel_register_call(place->channels[i].channel,
                                                   r->method, NULL, NULL);
    r->metadata = xcalloc(lines->len + 1, sizeof(*r->metadata));
    for (size_t i = 0; i < lines->len; i++) {
        if (add_metadata(r, lines->items[i], err))
            return -1;
    }
    r->has_id = c->settings->request_id;
    if (r->has_id) {
        grpc_slice_unref(r->metadata[r->n_metadata - 1].value);
        r->metadata[r->n_metadata - 1].value = grpc_empty_slice();
    }
    return 0;
}

/* Classes may share a place. */
static int place_init(struct rpc_place *p, const struct endpoint *e,
                      const struct transport_env *env, struct rpc_queue *queue,
                      struct err *err)
{
    size_t n = env->channels > 0 ? (size_t)env->channels : 1;

    if (p->len > 0)
        return 0;
    p->channels = xcalloc(n, sizeof(*p->channels));
    for (; p->len < n; p->len++) {
        if (channel_init(&p->channels[p->len], e, env->settings, queue, err))
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
    for (size_t k = 0; k < workload->len; k++) {
        const struct class *c = &workload->classes[k];

        for (size_t i = 0; i < c->targets->n_endpoints; i++) {
            const struct endpoint *e = &c->targets->endpoints[i];
            struct rpc_place *place = &r->places[e->place];

            if (place_init(place, e, env, queue, err) ||
                route_init(&r->routes[c->first_route + i], c, e, place, err))
                return -1;
        }
    }
    return 0;
}

/* The channels of a place all go to one address. */
static int place_break(const struct rpc_place *p, bool is_forced)
{
    return p->len > 0 ? channel_break(&p->channels[0], is_forced) : 0;
}

void rpc_routes_break(struct rpc_routes *r, bool is_forced)
{
    for (size_t i = 0; i < r->n_places; i++)
        r->n_broken += place_break(&r->places[i], is_forced);
}

/* A channel is gone when its watch has ended. */
static int place_fini(struct rpc_place *p, struct rpc_queue *queue)
{
    int n_broken;

    for (size_t i = 0; i < p->len; i++) {
        p->channels[i].is_closing = true;
        grpc_channel_destroy(p->channels[i].channel);
    }
    n_broken = place_break(p, false);
    for (size_t i = 0; i < p->len; i++) {
        while (p->channels[i].is_watched)
            handoff_wait(&queue->handoff, NS_PER_S);
    }
    free(p->channels);
    return n_broken;
}

void rpc_routes_fini(struct rpc_routes *r, struct rpc_queue *queue)
{
    int n_broken = r->n_broken;

    for (size_t i = 0; r->routes && i < r->n_routes; i++) {
        struct rpc_route *route = &r->routes[i];

        for (size_t k = 0; k < route->n_metadata; k++) {
            grpc_slice_unref(route->metadata[k].key);
            grpc_slice_unref(route->metadata[k].value);
        }
        if (route->message)
            grpc_byte_buffer_destroy(route->message);
        free(route->metadata);
        free(route->handles);
    }
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

struct rpc_channel *rpc_routes_find_unready(const struct rpc_routes *r)
{
    for (size_t i = 0; i < r->n_places; i++) {
        for (size_t k = 0; k < r->places[i].len; k++) {
            if (!rpc_channel_is_ready(&r->places[i].channels[k]))
                return &r->places[i].channels[k];
        }
    }
    return NULL;
}
