#include "loadgen/transport/curl_probe.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/prepare/target.h"
#include "loadgen/transport/curl_options.h"
#include "loadgen/transport/curl_trust.h"
#include "loadgen/transport/socket.h"

#define DEFAULT_PROXY_PORT "1080" /* libcurl's */

struct attempt {
    CURL *easy;
    CURLcode code;
    struct curl_agreed agreed;
    char text[CURL_ERROR_SIZE];
};

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

/* The name stays the URL's; the address is one of those that it has. */
static struct curl_slist *way_to(const struct addrinfo *address)
{
    char text[SOCKET_ADDRESS_TEXT];
    char *to;
    struct curl_slist *list;

    if (!address)
        return NULL;
    to = xasprintf("::%s", socket_address_text(address, text));
    list = curl_slist_append(NULL, to);
    free(to);
    return list;
}

/* "proxy 127.0.0.1:3128", without its password. */
static void name_proxy(const char *proxy, char *out, size_t size)
{
    CURLU *url = curl_url();
    char *host = NULL;
    char *port = NULL;

    if (!url)
        abort(); /* out of memory */
    curl_url_set(url, CURLUPART_URL, proxy,
                 CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME);
    curl_url_get(url, CURLUPART_HOST, &host, 0);
    curl_url_get(url, CURLUPART_PORT, &port, 0);
    snprintf(out, size, "proxy %s:%s", host ? host : "?",
             port ? port : DEFAULT_PROXY_PORT);
    curl_free(port);
    curl_free(host);
    curl_url_cleanup(url);
}

/* What could not be reached, and why. */
static void name_way(const struct attempt *a, const struct target_settings *s,
                     char *why, size_t size)
{
    char place[300];
    long error = 0;

    if (s->proxy)
        name_proxy(s->proxy, place, sizeof(place));
    else
        snprintf(place, sizeof(place), "unix socket %s", s->unix_socket);
    curl_easy_getinfo(a->easy, CURLINFO_OS_ERRNO, &error);
    snprintf(why, size, "%s: %s", place,
             a->code == CURLE_OPERATION_TIMEDOUT
                 ? "not connected within the connect timeout"
             : error ? socket_error_text((int)error)
                     : a->text);
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
    if (a->code == CURLE_OK && s->http2 && a->agreed.is_known &&
        strcmp(a->agreed.protocol, "h2") != 0) {
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
        name_way(a, s, why, size);
        return false;
    }
    return true;
}

bool curl_probe(const struct endpoint *e, const struct target_settings *s,
                char *why, size_t size)
{
    struct curl_slist *way = way_to(e->address);
    struct attempt a = {.easy = curl_easy_init()};
    bool is_ok;

    if (!a.easy)
        abort(); /* out of memory */
    curl_easy_setopt(a.easy, CURLOPT_URL, e->target->text);
    curl_easy_setopt(a.easy, CURLOPT_ERRORBUFFER, a.text);
    curl_easy_setopt(a.easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(a.easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(a.easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_set_connection(a.easy, s, NULL, way);
    curl_trust_note_agreed(a.easy, &a.agreed);
    a.code = curl_easy_perform(a.easy);
    is_ok = judge(&a, e, s, why, size);
    curl_easy_cleanup(a.easy);
    curl_slist_free_all(way);
    return is_ok;
}
