#include "loadgen/transport/transport.h"

#include <string.h>

#include "common/err.h"
#include "common/settings.h"

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

const struct transport_ops *transport_choose(const struct target_settings *s,
                                             const char *scheme,
                                             struct err *err)
{
    const char *beyond = beyond_native(s, scheme);

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
