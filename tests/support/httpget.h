/* httpget.h - a tiny blocking HTTP client: one request, one answer, and how
 * exactly that ended.
 */
#ifndef TESTS_SUPPORT_HTTPGET_H
#define TESTS_SUPPORT_HTTPGET_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/buf.h"

enum http_end {
    HTTP_WHOLE,    /* the answer is complete */
    HTTP_CUT,      /* the connection was closed in its middle */
    HTTP_RESET,    /* ... or was reset */
    HTTP_NOT_HTTP, /* what came is none */
};

struct http_reply {
    enum http_end end;
    int status; /* 0: no head came */
    bool keeps_alive;
    struct buf head;  /* a "name: value" a line, names as they came */
    struct buf body;  /* without its framing */
    int64_t first_ns; /* when that was; TIME_ABSENT if there is no body */
    int64_t end_ns;
};

struct http_request {
    const char *method;  /* NULL: GET, or POST with a body */
    const char *path;    /* NULL: / */
    const char *version; /* NULL: 1.1 */
    const char *headers; /* NULL: none; else lines with their ends */
    const char *body;    /* NULL: none */
};

/* A connected socket; `url` as the stub prints it. */
int http_connect(const char *url);

void http_send(int fd, const struct http_request *request);

/* Blocks until the answer has ended, one way or the other; a minute of silence
 * fails the test. */
struct http_reply http_read(int fd);
void http_reply_fini(struct http_reply *reply);

/* All of it on a connection of its own. */
struct http_reply http_ask(const char *url, const struct http_request *request);

#define HTTP_ASK(url, ...)                                                     \
    http_ask(url, &(const struct http_request){__VA_ARGS__})

/* Is this line among the headers? */
bool http_has_header(const struct http_reply *reply, const char *line);

#endif
