#include "server-stub/front/front_tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"

#define DAYS_VALID 30

struct front_tls {
    SSL_CTX *ctx;
    BIO_METHOD *method;
};

/* ---- certificates ---- */

static void add_extension(X509 *cert, int kind, const char *value)
{
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, NULL, kind, value);

    if (!e || X509_add_ext(cert, e, -1) != 1)
        abort(); /* out of memory */
    X509_EXTENSION_free(e);
}

/* A key and a certificate that signs itself, for this process. */
static void make_certificate(SSL_CTX *ctx)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    X509_NAME *name = cert ? X509_get_subject_name(cert) : NULL;

    if (!key || !cert ||
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                   (const unsigned char *)"tailgate stub", -1,
                                   -1, 0) != 1)
        abort(); /* out of memory */
    X509_set_version(cert, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    X509_gmtime_adj(X509_getm_notBefore(cert), 0);
    X509_gmtime_adj(X509_getm_notAfter(cert), DAYS_VALID * 86400L);
    X509_set_issuer_name(cert, name);
    X509_set_pubkey(cert, key);
    add_extension(cert, NID_subject_alt_name,
                  "DNS:localhost,IP:127.0.0.1,IP:::1");
    if (X509_sign(cert, key, EVP_sha256()) == 0 ||
        SSL_CTX_use_certificate(ctx, cert) != 1 ||
        SSL_CTX_use_PrivateKey(ctx, key) != 1)
        abort(); /* out of memory */
    X509_free(cert);
    EVP_PKEY_free(key);
}

static int load_certificate(SSL_CTX *ctx, const struct stub_settings *s,
                            struct err *err)
{
    const struct {
        const char *key;
        const char *path;
    } files[] = {{"tls_cert", s->tls_cert},
                 {"tls_key", s->tls_key},
                 {"tls_ca", s->tls_ca}};

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (files[i].path && access(files[i].path, R_OK) < 0)
            return err_set(err, ERR_CONFIG, "stub.%s: %s: %s", files[i].key,
                           files[i].path, strerror(errno));
    }
    if (SSL_CTX_use_certificate_chain_file(ctx, s->tls_cert) != 1)
        return err_set(err, ERR_CONFIG,
                       "stub.tls_cert: %s: no certificate in it", s->tls_cert);
    if (SSL_CTX_use_PrivateKey_file(ctx, s->tls_key, SSL_FILETYPE_PEM) != 1)
        return err_set(err, ERR_CONFIG, "stub.tls_key: %s: no key for %s in it",
                       s->tls_key, s->tls_cert);
    if (!s->tls_ca)
        return 0;
    if (SSL_CTX_load_verify_file(ctx, s->tls_ca) != 1)
        return err_set(err, ERR_CONFIG,
                       "stub.tls_ca: %s: no certificates in it", s->tls_ca);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                       NULL);
    return 0;
}

/* ---- contexts and connections ---- */

/* HTTP/2 if the client offers it. */
static int choose_protocol(SSL *ssl, const unsigned char **out,
                           unsigned char *out_len, const unsigned char *in,
                           unsigned in_len, void *arg)
{
    static const unsigned char ours[] = "\x02h2\x08http/1.1";

    (void)ssl;
    (void)arg;
    return SSL_select_next_proto((unsigned char **)out, out_len, ours,
                                 sizeof(ours) - 1, in,
                                 in_len) == OPENSSL_NPN_NEGOTIATED
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_NOACK;
}

int front_tls_new(struct front_tls **tls, const struct stub_settings *s,
                  struct err *err)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    struct front_tls *t;
    int rc = 0;

    if (!ctx)
        abort(); /* out of memory */
    if (s->tls == STUB_TLS_SELF_SIGNED)
        make_certificate(ctx);
    else
        rc = load_certificate(ctx, s, err);
    ERR_clear_error();
    if (rc) {
        SSL_CTX_free(ctx);
        return -1;
    }
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
    t = xcalloc(1, sizeof(*t));
    *t = (struct front_tls){.ctx = ctx, .method = tls_method_new()};
    *tls = t;
    return 0;
}

void front_tls_free(struct front_tls *t)
{
    if (!t)
        return;
    SSL_CTX_free(t->ctx);
    tls_method_free(t->method);
    free(t);
}

void front_tls_start(struct front_tls *tls, struct tls *t,
                     const struct tls_io *io, void *arg)
{
    SSL *ssl = SSL_new(tls->ctx);

    if (!ssl)
        abort(); /* out of memory */
    SSL_set_accept_state(ssl);
    tls_init_take(t, ssl, tls->method, io, arg);
}
