#include "tests/support/httpget.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/clk.h"
#include "common/wire/http_message.h"

#define MAX_BODY ((size_t)64 << 20)

int http_connect(const char *url)
{
    static const char prefix[] = "http://127.0.0.1:";
    struct sockaddr_in address = {.sin_family = AF_INET};
    struct timeval patience = {.tv_sec = 60};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int yes = 1;

    assert_true(fd >= 0);
    assert_memory_equal(url, prefix, strlen(prefix));
    address.sin_port = htons((uint16_t)strtol(url + strlen(prefix), NULL, 10));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)),
                     0);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return fd;
}

void http_send(int fd, const struct http_request *r)
{
    const char *method = r->body ? "POST" : "GET";
    struct buf text;

    buf_init(&text, MAX_BODY);
    buf_addf(&text, "%s %s HTTP/%s\r\n%s", r->method ? r->method : method,
             r->path ? r->path : "/", r->version ? r->version : "1.1",
             r->headers ? r->headers : "");
    if (r->body)
        buf_addf(&text, "Content-Length: %zu\r\n\r\n%s", strlen(r->body),
                 r->body);
    else
        buf_adds(&text, "\r\n");
    assert_int_equal(send(fd, text.data, text.len, MSG_NOSIGNAL), text.len);
    buf_fini(&text);
}

static void on_header(void *arg, const char *name, size_t name_len,
                      const char *value, size_t value_len)
{
    struct http_reply *reply = arg;

    buf_addf(&reply->head, "%.*s: %.*s\n", (int)name_len, name, (int)value_len,
             value);
}

static void on_body(void *arg, const char *data, size_t len)
{
    struct http_reply *reply = arg;

    assert_int_equal(buf_add(&reply->body, data, len), 0);
}

static const struct http1_hooks hooks = {.header = on_header, .body = on_body};

/* What the end of the bytes means. */
static enum http_end end_of(struct http1 *parser, ssize_t n)
{
    if (n < 0 && errno == ECONNRESET)
        return HTTP_RESET;
    if (n < 0)
        fail_msg("recv: %s", strerror(errno));
    return http1_finish_at_eof(parser) ? HTTP_WHOLE : HTTP_CUT;
}

/* One read; false when the answer has ended. */
static bool read_more(int fd, struct http1 *parser, struct http_reply *reply)
{
    char bytes[65536];
    ssize_t used;
    ssize_t n;

    do /* with a timeout, being stopped and continued interrupts it */
        n = recv(fd, bytes, sizeof(bytes), 0);
    while (n < 0 && errno == EINTR);
    reply->end_ns = clk_now(&clk_monotonic);
    if (n <= 0) {
        reply->end = end_of(parser, n);
        return false;
    }
    used = http1_feed(parser, bytes, (size_t)n);
    if (used < 0) {
        reply->end = HTTP_NOT_HTTP;
        return false;
    }
    assert_int_equal(used, n); /* nothing was said unasked */
    if (reply->first_ns == TIME_ABSENT && reply->body.len > 0)
        reply->first_ns = reply->end_ns;
    return !http1_is_done(parser);
}

static struct http_reply read_reply(int fd, bool is_head)
{
    struct http_reply reply = {.end = HTTP_WHOLE, .first_ns = TIME_ABSENT};
    struct http1 parser;

    buf_init(&reply.head, HTTP1_MAX_HEAD);
    buf_init(&reply.body, MAX_BODY);
    http1_init(&parser, HTTP1_RESPONSE, &hooks, &reply);
    parser.is_head_request = is_head;
    while (read_more(fd, &parser, &reply))
        continue;
    reply.status = parser.status;
    reply.keeps_alive = parser.keeps_alive;
    http1_fini(&parser);
    return reply;
}

struct http_reply http_read(int fd)
{
    return read_reply(fd, false);
}

void http_reply_fini(struct http_reply *reply)
{
    buf_fini(&reply->head);
    buf_fini(&reply->body);
}

struct http_reply http_ask(const char *url, const struct http_request *request)
{
    bool is_head = request->method && strcmp(request->method, "HEAD") == 0;
    int fd = http_connect(url);
    struct http_reply reply;

    http_send(fd, request);
    reply = read_reply(fd, is_head);
    close(fd);
    return reply;
}

bool http_has_header(const struct http_reply *reply, const char *line)
{
    const char *at = buf_text(&reply->head);
    size_t len = strlen(line);

    while (*at) {
        size_t n = strcspn(at, "\n");

        if (n == len && strncmp(at, line, n) == 0)
            return true;
        at += n + 1;
    }
    return false;
}
