/* http_message.h - an HTTP/1 message, byte by byte if need be.
 *
 * A pure state machine: bytes in, head and body out; no I/O, no clock, and no
 * memory but one line that may arrive in pieces.  It reads responses for the
 * client and requests for the stub.
 */
#ifndef COMMON_WIRE_HTTP_MESSAGE_H
#define COMMON_WIRE_HTTP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/buf.h"

enum http1_kind { HTTP1_REQUEST, HTTP1_RESPONSE };

/* Append only: the numbers are details of outcomes in recordings. */
enum http1_error {
    HTTP1_FINE = 0,
    HTTP1_BAD_START,    /* not a start line of HTTP/1 */
    HTTP1_BAD_HEADER,   /* not "name: value" */
    HTTP1_LONG_HEAD,    /* start line and headers above the bound */
    HTTP1_BAD_LENGTH,   /* Content-Length no number, or two that differ */
    HTTP1_BAD_ENCODING, /* a Transfer-Encoding other than chunked */
    HTTP1_BAD_CHUNK,    /* chunk without a size, or without its end */
    HTTP1_LONG_BODY,    /* above the bound of whoever reads it */
    HTTP1_FLOOD,        /* HTTP/2: frames without content, and no end of them */
    HTTP1_ERROR_COUNT,
};

#define HTTP1_MAX_HEAD ((size_t)64 << 10)

struct http1_hooks {
    /* The start line, without its end.  Optional. */
    void (*start)(void *arg, const char *line, size_t len);

    /* A header, or a trailer; not NUL-terminated.  Optional. */
    void (*header)(void *arg, const char *name, size_t name_len,
                   const char *value, size_t value_len);

    /* The next piece of the body, without its framing.  Optional. */
    void (*body)(void *arg, const char *data, size_t len);
};

enum http1_state {
    HTTP1_START,
    HTTP1_HEADERS,
    HTTP1_BODY,      /* so many bytes more */
    HTTP1_UNTIL_EOF, /* a response that ends with its connection */
    HTTP1_CHUNK_SIZE,
    HTTP1_CHUNK_DATA,
    HTTP1_CHUNK_END,
    HTTP1_TRAILERS,
    HTTP1_DONE,
};

struct http1 {
    enum http1_kind kind;
    enum http1_state state;
    enum http1_error error;
    const struct http1_hooks *hooks; /* borrowed */
    void *arg;
    bool is_head_request; /* of a request: read; of a response, which then has
                             no body whatever it says: set by the caller after
                             http1_begin() */

    int status;        /* of a response */
    int minor_version; /* HTTP/1.x */
    bool keeps_alive;  /* may the connection be used again? */
    bool is_chunked;
    int64_t content_length; /* -1: none given */
    bool has_started;       /* any byte of this message seen */

    int64_t left;    /* bytes of the body or chunk still to come */
    size_t head_len; /* bytes of start line and headers so far */
    struct buf line; /* a line that is not whole yet */
};

void http1_init(struct http1 *p, enum http1_kind kind,
                const struct http1_hooks *hooks, void *arg);
void http1_fini(struct http1 *p);

/* Get ready for the next message of the connection. */
void http1_begin(struct http1 *p);

/* Take bytes up to the end of the message.  Returns how many were taken, -1
 * with p->error set if this is not HTTP. */
ssize_t http1_feed(struct http1 *p, const char *data, size_t len);

/* The connection was closed.  True if that is how this message ends; else it
 * was cut off. */
bool http1_finish_at_eof(struct http1 *p);

static inline bool http1_is_done(const struct http1 *p)
{
    return p->state == HTTP1_DONE;
}

/* Are the headers all there? */
static inline bool http1_has_head(const struct http1 *p)
{
    return p->state >= HTTP1_BODY;
}

const char *http1_error_text(enum http1_error error);

#endif
