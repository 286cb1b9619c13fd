#include "loadgen/transport/curl_connect.h"

#include <curl/curl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/prepare/target.h"
#include "loadgen/transport/curl_pool.h"
#include "loadgen/transport/socket.h"
#include "loadgen/transport/tls_context.h"
#include "loadgen/transport/tls_trust.h"
#include "loadgen/transport/transport.h"

#define DEFAULT_PROXY_PORT "1080" /* libcurl's */

/* ---- authorities ---- */

/* A store can only be used by the library that made it. */
static bool is_our_openssl(void)
{
    const char *its = curl_version_info(CURLVERSION_NOW)->ssl_version;
    char ours[24];

    snprintf(ours, sizeof(ours), "OpenSSL/%u.", OPENSSL_version_major());
    return its && strncmp(its, ours, strlen(ours)) == 0;
}

struct tls_trust *curl_trust_take(const char *ca_file, struct err *err)
{
    return is_our_openssl() ? tls_trust_take(ca_file, err) : NULL;
}

/* NOLINTNEXTLINE(readability-function-size): as OpenSSL calls it */
static void on_record(int is_sent, int version, int type, const void *data,
                      size_t len, SSL *ssl, void *arg)
{
    const unsigned char *head = data;

    (void)version;
    (void)ssl;
    if (!is_sent && type == SSL3_RT_HEADER && len == SSL3_RT_HEADER_LENGTH)
        curl_pool_received(arg, (size_t)head[3] << 8 | head[4]);
}

static CURLcode on_context(CURL *easy, void *context, void *arg)
{
    const struct tls_trust *t = arg;
    struct curl_socket *socket = curl_pool_guarded(easy);

    if (t)
        tls_trust_use(t, context);
    if (socket) {
        SSL_CTX_set_msg_callback(context, on_record);
        SSL_CTX_set_msg_callback_arg(context, socket);
    }
    return CURLE_OK;
}

/* ---- a connection ---- */

/* Without a trust libcurl finds the authorities itself.  With HTTP/2 the pool
 * is told of each record that is received, see curl_pool_received(). */
static void set_authorities(CURL *easy, const struct target_settings *s,
                            const struct tls_trust *t)
{
    bool has_records = s->http2 && s->insecure && is_our_openssl();

    if (!t && !s->ca_file && !has_records)
        return;
    curl_easy_setopt(easy, CURLOPT_CAINFO, t ? NULL : s->ca_file);
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    if (!t && !has_records)
        return;
    curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, NULL);
    curl_easy_setopt(easy, CURLOPT_PROXY_CAPATH, NULL);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, on_context);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, t);
}

/* Proxies of the environment are ignored: "" means no proxy.  The timeout is
 * rounded up, because 0 would be libcurl's default. */
void curl_set_connection(void *easy, const struct target_settings *s,
                         const struct tls_trust *trust,
                         struct curl_slist *connect_to)
{
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, s->insecure ? 0L : 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, s->insecure ? 0L : 2L);
    curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE,
                     s->tls_resume == RESUME_OFF ? 0L : 1L);
    set_authorities(easy, s, trust);
    if (s->cert)
        curl_easy_setopt(easy, CURLOPT_SSLCERT, s->cert);
    if (s->key)
        curl_easy_setopt(easy, CURLOPT_SSLKEY, s->key);
    curl_easy_setopt(easy, CURLOPT_PROXY, s->proxy ? s->proxy : "");
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to);
    if (s->unix_socket)
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, s->unix_socket);
    curl_easy_setopt(
        easy, CURLOPT_CONNECTTIMEOUT_MS,
        (long)((s->connect_timeout_ns + NS_PER_MS - 1) / NS_PER_MS));
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, s->no_keepalive ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, s->no_keepalive ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                     s->http2 ? (long)CURL_HTTP_VERSION_2TLS
                              : (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT,
                     s->http2 && !s->no_keepalive ? 1L : 0L);
}

void curl_count_handshake(void *easy, struct tls_counts *counts)
{
    const struct curl_tlssessioninfo *info = NULL;

    curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info);
    if (info && info->internals && is_our_openssl())
        tls_counts_add(counts, info->internals);
}

struct curl_slist *curl_connect_to(const struct endpoint *e)
{
    char address[SOCKET_ADDRESS_TEXT];
    struct curl_slist *list;
    char *text;

    if (!e->address)
        return NULL;
    text = xasprintf("::%s", socket_address_text(e->address, address));
    list = curl_slist_append(NULL, text);
    free(text);
    return list;
}

/* Not curl_version(): that initialises LDAP, which asks the DNS for the name of
 * this host, and waits 10 s where there is no answer. */
const char *transport_curl_version(void)
{
    return curl_version_info(CURLVERSION_NOW)->version;
}

/* ---- the probe ---- */

