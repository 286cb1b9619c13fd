#include "loadgen/transport/curl_trust.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "loadgen/transport/curl_loop.h"

struct curl_trust {
    char *ca_file; /* NULL: the system's */
    X509_STORE *store;
    int users;
    struct curl_trust *next;
};

/* Every one that is in use. */
static struct curl_trust *all;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* A store can only be handed to the library that made it. */
static bool is_our_openssl(void)
{
    const char *its = curl_version_info(CURLVERSION_NOW)->ssl_version;
    char ours[24];

    snprintf(ours, sizeof(ours), "OpenSSL/%u.", OPENSSL_version_major());
    return its && strncmp(its, ours, strlen(ours)) == 0;
}

/* What libcurl was built to look at. */
static bool load_system(X509_STORE *store)
{
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    bool has_file = info->cainfo && X509_STORE_load_file(store, info->cainfo);
    bool has_path = info->capath && X509_STORE_load_path(store, info->capath);

    return has_file || has_path || X509_STORE_set_default_paths(store);
}

static X509_STORE *load(const char *ca_file, struct err *err)
{
    X509_STORE *store = X509_STORE_new();
    bool is_loaded;

    if (!store)
        abort(); /* out of memory */
    is_loaded =
        ca_file ? X509_STORE_load_file(store, ca_file) : load_system(store);
    ERR_clear_error();
    if (!is_loaded) {
        X509_STORE_free(store);
        err_set(err, ERR_CONFIG, "target.ca_file: %s: no certificates in it",
                ca_file ? ca_file : "the system's");
        return NULL;
    }
    /* As libcurl would: any certificate in it will do, not only a root. */
    X509_STORE_set_flags(store,
                         X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN);
    return store;
}

static struct curl_trust *find_or_load(const char *ca_file, struct err *err)
{
    struct curl_trust *t = all;
    X509_STORE *store;

    while (t && !is_same(t->ca_file, ca_file))
        t = t->next;
    if (t)
        return t;
    store = load(ca_file, err);
    if (!store)
        return NULL;
    t = xcalloc(1, sizeof(*t));
    t->ca_file = ca_file ? xstrdup(ca_file) : NULL;
    t->store = store;
    t->next = all;
    all = t;
    return t;
}

struct curl_trust *curl_trust_take(const char *ca_file, struct err *err)
{
    struct curl_trust *t;

    if (!is_our_openssl())
        return NULL;
    pthread_mutex_lock(&all_lock);
    t = find_or_load(ca_file, err);
    if (t)
        t->users++;
    pthread_mutex_unlock(&all_lock);
    return t;
}

static void drop(struct curl_trust *t)
{
    struct curl_trust **at = &all;

    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    X509_STORE_free(t->store);
    free(t->ca_file);
    free(t);
}

void curl_trust_give_back(struct curl_trust *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&all_lock);
    if (--t->users == 0)
        drop(t);
    pthread_mutex_unlock(&all_lock);
}

/* NOLINTNEXTLINE(readability-function-size): as OpenSSL calls it */
static void on_record(int is_sent, int version, int type, const void *data,
                      size_t len, SSL *ssl, void *arg)
{
    const unsigned char *head = data;

    (void)version;
    (void)ssl;
    if (!is_sent && type == SSL3_RT_HEADER && len == SSL3_RT_HEADER_LENGTH)
        curl_loop_received(arg, (size_t)head[3] << 8 | head[4]);
}

static CURLcode on_context(CURL *easy, void *context, void *arg)
{
    const struct curl_trust *t = arg;
    struct curl_watch *watch = curl_loop_guarded(easy);

    if (t) {
        X509_STORE_up_ref(t->store);
        SSL_CTX_set_cert_store(context, t->store);
    }
    if (watch) {
        SSL_CTX_set_msg_callback(context, on_record);
        SSL_CTX_set_msg_callback_arg(context, watch);
    }
    return CURLE_OK;
}

void curl_trust_set(const struct curl_trust *t, const char *ca_file,
                    bool is_guarded, CURL *easy)
{
    bool has_records = is_guarded && is_our_openssl();

    if (!t && !ca_file && !has_records)
        return;
    curl_easy_setopt(easy, CURLOPT_CAINFO, t ? NULL : ca_file);
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    if (!t && !has_records)
        return;
    curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, NULL);
    curl_easy_setopt(easy, CURLOPT_PROXY_CAPATH, NULL);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, on_context);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, t);
}

/* Of a handshake that is done, and of nothing else. */
static void on_handshake(const SSL *ssl, int where, int value)
{
    struct curl_agreed *agreed = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    const unsigned char *text = NULL;
    unsigned len = 0;

    (void)value;
    if (where != SSL_CB_HANDSHAKE_DONE)
        return;
    SSL_get0_alpn_selected(ssl, &text, &len);
    agreed->is_known = true;
    snprintf(agreed->protocol, sizeof(agreed->protocol), "%.*s", (int)len,
             len > 0 ? (const char *)text : "");
}

static CURLcode on_new_context(CURL *easy, void *context, void *arg)
{
    (void)easy;
    SSL_CTX_set_app_data(context, arg);
    SSL_CTX_set_info_callback(context, on_handshake);
    return CURLE_OK;
}

void curl_trust_note_agreed(CURL *easy, struct curl_agreed *agreed)
{
    if (!is_our_openssl())
        return;
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, on_new_context);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, agreed);
}
