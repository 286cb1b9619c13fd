/* loopback.h - sockets of 127.0.0.1. */
#ifndef TESTS_SUPPORT_LOOPBACK_H
#define TESTS_SUPPORT_LOOPBACK_H

#include <netinet/in.h>

struct sockaddr_in loopback_address(int port);

/* A socket at the port that *address names, or if that is 0 at a free one,
 * which it names then.  Connections are refused until it listens. */
int loopback_bind(struct sockaddr_in *address);
int loopback_listen(struct sockaddr_in *address, int backlog);

#endif
