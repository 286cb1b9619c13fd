/* socket.h - sockets that do not block, on their way to an address. */
#ifndef LOADGEN_TRANSPORT_SOCKET_H
#define LOADGEN_TRANSPORT_SOCKET_H

#include <netdb.h>

#include "common/measure.h"

struct err;

/* A socket that is connecting, with TCP_NODELAY; -1 with errno set. */
int socket_connect(const struct addrinfo *address);

/* What became of it, as an errno; 0: it is connected. */
int socket_error(int fd);

enum connect_detail socket_connect_detail(int error);

/* Is anybody there?  Tries each address until one answers, and says which;
 * may block for seconds.  ERR_IO with what the last one said. */
int socket_probe(const struct addrinfo *addresses,
                 const struct addrinfo **answers, struct err *err);

#endif
