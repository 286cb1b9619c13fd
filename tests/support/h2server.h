/* h2server.h - a server that speaks just enough HTTP/2 over TLS to answer the
 * first request of every connection, and then does what no honest one would.
 */
#ifndef TESTS_SUPPORT_H2SERVER_H
#define TESTS_SUPPORT_H2SERVER_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

enum h2_fault {
    H2_CLOSE,        /* the connection, in good order */
    H2_RESET,        /* the connection */
    H2_REFUSE,       /* the stream: it was not looked at */
    H2_REFUSE_TWICE, /* the same, and the next one */
    H2_LOWER,        /* the same, both times after its limit has fallen */
    H2_GOAWAY,       /* the connection; the stream was not looked at */
    H2_NOT_SERVED,  /* no client without a certificate, said after the handshake
                     */
    H2_EARLY_HINTS, /* answers of status 103 without end, ... */
    H2_GOAWAYS,     /* ... or GOAWAYs, ... */
    H2_EMPTY_DATA,  /* ... or frames of data that are empty */
    H2_ONE_STREAM,  /* nothing is wrong, but it allows one stream at a time */
    H1_GOODBYE,     /* HTTP/1.1: the connection, in one segment with the first
                       answer; the delay comes before each handshake */
};

struct h2server {
    pid_t pid;
    char url[40];
    atomic_int *requests; /* that it has seen */
};

/* With the certificate "server" of tests/support/certs.h.  The fault comes
 * delay_ns after each second request of a connection; of a third it is none. */
struct h2server h2server_start(enum h2_fault fault, int64_t delay_ns);
void h2server_stop(struct h2server *s);

#endif