struct attempt {
    CURL *easy;
    CURLcode code;
    bool has_protocol; /* the handshake was seen, ... */
    char protocol[16]; /* ... and agreed on this (ALPN), such as "h2"; or "" */
    char text[CURL_ERROR_SIZE];
};

static void on_handshake(const SSL *ssl, int where, int value)
{
    struct attempt *a = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    const unsigned char *text = NULL;
    unsigned len = 0;

    (void)value;
    if (where != SSL_CB_HANDSHAKE_DONE)
        return;
    SSL_get0_alpn_selected(ssl, &text, &len);
    a->has_protocol = true;
    snprintf(a->protocol, sizeof(a->protocol), "%.*s", (int)len,
             len > 0 ? (const char *)text : "");
}

static CURLcode on_new_context(CURL *easy, void *context, void *arg)
{
    (void)easy;
    SSL_CTX_set_app_data(context, arg);
    SSL_CTX_set_info_callback(context, on_handshake);
    return CURLE_OK;
}

static int on_progress(void *arg, curl_off_t a, curl_off_t b, curl_off_t c,
                       curl_off_t d)
{
    (void)arg;
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return atomic_load(&stop_signal) != 0;
}

/* The proxy, without its password, or the socket that could not be reached, and
 * why. */
static void name_first_hop(const struct attempt *a,
                           const struct target_settings *s, char *why,
                           size_t size)
{
    CURLU *url = curl_url();
    char *host = NULL;
    char *port = NULL;
    char place[300];
    long error = 0;

    if (!url)
        abort(); /* out of memory */
    snprintf(place, sizeof(place), "unix socket %s",
             s->unix_socket ? s->unix_socket : "");
    if (s->proxy) {
        curl_url_set(url, CURLUPART_URL, s->proxy,
                     CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME);
        curl_url_get(url, CURLUPART_HOST, &host, 0);
        curl_url_get(url, CURLUPART_PORT, &port, 0);
        snprintf(place, sizeof(place), "proxy %s:%s", host ? host : "?",
                 port ? port : DEFAULT_PROXY_PORT);
    }
    curl_easy_getinfo(a->easy, CURLINFO_OS_ERRNO, &error);
    snprintf(why, size, "%s: %s", place,
             a->code == CURLE_OPERATION_TIMEDOUT
                 ? "not connected within the connect timeout"
             : error ? socket_error_text((int)error)
                     : a->text);
    curl_free(port);
    curl_free(host);
    curl_url_cleanup(url);
}

static void name_server(const struct endpoint *e, const char *text, char *why,
                        size_t size)
{
    char address[SOCKET_ADDRESS_TEXT];

    snprintf(why, size, "%s%s%s: %s", e->target->url.host,
             e->address ? " at " : "",
             e->address ? socket_address_text(e->address, address) : "", text);
}

static bool judge(const struct attempt *a, const struct endpoint *e,
                  const struct target_settings *s, char *why, size_t size)
{
    curl_off_t connected_us = 0;

    curl_easy_getinfo(a->easy, CURLINFO_CONNECT_TIME_T, &connected_us);
    if (a->code == CURLE_OK && s->http2 && a->has_protocol &&
        strcmp(a->protocol, "h2") != 0) {
        name_server(e, "the server does not speak HTTP/2: leave out --http2",
                    why, size);
        return false;
    }
    if (a->code == CURLE_OK)
        return true;
    if (a->code == CURLE_PEER_FAILED_VERIFICATION) {
        name_server(e, a->text[0] ? a->text : curl_easy_strerror(a->code), why,
                    size);
        return false;
    }
    if ((s->proxy || s->unix_socket) && connected_us == 0) {
        name_first_hop(a, s, why, size);
        return false;
    }
    return true;
}

bool curl_probe(const struct endpoint *e, const struct target_settings *s,
                char *why, size_t size)
{
    struct curl_slist *connect_to = curl_connect_to(e);
    struct attempt a = {.easy = curl_easy_init()};
    bool is_ok;

    if (!a.easy)
        abort(); /* out of memory */
    curl_easy_setopt(a.easy, CURLOPT_URL, e->target->text);
    curl_easy_setopt(a.easy, CURLOPT_ERRORBUFFER, a.text);
    curl_easy_setopt(a.easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(a.easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(a.easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_set_connection(a.easy, s, NULL, connect_to);
    if (is_our_openssl()) {
        curl_easy_setopt(a.easy, CURLOPT_SSL_CTX_FUNCTION, on_new_context);
        curl_easy_setopt(a.easy, CURLOPT_SSL_CTX_DATA, &a);
    }
    a.code = curl_easy_perform(a.easy);
    is_ok = judge(&a, e, s, why, size);
    curl_easy_cleanup(a.easy);
    curl_slist_free_all(connect_to);
    return is_ok;
}
