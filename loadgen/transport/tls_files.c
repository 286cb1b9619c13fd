#include "loadgen/transport/tls_files.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/settings/settings.h"

/* A run must not stop to ask for one. */
static int no_passphrase(char *out, int size, int is_writing, void *arg)
{
    (void)out;
    (void)size;
    (void)is_writing;
    (void)arg;
    return -1;
}

static int check_pair(SSL_CTX *ctx, const char *cert, const char *key,
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

int tls_files_check(const struct target_settings *s, struct err *err)
{
    const struct {
        const char *key;
        const char *path;
    } files[] = {{"ca_file", s->ca_file}, {"cert", s->cert}, {"key", s->key}};
    SSL_CTX *ctx;
    int rc = 0;

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (files[i].path && access(files[i].path, R_OK) < 0)
            return err_set(err, ERR_CONFIG, "target.%s: %s: %s", files[i].key,
                           files[i].path, strerror(errno));
    }
    ctx = SSL_CTX_new(TLS_client_method());
    if (!ctx)
        abort(); /* out of memory */
    SSL_CTX_set_default_passwd_cb(ctx, no_passphrase);
    if (s->ca_file && SSL_CTX_load_verify_file(ctx, s->ca_file) != 1)
        rc = err_set(err, ERR_CONFIG,
                     "target.ca_file: %s: no certificates in it", s->ca_file);
    if (rc == 0 && s->cert && s->key)
        rc = check_pair(ctx, s->cert, s->key, err);
    ERR_clear_error();
    SSL_CTX_free(ctx);
    return rc;
}
