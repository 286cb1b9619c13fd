/* proxy.h - an HTTP proxy that leads everybody to the same place, whatever they
 * ask for: a request that arrives there has come through it. */
#ifndef TESTS_SUPPORT_PROXY_H
#define TESTS_SUPPORT_PROXY_H

#include <sys/types.h>

struct proxy {
    pid_t pid;
    int port;
};

/* To this port here; CONNECT and plain requests. */
struct proxy proxy_start(int to_port);
void proxy_stop(struct proxy *p);

#endif
