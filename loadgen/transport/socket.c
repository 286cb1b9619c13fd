#include "loadgen/transport/socket.h"

#include <dirent.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/stop.h"

/* The shortest common keep-alive timeout is 5 s; a middlebox forgets a
 * connection after minutes. */
#define STALE_MIN_IDLE_NS (4 * NS_PER_S)

/* For both ends to react. */
#define STALE_GRACE_NS NS_PER_MS

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

void socket_set_stamps(int fd, bool is_on)
{
    int stamps =
        is_on ? SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE : 0;

    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof(stamps));
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
    case ENOBUFS:
    case ENOMEM:
        return CONNECT_MEMORY;
    default:
        return CONNECT_OTHER;
    }
}

const char *socket_error_text(int error)
{
    switch (error) {
    case EADDRNOTAVAIL:
        return "no local port left: keep connections alive, use more target "
               "addresses, or widen net.ipv4.ip_local_port_range";
    case EMFILE:
    case ENFILE:
        return "no open file left: raise the limit (ulimit -n) or cap the "
               "connections (-c)";
    case ENOBUFS:
    case ENOMEM:
        return "no memory left for a socket: free some, raise net.ipv4.tcp_mem "
               "or cap the connections (-c)";
    default:
        return strerror(error);
    }
}

static int64_t stamp_ns(struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c;
         c = CMSG_NXTHDR(message, c)) {
        struct scm_timestamping stamps;

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPING)
            continue;
        memcpy(&stamps, CMSG_DATA(c), sizeof(stamps));
        return stamps.ts[0].tv_sec * NS_PER_S + stamps.ts[0].tv_nsec;
    }
    return 0;
}

ssize_t socket_receive(int fd, void *data, size_t size, int64_t *buffered_ns)
{
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(struct scm_timestamping))];
    } control;
    struct iovec piece = {.iov_base = data, .iov_len = size};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = control.space,
                             .msg_controllen = sizeof(control)};
    ssize_t n = recvmsg(fd, &message, 0);
    int64_t stamp = n > 0 ? stamp_ns(&message) : 0;

    *buffered_ns = stamp > 0 ? clk_realtime_ns() - stamp : TIME_ABSENT;
    if (*buffered_ns < 0)
        *buffered_ns = TIME_ABSENT; /* the clock was set back */
    return n;
}

/* All 0 where the kernel does not say. */
static struct tcp_info ask_tcp(int fd)
{
    struct tcp_info info;
    socklen_t len = sizeof(info);

    memset(&info, 0, sizeof(info));
    getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);
    return info;
}

int64_t socket_rtt_ns(int fd)
{
    struct tcp_info info = ask_tcp(fd);
    bool has_min = info.tcpi_min_rtt > 0 && info.tcpi_min_rtt != UINT32_MAX;

    return (has_min ? info.tcpi_min_rtt : info.tcpi_rtt) * NS_PER_US;
}

int64_t socket_acked(int fd)
{
    struct tcp_info info = ask_tcp(fd);

    /* The SYN counts as a byte, so that 0 means that the kernel does not say.
     */
    return info.tcpi_bytes_acked > 0 ? (int64_t)info.tcpi_bytes_acked - 1 : -1;
}

void socket_add_path(int fd, struct socket_path *sum)
{
    struct tcp_info info = ask_tcp(fd);
    int64_t rtt_ns = info.tcpi_min_rtt * NS_PER_US;

    if (info.tcpi_min_rtt != UINT32_MAX && rtt_ns > 0 &&
        (sum->rtt_floor_ns == 0 || rtt_ns < sum->rtt_floor_ns))
        sum->rtt_floor_ns = rtt_ns;
    sum->segments += info.tcpi_segs_out;
    sum->retransmits += info.tcpi_total_retrans;
}

