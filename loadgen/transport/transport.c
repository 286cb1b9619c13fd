#include "loadgen/transport/transport.h"

#include <event2/event.h>
#include <event2/thread.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/url.h"
#include "common/config.h"
#include "common/settings/settings.h"

#if HAVE_GRPC
static const struct transport_ops *const grpc = &transport_grpc;
#else
static const struct transport_ops *const grpc = NULL;
#endif

static const struct transport_ops *choose_grpc(const struct target_settings *s,
                                               struct err *err)
{
    const char *key = s->proxy                         ? "proxy"
                      : s->http2                       ? "http2"
                      : s->no_keepalive                ? "no_keepalive"
                      : s->transport != TRANSPORT_AUTO ? "transport"
                                                       : NULL;

    if (!grpc)
        err_set(err, ERR_CONFIG, "target.url: built without gRPC");
    else if (key)
        err_set(err, ERR_CONFIG, "target.%s cannot be combined with gRPC", key);
    else if (s->insecure && (s->cert || s->ca_file))
        err_set(err, ERR_CONFIG,
                "target.insecure cannot be combined with certificates over "
                "gRPC");
    return err->code ? NULL : grpc;
}

const struct transport_ops *transport_choose(const struct target_settings *s,
                                             const char *scheme,
                                             struct err *err)
{
    bool is_tls = strcmp(scheme, "https") == 0;
    const char *beyond_native = is_tls           ? "TLS"
                                : s->http2       ? "HTTP/2"
                                : s->proxy       ? "proxies"
                                : s->unix_socket ? "unix sockets"
                                                 : NULL;

    if (url_is_grpc(scheme))
        return choose_grpc(s, err);
    if (strcmp(scheme, "null") == 0)
        return &transport_null;
    if (s->http2 && !is_tls) {
        err_set(err, ERR_CONFIG, "target.http2 requires an https:// URL");
        return NULL;
    }
    if (s->transport == TRANSPORT_NATIVE && beyond_native) {
        err_set(err, ERR_CONFIG,
                "target.transport: the native transport does not support %s",
                beyond_native);
        return NULL;
    }
    return beyond_native || s->transport == TRANSPORT_CURL ? &transport_curl
                                                           : &transport_http1;
}

/* With locks only if there are two threads. */
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
