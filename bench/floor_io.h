/* floor_io.h - how the bare clients read and write: floor_io_plain.c or
 * floor_io_tls.c, whichever is linked. */
#ifndef BENCH_FLOOR_IO_H
#define BENCH_FLOOR_IO_H

#include <stddef.h>
#include <sys/types.h>

struct ssl_st;

/* Make a connected socket, which still blocks, ready; `protocol` is for ALPN.
 * -1: it says what is wrong. */
int floor_io_secure(int fd, const char *protocol, struct ssl_st **ssl);

/* As recv(2) and send(2). */
ssize_t floor_io_read(int fd, struct ssl_st *ssl, void *data, size_t size);
ssize_t floor_io_write(int fd, struct ssl_st *ssl, const void *data,
                       size_t len);

/* Is there more to read, without the socket? */
int floor_io_has_more(struct ssl_st *ssl);

void floor_io_free(struct ssl_st *ssl);

#endif
