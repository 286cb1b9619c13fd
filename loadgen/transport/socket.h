/* socket.h - non-blocking sockets, and what the kernel knows of their
 * connections. */
#ifndef LOADGEN_TRANSPORT_SOCKET_H
#define LOADGEN_TRANSPORT_SOCKET_H

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "common/measure/measure.h"
#include "loadgen/transport/tls_context.h"

struct err;

/* A socket that is connecting, with TCP_NODELAY; -1 with errno set. */
int socket_connect(const struct addrinfo *address);

/* Switch the kernel's receive timestamps on or off. */
void socket_set_stamps(int fd, bool is_on);

/* The result of connecting, as an errno; 0: it is connected. */
int socket_error(int fd);

enum connect_detail socket_connect_detail(int error);

/* strerror(), with advice where the client itself is the cause. */
const char *socket_error_text(int error);

/* recv() that also says how long, by CLOCK_REALTIME, the last segment that it
 * read had been in the kernel; TIME_ABSENT if the kernel does not say. */
ssize_t socket_receive(int fd, void *data, size_t size, int64_t *buffered_ns);

/* A connected socket, and what passed through it. */
struct wire {
    int fd;              /* -1: closed */
    bool is_stamped;     /* the kernel's receive timestamps are on */
    int64_t buffered_ns; /* of the last read, if they are: socket_receive() */
    int64_t taken;       /* bytes that the kernel took */
};

/* Reading the kernel's timestamp costs more than the rest of a read. */
static inline ssize_t wire_read(struct wire *w, void *data, size_t size)
{
    if (w->is_stamped)
        return socket_receive(w->fd, data, size, &w->buffered_ns);
    return recv(w->fd, data, size, 0);
}

static inline ssize_t wire_write(struct wire *w, const void *data, size_t len)
{
    ssize_t n = send(w->fd, data, len, MSG_NOSIGNAL);

    if (n > 0)
        w->taken += n;
    return n;
}

/* The connection's smallest recent round trip: the smoothed one includes the
 * time for which the peer delays acknowledgements.  0: not known. */
int64_t socket_rtt_ns(int fd);

/* Bytes sent on the connection that the peer's kernel has acknowledged; -1: not
 * known. */
int64_t socket_acked(int fd);

/* What is known of the network path: by the kernel, and of TLS. */
struct socket_path {
    int64_t rtt_floor_ns; /* smallest round trip; 0: not known */
    int64_t segments;     /* sent */
    int64_t retransmits;  /* of those, sent again */
    struct tls_counts tls;
};

/* Add a connection's to the sum of others. */
void socket_add_path(int fd, struct socket_path *sum);

/* Can the address be connected to?  One attempt, which may block for
 * timeout_ns: 0, or its errno. */
int socket_probe(const struct addrinfo *address, int64_t timeout_ns);

/* Shut down every connection of this process to `peer` that is not writable,
 * or every one if forced, for a library that does not expose its descriptors.
 * Any thread.  Returns how many there were. */
int socket_shut_stuck(const struct sockaddr *peer, bool is_forced);

/* "127.0.0.1:80", "[::1]:80". */
#define SOCKET_ADDRESS_TEXT 64
const char *socket_address_text(const struct addrinfo *address,
                                char out[static SOCKET_ADDRESS_TEXT]);

/* What is known when a connection that was used before breaks during a request,
 * before any byte of the response. */
struct stale_facts {
    int64_t taken; /* bytes of the request that our kernel took */
    int64_t acked; /* of those, that the peer's kernel acknowledged */
    bool is_acked_known;
    bool is_closed;    /* by a FIN; else by a reset */
    int64_t idle_ns;   /* how long it was idle before the request */
    int64_t waited_ns; /* since sending the request began */
    int64_t rtt_ns;    /* the smallest round trip seen; 0: not known */
};

/* Did the server close the connection before the request came?  Then the
 * request may be sent again, and nothing that the server did with it is hidden.
 * Pure. */
bool stale_is(const struct stale_facts *f);

#endif