int socket_probe(const struct addrinfo *address, int64_t timeout_ns)
{
    int64_t timeout_ms = timeout_ns / NS_PER_MS;
    int fd = socket_connect(address);
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int error;
    int n;

    if (fd < 0)
        return errno;
    if (timeout_ms > INT32_MAX)
        timeout_ms = INT32_MAX;
    while ((n = poll(&p, 1, (int)timeout_ms)) < 0 && errno == EINTR &&
           !atomic_load(&stop_signal))
        continue;
    error = n == 1 ? socket_error(fd) : n == 0 ? ETIMEDOUT : errno;
    close(fd);
    return error;
}

/* An IPv4 address as an IPv6 socket shows it, ::ffff:127.0.0.1. */
static struct sockaddr_in6 as_ipv6(const struct sockaddr *a)
{
    struct sockaddr_in6 out = {.sin6_family = AF_INET6};
    struct sockaddr_in in;

    if (a->sa_family == AF_INET6) {
        memcpy(&out, a, sizeof(out));
        return out;
    }
    memcpy(&in, a, sizeof(in));
    out.sin6_port = in.sin_port;
    out.sin6_addr.s6_addr[10] = out.sin6_addr.s6_addr[11] = 0xff;
    memcpy(&out.sin6_addr.s6_addr[12], &in.sin_addr, 4);
    return out;
}

static bool is_same_place(const struct sockaddr *a, const struct sockaddr *b)
{
    struct sockaddr_in6 x;
    struct sockaddr_in6 y;

    if (a->sa_family == AF_UNIX || b->sa_family == AF_UNIX)
        return a->sa_family == b->sa_family &&
               strcmp(
                   ((const struct sockaddr_un *)(const void *)a)->sun_path,
                   ((const struct sockaddr_un *)(const void *)b)->sun_path) ==
                   0;
    x = as_ipv6(a);
    y = as_ipv6(b);
    return x.sin6_port == y.sin6_port &&
           memcmp(&x.sin6_addr, &y.sin6_addr, sizeof(x.sin6_addr)) == 0;
}

int socket_shut_stuck(const struct sockaddr *peer, bool is_forced)
{
    DIR *dir = opendir("/proc/self/fd");
    const struct dirent *e;
    int n = 0;

    while (dir && (e = readdir(dir))) {
        struct sockaddr_storage seen = {0};
        socklen_t len = sizeof(seen);
        int fd = (int)strtol(e->d_name, NULL, 10);
        struct pollfd p = {.fd = fd, .events = POLLOUT};

        if (getpeername(fd, (struct sockaddr *)&seen, &len) == 0 &&
            is_same_place((const struct sockaddr *)&seen, peer) &&
            (is_forced || poll(&p, 1, 0) == 0))
            n += shutdown(fd, SHUT_RDWR) == 0;
    }
    if (dir)
        closedir(dir);
    return n;
}

const char *socket_address_text(const struct addrinfo *a,
                                char out[static SOCKET_ADDRESS_TEXT])
{
    char host[INET6_ADDRSTRLEN + 1] = "?";
    char port[8] = "?";
    bool is_ipv6 = a->ai_family == AF_INET6;

    getnameinfo(a->ai_addr, a->ai_addrlen, host, sizeof(host), port,
                sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(out, SOCKET_ADDRESS_TEXT, "%s%s%s:%s", is_ipv6 ? "[" : "", host,
             is_ipv6 ? "]" : "", port);
    return out;
}

/* A FIN acknowledges everything received before it, so that a FIN that does not
 * acknowledge the request was sent before the request came.  A reset
 * acknowledges nothing: it is only likely that the server did not have the
 * request, if the reset comes after an idle time and one round trip, as from a
 * host that has forgotten the connection. */
bool stale_is(const struct stale_facts *f)
{
    if (f->taken == 0)
        return true;
    if (!f->is_acked_known || f->acked > 0)
        return false;
    if (f->is_closed)
        return true;
    return f->idle_ns >= STALE_MIN_IDLE_NS &&
           f->waited_ns <= 2 * f->rtt_ns + STALE_GRACE_NS;
}
