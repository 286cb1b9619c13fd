#include "common/wire/tls.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the socket, as OpenSSL sees it ---- */

static int bio_read(BIO *bio, char *data, int size)
{
    struct tls *t = BIO_get_data(bio);
    ssize_t n = t->io->read(t->arg, data, (size_t)size);

    BIO_clear_retry_flags(bio);
    t->error = n < 0 ? errno : 0;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_retry_read(bio);
    return (int)n;
}

static int bio_write(BIO *bio, const char *data, int len)
{
    struct tls *t = BIO_get_data(bio);
    ssize_t n = t->io->write(t->arg, data, (size_t)len);

    BIO_clear_retry_flags(bio);
    t->error = n < 0 ? errno : 0;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_retry_write(bio);
    return (int)n;
}

/* There is nothing to flush, and nothing else is supported. */
static long bio_ctrl(BIO *bio, int what, long number, void *arg)
{
    (void)bio;
    (void)number;
    (void)arg;
    return what == BIO_CTRL_FLUSH;
}

BIO_METHOD *tls_method_new(void)
{
    BIO_METHOD *method =
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "tailgate");

    if (!method || !BIO_meth_set_read(method, bio_read) ||
        !BIO_meth_set_write(method, bio_write) ||
        !BIO_meth_set_ctrl(method, bio_ctrl))
        abort(); /* out of memory */
    return method;
}

void tls_method_free(BIO_METHOD *method)
{
    BIO_meth_free(method);
}

/* ---- a connection ---- */

/* Read ahead: one recv(2) for all that has arrived, instead of two per record.
 * Buffers are released while they are empty: idle connections are many.  After
 * an answer of many reads the read buffer is kept until the next request: a
 * malloc() and free() for each event of a stream would be 4 % of its
 * instructions (docs/bench.md). */
void tls_init_take(struct tls *t, SSL *ssl, BIO_METHOD *method,
                   const struct tls_io *io, void *arg)
{
    BIO *bio = BIO_new(method);

    if (!bio)
        abort(); /* out of memory */
    *t = (struct tls){.ssl = ssl, .io = io, .arg = arg};
    BIO_set_data(bio, t);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_read_ahead(ssl, 1);
    SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE |
                          SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                          SSL_MODE_RELEASE_BUFFERS);
    SSL_set_options(ssl, SSL_OP_NO_RENEGOTIATION);
}

