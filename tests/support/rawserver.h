/* rawserver.h - a server that answers every connection with the same bytes and
 * closes it: for responses that no honest server would send. */
#ifndef TESTS_SUPPORT_RAWSERVER_H
#define TESTS_SUPPORT_RAWSERVER_H

#include <stddef.h>
#include <sys/types.h>

enum raw_ending {
    RAW_CLOSE, /* after the bytes */
    RAW_RESET, /* the same, with a reset */
    RAW_HOLD,  /* keep the connection open */
};

struct raw_answer {
    const char *bytes;
    size_t len;
};

struct rawserver {
    pid_t pid;
    char url[40];
};

/* Bytes are borrowed until it is stopped. */
struct rawserver rawserver_start(const char *bytes, size_t len,
                                 enum raw_ending ending);

/* The same over TLS, with the certificate "server" of tests/support/certs.h; it
 * says goodbye (close_notify) before it closes. */
struct rawserver rawserver_start_tls(const char *bytes, size_t len,
                                     enum raw_ending ending);

/* The first n POST requests are answered with `first`, all others and every
 * other request with `then`; the connection is closed after each. */
struct rawserver rawserver_start_then(struct raw_answer first, int n,
                                      struct raw_answer then);
void rawserver_stop(struct rawserver *s);

#endif
