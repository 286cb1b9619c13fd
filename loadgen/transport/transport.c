#include "loadgen/transport/transport.h"

#include <event2/event.h>
#include <event2/thread.h>
#include <string.h>

#include "common/base/err.h"
#include "common/config.h"
#include "common/settings/settings.h"
#include "common/text/url.h"

#if HAVE_GRPC
static const struct transport_ops *const grpc = &transport_grpc;
#else
static const struct transport_ops *const grpc = NULL;
#endif

struct feature {
    const char *name;
    bool is_used;
};

/* The first that is used; NULL: none. */
static const char *first_used(const struct feature *features, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (features[i].is_used)
            return features[i].name;
    }
    return NULL;
}

static const struct transport_ops *choose_grpc(const struct target_settings *s,
                                               struct err *err)
{
    const struct feature excluded[] = {
        {"proxy", s->proxy != NULL},
        {"http2", s->http2},
        {"no_keepalive", s->no_keepalive},
        {"transport", s->transport != TRANSPORT_AUTO},
    };
    const char *key =
        first_used(excluded, sizeof(excluded) / sizeof(excluded[0]));
    bool is_contradictory = s->insecure && (s->cert || s->ca_file);

    if (!grpc)
        err_set(err, ERR_CONFIG,
                "target.url: this tailgate was built without gRPC");
    else if (key)
        err_set(err, ERR_CONFIG, "target.%s cannot be combined with gRPC", key);
    else if (is_contradictory)
        err_set(err, ERR_CONFIG,
                "target.insecure cannot be combined with certificates over "
                "gRPC");
    return key || is_contradictory ? NULL : grpc;
}

const struct transport_ops *transport_choose(const struct target_settings *s,
                                             const char *scheme,
                                             struct err *err)
{
    bool is_tls = strcmp(scheme, "https") == 0;
    const struct feature needs_curl[] = {
        {"proxies", s->proxy != NULL},
        {"unix sockets", s->unix_socket != NULL},
    };
    const char *feature =
        first_used(needs_curl, sizeof(needs_curl) / sizeof(needs_curl[0]));

    if (url_is_grpc(scheme))
        return choose_grpc(s, err);
    if (strcmp(scheme, "null") == 0)
        return &transport_null;
    if (s->transport == TRANSPORT_NATIVE && feature) {
        err_set(err, ERR_CONFIG,
                "target.transport: the native transport does not support %s",
                feature);
        return NULL;
    }
    if (!feature && s->transport != TRANSPORT_CURL)
        return s->http2 ? &transport_http2 : &transport_http1;
    if (s->http2 && !is_tls) {
        err_set(err, ERR_CONFIG,
                "target.http2 requires an https:// URL if libcurl is used");
        return NULL;
    }
    if (s->streams > 0) {
        err_set(err, ERR_CONFIG, "target.streams cannot be used with libcurl");
        return NULL;
    }
    return &transport_curl;
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
