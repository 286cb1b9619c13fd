/* The bare client of streams, on epoll: it reads, looks for the ends of events,
 * and counts them.  One thread, N kept connections, the same request again
 * when an answer has ended; no HTTP but that, no JSON, nothing recorded.
 * Usage: floor_sse PORT CONNECTIONS SECONDS PATH BODY, on loopback.
 * Prints "<events> events in <seconds> s". */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"

#define MAX_EVENTS  256
#define READ_SIZE   65536
#define PATIENCE_MS 100

struct conn {
    int fd;
    bool is_after_newline; /* the last read ended with one */
    char tail[8];          /* its last bytes */
};

struct client {
    struct conn *conns;
    int n_conns;
    char *request;
    char in[READ_SIZE];
    int64_t events;
};

static int complain(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    return -1;
}

static int send_request(const struct client *c, const struct conn *conn)
{
    size_t len = strlen(c->request);

    return send(conn->fd, c->request, len, MSG_NOSIGNAL) == (ssize_t)len
               ? 0
               : complain("send");
}

/* Empty lines, which end events. */
static void count_events(struct client *c, struct conn *conn, size_t len)
{
    const char *p = c->in;
    const char *end = c->in + len;

    if (conn->is_after_newline && *p == '\n')
        c->events++;
    while ((p = memchr(p, '\n', (size_t)(end - p))) && ++p < end)
        c->events += *p == '\n';
    conn->is_after_newline = end[-1] == '\n';
}

/* Does the answer end here?  "0\r\n\r\n" may come in two reads. */
static bool is_over(struct conn *conn, const char *in, size_t len)
{
    static const char last[] = "\r\n0\r\n\r\n";
    const size_t n = sizeof(last) - 1;

    if (len >= n) {
        memcpy(conn->tail, in + len - n, n);
    } else {
        memmove(conn->tail, conn->tail + len, n - len);
        memcpy(conn->tail + n - len, in, len);
    }
    return memcmp(conn->tail, last, n) == 0;
}

static int take(struct client *c, struct conn *conn)
{
    ssize_t n = recv(conn->fd, c->in, sizeof(c->in), 0);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0)
        return complain("recv");
    count_events(c, conn, (size_t)n);
    return is_over(conn, c->in, (size_t)n) ? send_request(c, conn) : 0;
}

static int open_all(struct client *c, int epoll_fd, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    for (int i = 0; i < c->n_conns; i++) {
        struct conn *conn = &c->conns[i];
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = conn};

        conn->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(conn->fd, (struct sockaddr *)&address, sizeof(address)) ||
            fcntl(conn->fd, F_SETFL, O_NONBLOCK) ||
            epoll_ctl(epoll_fd, EPOLL_CTL_ADD, conn->fd, &event))
            return complain("connect");
        if (send_request(c, conn))
            return -1;
    }
    return 0;
}

static int run(struct client *c, int epoll_fd, int64_t end_ns)
{
    struct epoll_event events[MAX_EVENTS];

    while (clk_now(&clk_monotonic) < end_ns) {
        int n = epoll_wait(epoll_fd, events, MAX_EVENTS, PATIENCE_MS);

        for (int i = 0; i < n; i++) {
            if (take(c, events[i].data.ptr))
                return -1;
        }
    }
    return 0;
}

/* A whole number from 1 to max; 0 for anything else. */
static int read_number(const char *text, int max)
{
    char *end;
    long n = strtol(text, &end, 10);

    return *end == '\0' && n >= 1 && n <= max ? (int)n : 0;
}

int main(int argc, char **argv)
{
    static struct client c;
    int64_t start_ns = clk_now(&clk_monotonic);
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);

    if (argc != 6 || epoll_fd < 0) {
        fprintf(stderr, "usage: %s PORT CONNECTIONS SECONDS PATH BODY\n",
                argv[0]);
        return 2;
    }
    c.n_conns = read_number(argv[2], 100000);
    c.conns = xcalloc((size_t)c.n_conns, sizeof(*c.conns));
    c.request = xasprintf("POST %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n"
                          "Content-Type: application/json\r\n"
                          "Content-Length: %zu\r\n\r\n%s",
                          argv[4], argv[1], strlen(argv[5]), argv[5]);
    if (open_all(&c, epoll_fd, (uint16_t)read_number(argv[1], UINT16_MAX)) ||
        run(&c, epoll_fd, start_ns + read_number(argv[3], 3600) * NS_PER_S))
        return 1;
    printf("%lld events in %.3f s\n", (long long)c.events,
           (double)(clk_now(&clk_monotonic) - start_ns) / 1e9);
    return 0;
}
