#include "loadgen/transport/tls_trust.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"

struct tls_trust {
    char *ca_file; /* "": the system's */
    X509_STORE *store;
    int users;
    struct tls_trust *next;
};

/* All that are in use. */
static struct tls_trust *all;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;

static X509_STORE *load_store(const char *ca_file, struct err *err)
{
    X509_STORE *store = X509_STORE_new();
    bool is_loaded;

    if (!store)
        abort(); /* out of memory */
    is_loaded = ca_file ? X509_STORE_load_file(store, ca_file)
                        : X509_STORE_set_default_paths(store);
    ERR_clear_error();
    if (!is_loaded) {
        X509_STORE_free(store);
        err_set(err, ERR_CONFIG, "target.ca_file: %s: no certificates in it",
                ca_file ? ca_file : "the system's");
        return NULL;
    }
    /* Like libcurl: any certificate in it is trusted, not only a root. */
    X509_STORE_set_flags(store,
                         X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN);
    return store;
}

struct tls_trust *tls_trust_take(const char *ca_file, struct err *err)
{
    struct tls_trust *t;
    X509_STORE *store;

    pthread_mutex_lock(&all_lock);
    t = all;
    while (t && strcmp(t->ca_file, ca_file ? ca_file : "") != 0)
        t = t->next;
    if (!t && (store = load_store(ca_file, err))) {
        t = xcalloc(1, sizeof(*t));
        *t = (struct tls_trust){.ca_file = xstrdup(ca_file ? ca_file : ""),
                                .store = store,
                                .next = all};
        all = t;
    }
    if (t)
        t->users++;
    pthread_mutex_unlock(&all_lock);
    return t;
}

void tls_trust_give_back(struct tls_trust *t)
{
    struct tls_trust **at = &all;

    if (!t)
        return;
    pthread_mutex_lock(&all_lock);
    if (--t->users == 0) {
        while (*at != t)
            at = &(*at)->next;
        *at = t->next;
        X509_STORE_free(t->store);
        free(t->ca_file);
        free(t);
    }
    pthread_mutex_unlock(&all_lock);
}

void tls_trust_use(const struct tls_trust *t, SSL_CTX *context)
{
    X509_STORE_up_ref(t->store);
    SSL_CTX_set_cert_store(context, t->store);
}
