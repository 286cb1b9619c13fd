#include "loadgen/transport/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/err.h"

#define PROBE_TIMEOUT_MS 5000

int socket_connect(const struct addrinfo *a)
{
    int one = 1;
    int fd;

    fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (connect(fd, a->ai_addr, a->ai_addrlen) < 0 && errno != EINPROGRESS) {
        int error = errno;

        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

int socket_error(int fd)
{
    int error = 0;
    socklen_t len = sizeof(error);

    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        return errno;
    return error;
}

enum connect_detail socket_connect_detail(int error)
{
    switch (error) {
    case ECONNREFUSED:
        return CONNECT_REFUSED;
    case ETIMEDOUT:
        return CONNECT_TIMED_OUT;
    case EHOSTUNREACH:
    case ENETUNREACH:
        return CONNECT_UNREACHABLE;
    case EADDRNOTAVAIL:
        return CONNECT_PORTS;
    case EMFILE:
    case ENFILE:
        return CONNECT_FILES;
    default:
        return CONNECT_OTHER;
    }
}

/* 0, or the errno of one attempt. */
static int try_connect(const struct addrinfo *address)
{
    int fd = socket_connect(address);
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int error;

    if (fd < 0)
        return errno;
    error = poll(&p, 1, PROBE_TIMEOUT_MS) == 1 ? socket_error(fd) : ETIMEDOUT;
    close(fd);
    return error;
}

int socket_probe(const struct addrinfo *addresses,
                 const struct addrinfo **answers, struct err *err)
{
    char host[NI_MAXHOST] = "?";
    char port[NI_MAXSERV] = "?";
    const struct addrinfo *a = addresses;
    int error = try_connect(a);

    while (error && a->ai_next) {
        a = a->ai_next;
        error = try_connect(a);
    }
    if (!error) {
        *answers = a;
        return 0;
    }
    getnameinfo(a->ai_addr, a->ai_addrlen, host, sizeof(host), port,
                sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
    return err_set(err, ERR_IO, "%s port %s: %s", host, port, strerror(error));
}
