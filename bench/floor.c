#include "bench/floor.h"
#include "bench/floor_io.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"

#define MAX_RESPONSE    65536
#define MAX_CONNECTIONS 100000
#define MAX_SECONDS     3600

static int complain(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    return -1;
}

static int send_request(const struct floor_conn *conn)
{
    const struct floor_client *c = conn->client;
    ssize_t n = floor_io_write(conn->fd, conn->ssl, c->request, c->request_len);

    /* It is small, and all before it was answered: there is room. */
    return n == (ssize_t)c->request_len ? 0 : complain("send");
}

int floor_read(struct floor_conn *conn)
{
    struct floor_client *c = conn->client;
    char bytes[8192];
    ssize_t n = floor_io_read(conn->fd, conn->ssl, bytes, sizeof(bytes));

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n == 0)
        errno = ECONNRESET; /* the server was not asked to close it */
    if (n <= 0)
        return complain("recv");
    conn->got += (size_t)n;
    if (conn->got < c->response_len)
        return 0;
    if (conn->got > c->response_len) {
        fprintf(stderr, "a response is longer than the first\n");
        return -1;
    }
    conn->got = 0;
    c->done++;
    return send_request(conn);
}

/* Of head and body; 0 if the head is not complete, or says no length. */
static size_t response_length(const char *text)
{
    static const char field[] = "\r\nContent-Length:";
    const char *end = strstr(text, "\r\n\r\n");
    const char *length = strcasestr(text, field);

    if (!end || !length || length > end)
        return 0;
    return (size_t)(end + 4 - text) + strtoul(length + strlen(field), NULL, 10);
}

/* One exchange, before the socket stops blocking. */
static int learn_response(struct floor_client *c)
{
    static char text[MAX_RESPONSE];
    size_t got = 0;

    if (send_request(&c->conns[0]))
        return -1;
    while (c->response_len == 0 || got < c->response_len) {
        ssize_t n = floor_io_read(c->conns[0].fd, c->conns[0].ssl, text + got,
                                  sizeof(text) - 1 - got);

        if (n == 0)
            errno = EPROTO; /* too long, or cut off */
        if (n <= 0)
            return complain("the first response");
        got += (size_t)n;
        text[got] = '\0';
        c->response_len = response_length(text);
    }
    if (strncmp(text, "HTTP/1.1 200", 12) == 0)
        return 0;
    fprintf(stderr, "the first response is no 200\n");
    return -1;
}

int floor_connect(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;

    if (fd < 0)
        return complain("socket");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0) {
        close(fd);
        return complain("connect");
    }
    return fd;
}

static int open_connections(struct floor_client *c,
                            const struct sockaddr_in *address)
{
    for (int i = 0; i < c->n_conns; i++) {
        c->conns[i].fd = floor_connect(address);
        if (c->conns[i].fd < 0 ||
            floor_io_secure(c->conns[i].fd, "http/1.1", &c->conns[i].ssl))
            return -1;
    }
    if (learn_response(c))
        return -1;
    for (int i = 0; i < c->n_conns; i++) {
        if (fcntl(c->conns[i].fd, F_SETFL, O_NONBLOCK) < 0)
            return complain("fcntl");
        if (send_request(&c->conns[i]))
            return -1;
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

/* As much of the arguments as can be wrong. */
static int read_arguments(struct sockaddr_in *address, int *connections,
                          int *seconds, char **argv)
{
    int port = read_number(argv[2], UINT16_MAX);

    *address = (struct sockaddr_in){.sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)port)};
    *connections = read_number(argv[3], MAX_CONNECTIONS);
    *seconds = read_number(argv[4], MAX_SECONDS);
    if (inet_pton(AF_INET, argv[1], &address->sin_addr) == 1 && port > 0 &&
        *connections > 0 && *seconds > 0)
        return 0;
    fprintf(stderr, "an IPv4 address and three whole numbers, please\n");
    return -1;
}

int floor_begin(struct floor_client *c, int argc, char **argv)
{
    struct sockaddr_in address;
    int seconds;

    *c = (struct floor_client){0};
    if (argc != 6) {
        fprintf(stderr, "usage: %s HOST PORT CONNECTIONS SECONDS BODY\n",
                argv[0]);
        return -1;
    }
    if (read_arguments(&address, &c->n_conns, &seconds, argv))
        return -1;
    c->conns = xcalloc((size_t)c->n_conns, sizeof(*c->conns));
    for (int i = 0; i < c->n_conns; i++)
        c->conns[i] = (struct floor_conn){.client = c, .fd = -1};
    c->request = xasprintf("POST / HTTP/1.1\r\nHost: %s:%s\r\n"
                           "Content-Type: application/json\r\n"
                           "Content-Length: %zu\r\n\r\n%s",
                           argv[1], argv[2], strlen(argv[5]), argv[5]);
    c->request_len = strlen(c->request);
    c->start_ns = clk_now(&clk_monotonic);
    c->end_ns = c->start_ns + seconds * NS_PER_S;
    return open_connections(c, &address);
}

void floor_print(const struct floor_client *c)
{
    int64_t ns = clk_now(&clk_monotonic) - c->start_ns;

    printf("%lld requests in %.3f s\n", (long long)c->done,
           (double)ns / (double)NS_PER_S);
}

void floor_end(struct floor_client *c)
{
    for (int i = 0; i < c->n_conns && c->conns; i++) {
        floor_io_free(c->conns[i].ssl);
        if (c->conns[i].fd >= 0)
            close(c->conns[i].fd);
    }
    free(c->conns);
    free(c->request);
    *c = (struct floor_client){0};
}
