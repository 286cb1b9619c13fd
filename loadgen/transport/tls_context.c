#include "loadgen/transport/tls_context.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/prepare/target.h"
#include "loadgen/transport/tls_trust.h"

struct tls_context {
    SSL_CTX *ctx;
    BIO_METHOD *method;
    struct tls_trust *trust; /* NULL: servers are not verified */
    SSL_SESSION **sessions;  /* the latest of each place, or NULL */
    size_t n_places;
    struct tls_counts counts;
};

/* ---- files ---- */

/* A run must not stop to ask for one. */
static int no_passphrase(char *out, int size, int is_writing, void *arg)
{
    (void)out;
    (void)size;
    (void)is_writing;
    (void)arg;
    return -1;
}

static int load_pair(SSL_CTX *ctx, const char *cert, const char *key,
                     struct err *err)
{
    if (SSL_CTX_use_certificate_chain_file(ctx, cert) != 1)
        return err_set(err, ERR_CONFIG, "target.cert: %s: no certificate in it",
                       cert);
    if (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) == 1)
        return 0;
    if (ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH)
        return err_set(err, ERR_CONFIG, "target.key: %s: does not belong to %s",
                       key, cert);
    return err_set(err, ERR_CONFIG,
                   "target.key: %s: no key in it, or one with a passphrase",
                   key);
}

/* A context with the client's certificate, or NULL. */
static SSL_CTX *load_context(const struct target_settings *s, struct err *err)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    int rc = 0;

    if (!ctx)
        abort(); /* out of memory */
    SSL_CTX_set_default_passwd_cb(ctx, no_passphrase);
    if (s->cert && s->key)
        rc = load_pair(ctx, s->cert, s->key, err);
    ERR_clear_error();
    if (rc == 0)
        return ctx;
    SSL_CTX_free(ctx);
    return NULL;
}

int tls_files_check(const struct target_settings *s, struct err *err)
{
    const struct {
        const char *key;
        const char *path;
    } files[] = {{"ca_file", s->ca_file}, {"cert", s->cert}, {"key", s->key}};
    struct tls_trust *trust = NULL;
    SSL_CTX *ctx;

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (files[i].path && access(files[i].path, R_OK) < 0)
            return err_set(err, ERR_CONFIG, "target.%s: %s: %s", files[i].key,
                           files[i].path, strerror(errno));
    }
    if (s->ca_file && !(trust = tls_trust_take(s->ca_file, err)))
        return -1;
    tls_trust_give_back(trust);
    ctx = load_context(s, err);
    SSL_CTX_free(ctx);
    return ctx ? 0 : -1;
}

/* ---- sessions ---- */

/* The server has sent a session, or the first one or two of several (TLS 1.3).
 * The SSL object knows where the latest of its place is kept. */
static int on_session(SSL *ssl, SSL_SESSION *session)
{
    SSL_SESSION **slot = SSL_get_app_data(ssl);

    SSL_SESSION_free(*slot);
    *slot = session;
    return 1; /* it is ours now */
}

/* With a copy: OpenSSL spoils a session of TLS 1.3 once it was used, and
 * connections that are opened meanwhile use it as well. */
static void resume(SSL *ssl, const SSL_SESSION *latest)
{
    SSL_SESSION *copy = SSL_SESSION_dup(latest);

    if (copy)
        SSL_set_session(ssl, copy);
    SSL_SESSION_free(copy);
}

/* ---- contexts ---- */

int tls_context_new(struct tls_context **context,
                    const struct target_settings *s, const char *protocol,
                    size_t n_places, struct err *err)
{
    struct tls_trust *trust = NULL;
    SSL_CTX *ctx = NULL;
    struct tls_context *c;
    unsigned char wanted[16] = {(unsigned char)strlen(protocol)};

    if ((s->insecure || (trust = tls_trust_take(s->ca_file, err))))
        ctx = load_context(s, err);
    if (!ctx) {
        tls_trust_give_back(trust);
        return -1;
    }
    if (trust) {
        tls_trust_use(trust, ctx);
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    }
    memcpy(wanted + 1, protocol, wanted[0]);
    if (SSL_CTX_set_alpn_protos(ctx, wanted, wanted[0] + 1U) != 0)
        abort(); /* out of memory */
    if (s->tls_resume == RESUME_ON) {
        SSL_CTX_set_session_cache_mode(
            ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
        SSL_CTX_sess_set_new_cb(ctx, on_session);
    } else {
        SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
        SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    }
    c = xcalloc(1, sizeof(*c));
    *c = (struct tls_context){
        .ctx = ctx,
        .method = tls_method_new(),
        .trust = trust,
        .sessions = xcalloc(n_places, sizeof(SSL_SESSION *)),
        .n_places = n_places,
    };
    *context = c;
    return 0;
}

void tls_context_free(struct tls_context *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n_places; i++)
        SSL_SESSION_free(c->sessions[i]);
    free(c->sessions);
    SSL_CTX_free(c->ctx);
    tls_method_free(c->method);
    tls_trust_give_back(c->trust);
    free(c);
}

/* ---- connections ---- */

/* The name in the URL is what the certificate must be for; SNI has names only.
 */
static void expect_host(SSL *ssl, const char *host)
{
    X509_VERIFY_PARAM *param = SSL_get0_param(ssl);

    if (X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1)
        return;
    X509_VERIFY_PARAM_set_hostflags(param,
                                    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (X509_VERIFY_PARAM_set1_host(param, host, 0) != 1 ||
        SSL_set_tlsext_host_name(ssl, host) != 1)
        abort(); /* out of memory */
}

void tls_context_start(struct tls_context *c, struct tls *t,
                       const struct endpoint *e, const struct tls_io *io,
                       void *arg)
{
    SSL_SESSION **slot = &c->sessions[e->place];
    SSL *ssl = SSL_new(c->ctx);

    if (!ssl)
        abort(); /* out of memory */
    SSL_set_connect_state(ssl);
    SSL_set_app_data(ssl, slot);
    expect_host(ssl, e->target->url.host);
    if (*slot)
        resume(ssl, *slot);
    ERR_clear_error();
    tls_init_take(t, ssl, c->method, io, arg);
}

void tls_counts_add(struct tls_counts *counts, const struct ssl_st *ssl)
{
    counts->handshakes++;
    counts->resumed += SSL_session_reused(ssl);
    counts->version = SSL_get_version(ssl);
    counts->cipher = SSL_get_cipher_name(ssl);
}

void tls_context_count(struct tls_context *c, const struct tls *t)
{
    tls_counts_add(&c->counts, t->ssl);
}

struct tls_counts tls_context_counts(const struct tls_context *c)
{
    return c ? c->counts : (struct tls_counts){0};
}