/* A session that was not shut down would not be resumed. */
void tls_fini(struct tls *t)
{
    if (!t->ssl)
        return;
    if (!t->is_unsound && SSL_is_init_finished(t->ssl))
        SSL_shutdown(t->ssl);
    SSL_set_shutdown(t->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    ERR_clear_error();
    SSL_free(t->ssl);
    t->ssl = NULL;
}

/* What a call that returned n <= 0 means, as an errno; 0: the end. */
static int error_of(struct tls *t, int n)
{
    switch (SSL_get_error(t->ssl, n)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return EAGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    case SSL_ERROR_SYSCALL:
        t->is_unsound = true;
        t->is_cut = t->error == 0;
        return t->error;
    default:
        t->is_unsound = true;
        t->reason = ERR_peek_error();
        ERR_clear_error(); /* the queue is that of the thread */
        return EPROTO;
    }
}

enum tls_step tls_handshake(struct tls *t)
{
    int n = SSL_do_handshake(t->ssl);

    if (n == 1) {
        t->has_more = SSL_has_pending(t->ssl);
        return TLS_DONE;
    }
    if (error_of(t, n) != EAGAIN)
        return TLS_FAILED;
    return SSL_want_write(t->ssl) ? TLS_WANTS_WRITE : TLS_WANTS_READ;
}

/* A head and a body are often two reads; what has more is taken to stream. */
#define FEW_READS 2

static void note_content(struct tls *t)
{
    if (t->reads <= FEW_READS && ++t->reads > FEW_READS)
        SSL_clear_mode(t->ssl, SSL_MODE_RELEASE_BUFFERS);
}

/* An end or error that follows content is reported by the next call.  OpenSSL
 * repeats an end, but not an error: after an alert it reports an end. */
ssize_t tls_read(struct tls *t, void *data, size_t size)
{
    char *to = data;
    size_t len = 0;
    int n;

    if (t->failed) {
        t->has_more = false;
        errno = t->failed;
        return -1;
    }
    do {
        size_t room = size - len;

        n = SSL_read(t->ssl, to + len,
                     room < INT32_MAX ? (int)room : INT32_MAX);
        if (n > 0)
            len += (size_t)n;
    } while (n > 0 && size - len >= TLS_MIN_READ && SSL_has_pending(t->ssl));
    if (len > 0)
        note_content(t);
    if (n > 0) {
        t->has_more = SSL_has_pending(t->ssl);
        return (ssize_t)len;
    }
    errno = error_of(t, n);
    t->has_more = len > 0 && errno != EAGAIN;
    if (errno != EAGAIN)
        t->failed = errno;
    if (len > 0)
        return (ssize_t)len;
    return errno == 0 ? 0 : -1;
}

ssize_t tls_write(struct tls *t, const void *data, size_t len)
{
    int n;

    if (t->reads > FEW_READS)
        SSL_set_mode(t->ssl, SSL_MODE_RELEASE_BUFFERS);
    t->reads = 0;
    n = SSL_write(t->ssl, data, len < INT32_MAX ? (int)len : INT32_MAX);
    if (n > 0)
        return n;
    errno = error_of(t, n);
    if (errno == 0)
        errno = EPIPE;
    return -1;
}

bool tls_speaks(const struct tls *t, const char *protocol)
{
    const unsigned char *text = NULL;
    unsigned len = 0;

    SSL_get0_alpn_selected(t->ssl, &text, &len);
    return len == strlen(protocol) && memcmp(text, protocol, len) == 0;
}

/* The certificate is for another host.  A common name counts only if there are
 * no alternative names. */
static void say_other_host(SSL *ssl, const char *host,
                           char out[static TLS_TEXT])
{
    X509 *cert = sk_X509_value(SSL_get0_verified_chain(ssl), 0);
    char name[TLS_TEXT / 4];

    if (X509_get_ext_by_NID(cert, NID_subject_alt_name, -1) < 0 &&
        X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName,
                                  name, sizeof(name)) > 0)
        snprintf(out, TLS_TEXT,
                 "SSL: certificate subject name '%s' does not match target "
                 "host name '%s'",
                 name, host);
    else
        snprintf(out, TLS_TEXT,
                 "SSL: no alternative certificate subject name matches target "
                 "host name '%s'",
                 host);
}

/* The texts are those of libcurl. */
static void say_unverified(SSL *ssl, char out[static TLS_TEXT])
{
    X509_VERIFY_PARAM *param = SSL_get0_param(ssl);
    long result = SSL_get_verify_result(ssl);
    const char *host = X509_VERIFY_PARAM_get0_host(param, 0);
    char *address = X509_VERIFY_PARAM_get1_ip_asc(param);

    if (result == X509_V_ERR_HOSTNAME_MISMATCH ||
        result == X509_V_ERR_IP_ADDRESS_MISMATCH)
        say_other_host(ssl, host ? host : address ? address : "", out);
    else
        snprintf(out, TLS_TEXT, "SSL certificate problem: %s",
                 X509_verify_cert_error_string(result));
    OPENSSL_free(address);
}

const char *tls_why(const struct tls *t, char out[static TLS_TEXT])
{
    char text[TLS_TEXT / 2];

    if (ERR_GET_REASON(t->reason) == SSL_R_CERTIFICATE_VERIFY_FAILED) {
        say_unverified(t->ssl, out);
    } else if (ERR_GET_REASON(t->reason) == SSL_R_WRONG_VERSION_NUMBER) {
        snprintf(out, TLS_TEXT, "%s", TLS_NOT_SPOKEN);
    } else if (t->reason) {
        ERR_error_string_n(t->reason, text, sizeof(text));
        snprintf(out, TLS_TEXT, "OpenSSL/%s: %s",
                 OpenSSL_version(OPENSSL_VERSION_STRING), text);
    } else {
        snprintf(out, TLS_TEXT, "%s",
                 t->error ? strerror(t->error)
                          : "closed inside the TLS handshake");
    }
    return out;
}

bool tls_is_alert(const struct tls *t)
{
    return ERR_GET_LIB(t->reason) == ERR_LIB_SSL &&
           ERR_GET_REASON(t->reason) >= SSL_AD_REASON_OFFSET;
}
