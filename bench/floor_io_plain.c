/* The bare clients without TLS. */
#include <sys/socket.h>

#include "bench/floor_io.h"

int floor_io_secure(int fd, const char *protocol, struct ssl_st **ssl)
{
    (void)fd;
    (void)protocol;
    *ssl = NULL;
    return 0;
}

ssize_t floor_io_read(int fd, struct ssl_st *ssl, void *data, size_t size)
{
    (void)ssl;
    return recv(fd, data, size, 0);
}

ssize_t floor_io_write(int fd, struct ssl_st *ssl, const void *data, size_t len)
{
    (void)ssl;
    return send(fd, data, len, MSG_NOSIGNAL);
}

int floor_io_has_more(struct ssl_st *ssl)
{
    (void)ssl;
    return 0;
}

void floor_io_free(struct ssl_st *ssl)
{
    (void)ssl;
}
