#include "loadgen/transport/grpc_channel.h"

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
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/prepare/target.h"
#include "loadgen/transport/socket.h"

#define MAX_PEM ((size_t)16 << 20)

/* A load test wants to know when the server is back, not to spare it. */
#define FIRST_BACKOFF_MS 100
#define MAX_BACKOFF_MS   1000

#define EXPLAIN_MS 1000

/* ---- whom to trust, and with what to prove who we are ---- */

static int read_pem(const char *key, const char *path, struct buf *out,
                    struct err *err)
{
    buf_init(out, MAX_PEM);
    return path && file_read(path, out, err)
               ? err_context(err, "target.%s", key)
               : 0;
}

/* Without a look at the server's certificate. */
static grpc_channel_credentials *trust_anybody(void)
{
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

static grpc_channel_credentials *trust_authorities(const struct buf *ca,
                                                   const struct buf *cert,
                                                   const struct buf *key)
{
    grpc_ssl_pem_key_cert_pair pair = {.private_key = buf_text(key),
                                       .cert_chain = buf_text(cert)};

    return grpc_ssl_credentials_create_ex(ca->len > 0 ? buf_text(ca) : NULL,
                                          cert->len > 0 ? &pair : NULL, NULL,
                                          NULL);
}

/* The caller's; NULL with err set. */
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
    if (s->insecure)
        return trust_anybody();
    if (read_pem("ca_file", s->ca_file, &ca, err) == 0 &&
        read_pem("cert", s->cert, &cert, err) == 0 &&
        read_pem("key", s->key, &key, err) == 0)
        made = trust_authorities(&ca, &cert, &key);
    buf_fini(&ca);
    buf_fini(&cert);
    buf_fini(&key);
    return made;
}

/* ---- making ---- */

/* A list of arguments as gRPC takes them; texts are borrowed. */
struct args {
    grpc_arg items[16];
    size_t len;
};

static void add_number(struct args *a, const char *key, int value)
{
    a->items[a->len++] = (grpc_arg){.type = GRPC_ARG_INTEGER,
                                    .key = (char *)(uintptr_t)key,
                                    .value.integer = value};
}

static void add_text(struct args *a, const char *key, const char *value)
{
    a->items[a->len++] = (grpc_arg){.type = GRPC_ARG_STRING,
                                    .key = (char *)(uintptr_t)key,
                                    .value.string = (char *)(uintptr_t)value};
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

/* "ipv4:127.0.0.1:80": gRPC resolves nothing, so that addresses take turns as
 * they do for HTTP.  The caller frees it. */
static char *address_of(const struct endpoint *e,
                        const struct target_settings *s)
{
    char text[SOCKET_ADDRESS_TEXT];

    if (!e->address)
        return xasprintf("unix:%s", s->unix_socket);
    return xasprintf("%s:%s",
                     e->address->ai_family == AF_INET6 ? "ipv6" : "ipv4",
                     socket_address_text(e->address, text));
}

static char *authority_of(const struct url *url)
{
    bool is_ipv6 = strchr(url->host, ':') != NULL;

    return xasprintf("%s%s%s:%s", is_ipv6 ? "[" : "", url->host,
                     is_ipv6 ? "]" : "", url->port);
}

/* Deadlines go out with every call, and the engine keeps them: a second timer a
 * call, of C-core's, would only make two judges of one fact.  Nor may it close
 * what is idle behind our back. */
static void add_args(struct args *a, const struct endpoint *e,
                     const struct target_settings *s, const char *authority)
{
    const char *agent = find_header(s, "user-agent");
    const char *host = find_header(s, "host");

    add_number(a, GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    add_number(a, GRPC_ARG_ENABLE_RETRIES, 0);
    add_number(a, GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    add_number(a, GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
    add_number(a, GRPC_ARG_ENABLE_CHANNELZ, 0);
    add_number(a, GRPC_ARG_ENABLE_DEADLINE_CHECKS, 0);
    add_number(a, GRPC_ARG_CLIENT_IDLE_TIMEOUT_MS, INT_MAX);
    add_number(a, GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
               bounded(s->max_response));
    add_number(a, GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, FIRST_BACKOFF_MS);
    add_number(a, GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, MAX_BACKOFF_MS);
    add_number(a, GRPC_ARG_MIN_RECONNECT_BACKOFF_MS,
               bounded(s->connect_timeout_ns / NS_PER_MS));
    add_text(a, GRPC_ARG_PRIMARY_USER_AGENT_STRING, agent ? agent : "tailgate");
    add_text(a, GRPC_ARG_DEFAULT_AUTHORITY, host ? host : authority);
    if (strcmp(e->target->url.scheme, "grpcs") == 0)
        add_text(a, GRPC_SSL_TARGET_NAME_OVERRIDE_ARG, e->target->url.host);
}

/* ---- its state ---- */

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

static void on_news(struct post *post)
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

int rpc_channel_init(struct rpc_channel *c, const struct endpoint *e,
                     const struct target_settings *s, struct rpc_queue *queue,
                     struct err *err)
{
    grpc_channel_credentials *creds =
        make_credentials(e->target->url.scheme, s, err);
    struct args args = {0};
    grpc_channel_args list;
    char *authority;
    char *address;

    if (!creds)
        return -1;
    authority = authority_of(&e->target->url);
    address = address_of(e, s);
    add_args(&args, e, s, authority);
    list.num_args = args.len;
    list.args = args.items;
    c->channel = grpc_channel_create(address, creds, &list);
    c->address = e->address;
    c->unix_socket = s->unix_socket;
    c->post.run = on_news;
    c->queue = queue;
    c->ready_ns = TIME_ABSENT;
    c->state = grpc_channel_check_connectivity_state(c->channel, 0);
    watch(c);
    grpc_channel_credentials_release(creds);
    free(authority);
    free(address);
    return 0;
}

void rpc_channel_close(struct rpc_channel *c)
{
    c->is_closing = true;
    if (c->channel)
        grpc_channel_destroy(c->channel);
    c->channel = NULL;
}

int rpc_channel_break(const struct rpc_channel *c, bool is_forced)
{
    struct sockaddr_un path = {.sun_family = AF_UNIX};

    if (c->address)
        return socket_shut_stuck(c->address->ai_addr, is_forced);
    snprintf(path.sun_path, sizeof(path.sun_path), "%s", c->unix_socket);
    return socket_shut_stuck((const struct sockaddr *)&path, is_forced);
}

void rpc_channel_connect(struct rpc_channel *c)
{
    grpc_channel_check_connectivity_state(c->channel, 1);
}

/* A call on a channel that has just failed fails at once, and says why. */
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
        rpc_channel_break(c, true);
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
