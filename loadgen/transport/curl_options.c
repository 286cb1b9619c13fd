#include "loadgen/transport/curl_options.h"

#include "common/base/buf.h"
#include "common/settings/settings.h"
#include "loadgen/payload/workload.h"
#include "loadgen/prepare/target.h"
#include "loadgen/transport/curl_trust.h"
#include "loadgen/transport/transport.h"

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

static void set_tap(CURL *easy, const struct transport_env *env)
{
    if (!env->tap)
        return;
    curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, on_debug);
    curl_easy_setopt(easy, CURLOPT_DEBUGDATA, env);
    curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
}

static void set_method(CURL *easy, const struct class *class)
{
    const struct targets *ts = class->targets;

    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, class->settings->method);
    if (ts->is_head) {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    } else if (ts->has_length) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, buf_text(&ts->body));
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                         (curl_off_t)ts->body.len);
    }
}

/* Verification is on unless it was asked off. */
static void set_tls(CURL *easy, const struct target_settings *s,
                    const struct curl_trust *trust)
{
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, s->insecure ? 0L : 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, s->insecure ? 0L : 2L);
    curl_trust_set(trust, s->ca_file, s->http2 && s->insecure, easy);
    if (s->cert)
        curl_easy_setopt(easy, CURLOPT_SSLCERT, s->cert);
    if (s->key)
        curl_easy_setopt(easy, CURLOPT_SSLKEY, s->key);
}

/* Rounded up: 0 would be libcurl's own. */
static long to_ms(int64_t ns)
{
    return (long)((ns + NS_PER_MS - 1) / NS_PER_MS);
}

/* Proxies of the environment are not asked: "" is none. */
static void set_way(CURL *easy, const struct target_settings *s,
                    struct curl_slist *connect_to)
{
    curl_easy_setopt(easy, CURLOPT_PROXY, s->proxy ? s->proxy : "");
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to);
    if (s->unix_socket)
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, s->unix_socket);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                     to_ms(s->connect_timeout_ns));
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, s->no_keepalive ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, s->no_keepalive ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                     s->http2 ? (long)CURL_HTTP_VERSION_2TLS
                              : (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT,
                     s->http2 && !s->no_keepalive ? 1L : 0L);
}

void curl_set_connection(CURL *easy, const struct target_settings *s,
                         const struct curl_trust *trust,
                         struct curl_slist *connect_to)
{
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    set_tls(easy, s, trust);
    set_way(easy, s, connect_to);
}

void curl_set_options(CURL *easy, const struct transport_env *env,
                      const struct class *class, const struct curl_trust *trust,
                      struct curl_slist *connect_to)
{
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    set_method(easy, class);
    curl_set_connection(easy, env->settings, trust, connect_to);
    set_tap(easy, env);
}

const char *transport_curl_version(void)
{
    return curl_version();
}
