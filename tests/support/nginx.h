/* nginx.h - a real web server for a test: one process, with a configuration of
 * its own below the scratch directory, on ports that were free.  One that the
 * system runs is neither used nor in the way. */
#ifndef TESTS_SUPPORT_NGINX_H
#define TESTS_SUPPORT_NGINX_H

#include <stddef.h>
#include <sys/types.h>

#define NGINX_MAX_SITES 16

/* A server block.  NULL: nothing. */
struct nginx_site {
    const char *cert;     /* of tests/support/certs.h: speaks TLS with it */
    const char *listen;   /* more words of listen, such as http2 */
    const char *settings; /* more lines of it */
    const char *location; /* lines of location /; NULL: 200 and a short body */
};

struct nginx {
    pid_t pid;
    size_t n_sites;
    int ports[NGINX_MAX_SITES];
    char urls[NGINX_MAX_SITES][40]; /* without a path */
    char socket_path[120];          /* of the first site as well */
    char ca[120];                   /* file of who signed its certificates */
};

struct nginx nginx_start(const struct nginx_site *sites, size_t n);

/* One site, HTTP/2 over TLS, before the server at `url`. */
struct nginx nginx_before(const char *url, const char *settings);

/* Its process must have lived until now. */
void nginx_stop(struct nginx *nginx);

#endif
