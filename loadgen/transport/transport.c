#include "loadgen/transport/transport.h"

#include <event2/event.h>
#include <event2/thread.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/url.h"
#include "common/config.h"
#include "common/settings/settings.h"

/* What the native transport does not speak. */
static const char *beyond_native(const struct target_settings *s,
                                 const char *scheme)
{
    return strcmp(scheme, "https") == 0 ? "TLS"
           : s->http2                   ? "HTTP/2"
           : s->proxy                   ? "proxies"
           : s->unix_socket             ? "unix sockets"
                                        : NULL;
}

#if HAVE_GRPC
static const struct transport_ops *const grpc = &transport_grpc;
#else
static const struct transport_ops *const grpc = NULL;
#endif

/* What of HTTP's has no meaning for gRPC; or NULL. */
static const char *beyond_grpc(const struct target_settings *s)
{
    return s->proxy                         ? "proxy"
           : s->http2                       ? "http2"
           : s->no_keepalive                ? "no_keepalive"
           : s->transport != TRANSPORT_AUTO ? "transport"
                                            : NULL;
}

static const struct transport_ops *choose_grpc(const struct target_settings *s,
                                               struct err *err)
{
    const char *beyond = beyond_grpc(s);
    bool is_torn = s->insecure && (s->cert || s->ca_file);

    if (!grpc)
        err_set(err, ERR_CONFIG, "target.url: built without gRPC");
    else if (beyond)
        err_set(err, ERR_CONFIG, "target.%s cannot be combined with gRPC",
                beyond);
    else if (is_torn)
        err_set(
            err, ERR_CONFIG,
            "target.insecure with gRPC cannot be combined with certificates");
    return beyond || is_torn ? NULL : grpc;
}

const struct transport_ops *transport_choose(const struct target_settings *s,
                                             const char *scheme,
                                             struct err *err)
{
    const char *beyond = beyond_native(s, scheme);

    if (url_is_grpc(scheme))
        return choose_grpc(s, err);

    if (strcmp(scheme, "null") == 0)
        return &transport_null;
    if (s->http2 && strcmp(scheme, "https") != 0) {
        err_set(err, ERR_CONFIG,
                "target.http2: over TLS only; write https://, or leave it");
        return NULL;
    }
    if (s->transport == TRANSPORT_NATIVE && beyond) {
        err_set(err, ERR_CONFIG,
                "target.transport: the native one does not speak %s", beyond);
        return NULL;
    }
    return beyond || s->transport == TRANSPORT_CURL ? &transport_curl
                                                    : &transport_http1;
}

/* With locks only where there are two threads. */
struct event_base *transport_base_new(const struct transport_ops *ops)
{
    struct event_config *config;
    struct event_base *base;

    if (ops->handoff && evthread_use_pthreads())
        return NULL;
    config = event_config_new();
    event_config_set_flag(config, EVENT_BASE_FLAG_NO_CACHE_TIME);
    if (!ops->handoff)
        event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
    base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}
