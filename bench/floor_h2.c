/* The bare HTTP/2 client: nghttp2 on epoll, N connections with M streams each,
 * and nothing recorded.  With TLS or without, as floor_io.h says. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bench/floor.h"
#include "bench/floor_io.h"
#include "common/base/clk.h"
#include "common/base/xalloc.h"

#define MAX_EVENTS  256
#define PATIENCE_MS 100
#define WINDOW      ((1 << 30) - 1)
#define BYTES       65536

struct client {
    const char *authority;
    const char *length;
    const char *body;
    int64_t done;
    int64_t failed;
};

struct conn {
    struct client *client;
    nghttp2_session *session;
    int fd;
    struct ssl_st *ssl;
};

static char bytes[BYTES];

/* NOLINTNEXTLINE(readability-function-size): as nghttp2 calls it */
static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *to,
                         size_t size, uint32_t *flags,
                         nghttp2_data_source *source, void *arg)
{
    const struct conn *c = arg;
    size_t len = strlen(c->client->body);

    (void)session;
    (void)id;
    (void)source;
    if (len > size)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    memcpy(to, c->client->body, len);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)len;
}

static nghttp2_nv field(const char *name, const char *value)
{
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value,
                        strlen(name), strlen(value),
                        NGHTTP2_NV_FLAG_NO_COPY_NAME |
                            NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

static void ask(struct conn *c)
{
    const nghttp2_nv fields[] = {
        field(":method", "POST"),
        field(":scheme", c->ssl ? "https" : "http"),
        field(":authority", c->client->authority),
        field(":path", "/"),
        field("content-type", "application/json"),
        field("content-length", c->client->length),
    };
    nghttp2_data_provider body = {.read_callback = read_body};

    if (nghttp2_submit_request(c->session, NULL, fields,
                               sizeof(fields) / sizeof(fields[0]), &body,
                               NULL) < 0)
        c->client->failed++;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t error,
                    void *arg)
{
    struct conn *c = arg;

    (void)session;
    (void)id;
    if (error)
        c->client->failed++;
    else
        c->client->done++;
    ask(c);
    return 0;
}

/* Frames are written together, as far as they fit. */
static int flush(struct conn *c)
{
    size_t len = 0;
    const uint8_t *data;
    ssize_t n;

    while (len < BYTES / 2 &&
           (n = nghttp2_session_mem_send(c->session, &data)) > 0) {
        memcpy(bytes + len, data, (size_t)n);
        len += (size_t)n;
    }
    return len == 0 || floor_io_write(c->fd, c->ssl, bytes, len) == (ssize_t)len
               ? 0
               : -1;
}

static int serve(struct conn *c)
{
    do {
        ssize_t n = floor_io_read(c->fd, c->ssl, bytes, BYTES);

        if (n < 0 && errno == EAGAIN)
            break;
        if (n <= 0 || nghttp2_session_mem_recv(
                          c->session, (const uint8_t *)bytes, (size_t)n) < 0)
            return -1;
    } while (floor_io_has_more(c->ssl));
    return flush(c);
}

static int open_conn(struct conn *c, const struct sockaddr_in *address,
                     int streams, int epoll_fd)
{
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW}};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    nghttp2_session_callbacks *callbacks;

    c->fd = floor_connect(address);
    if (c->fd < 0 || floor_io_secure(c->fd, "h2", &c->ssl) ||
        fcntl(c->fd, F_SETFL, O_NONBLOCK) < 0)
        return -1;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_client_new(&c->session, callbacks, c);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(c->session, 0, settings, 2);
    nghttp2_session_set_local_window_size(c->session, 0, 0, WINDOW);
    for (int i = 0; i < streams; i++)
        ask(c);
    return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &event) < 0 ? -1
                                                                 : flush(c);
}

static int run(int epoll_fd, int64_t end_ns)
{
    struct epoll_event events[MAX_EVENTS];

    while (clk_now(&clk_monotonic) < end_ns) {
        int n = epoll_wait(epoll_fd, events, MAX_EVENTS, PATIENCE_MS);

        for (int i = 0; i < n; i++) {
            if (serve(events[i].data.ptr))
                return -1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct client client = {0};
    struct sockaddr_in address = {.sin_family = AF_INET};
    int64_t start_ns = clk_now(&clk_monotonic);
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct conn *conns;
    char *length;
    char *authority;
    int n;

    if (argc != 7 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1) {
        fprintf(stderr,
                "usage: %s HOST PORT CONNECTIONS STREAMS SECONDS BODY\n",
                argv[0]);
        return 2;
    }
    address.sin_port = htons((uint16_t)strtol(argv[2], NULL, 10));
    n = (int)strtol(argv[3], NULL, 10);
    length = xasprintf("%zu", strlen(argv[6]));
    authority = xasprintf("%s:%s", argv[1], argv[2]);
    client.length = length;
    client.authority = authority;
    client.body = argv[6];
    conns = xcalloc((size_t)n, sizeof(*conns));
    for (int i = 0; i < n; i++) {
        conns[i].client = &client;
        if (open_conn(&conns[i], &address, (int)strtol(argv[4], NULL, 10),
                      epoll_fd))
            return 1;
    }
    if (run(epoll_fd, start_ns + strtol(argv[5], NULL, 10) * NS_PER_S) ||
        client.failed > 0)
        return 1;
    printf("%lld requests in %.3f s\n", (long long)client.done,
           (double)(clk_now(&clk_monotonic) - start_ns) / (double)NS_PER_S);
    for (int i = 0; i < n; i++) {
        nghttp2_session_del(conns[i].session);
        floor_io_free(conns[i].ssl);
        close(conns[i].fd);
    }
    free(conns);
    free(length);
    free(authority);
    return 0;
}
