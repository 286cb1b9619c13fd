/* The bare clients on OpenSSL: its own sockets, read ahead, nothing verified.
 */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>

#include "bench/floor_io.h"

static SSL_CTX *context;

int floor_io_secure(int fd, const char *protocol, SSL **ssl)
{
    unsigned char wanted[16] = {(unsigned char)strlen(protocol)};

    if (!context)
        context = SSL_CTX_new(TLS_client_method());
    memcpy(wanted + 1, protocol, wanted[0]);
    SSL_CTX_set_alpn_protos(context, wanted, wanted[0] + 1U);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    *ssl = SSL_new(context);
    SSL_set_fd(*ssl, fd);
    if (SSL_connect(*ssl) == 1)
        return 0;
    fprintf(stderr, "no TLS: %s\n", ERR_error_string(ERR_get_error(), NULL));
    return -1;
}

static ssize_t result(SSL *ssl, int n)
{
    int kind;

    if (n > 0)
        return n;
    kind = SSL_get_error(ssl, n);
    ERR_clear_error();
    if (kind == SSL_ERROR_ZERO_RETURN)
        return 0;
    errno = kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE
                ? EAGAIN
                : EPROTO;
    return -1;
}

ssize_t floor_io_read(int fd, SSL *ssl, void *data, size_t size)
{
    (void)fd;
    return result(ssl, SSL_read(ssl, data, (int)size));
}

ssize_t floor_io_write(int fd, SSL *ssl, const void *data, size_t len)
{
    (void)fd;
    return result(ssl, SSL_write(ssl, data, (int)len));
}

int floor_io_has_more(SSL *ssl)
{
    return SSL_has_pending(ssl);
}

void floor_io_free(SSL *ssl)
{
    SSL_free(ssl);
}
