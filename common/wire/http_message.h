/* http_message.h - a parser for HTTP/1 messages that arrive in any pieces.
 *
 * A pure state machine: bytes in, head and body out, no I/O and no clock.  The
 * only memory is for a line that arrives in pieces.  It reads responses for the
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
    HTTP1_BAD_START,    /* not an HTTP/1 start line */
    HTTP1_BAD_HEADER,   /* not "name: value" */
    HTTP1_LONG_HEAD,    /* start line and headers exceed the limit */
    HTTP1_BAD_LENGTH,   /* Content-Length is not a number, or given twice */
    HTTP1_BAD_ENCODING, /* a Transfer-Encoding other than chunked */
    HTTP1_BAD_CHUNK,    /* chunk without a size or an end */
    HTTP1_LONG_BODY,    /* exceeds the reader's limit */
    HTTP1_FLOOD,        /* HTTP/2: too many frames without content */
    HTTP1_BAD_FRAME,    /* HTTP/2: a frame or head that it does not allow */
    HTTP1_ERROR_COUNT,
};

#define HTTP1_MAX_HEAD ((size_t)64 << 10)

struct http1_hooks {
    /* The start line, without the line end.  Optional. */
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
    HTTP1_BODY,      /* p->left bytes follow */
    HTTP1_UNTIL_EOF, /* a response that ends with the connection */
    HTTP1_CHUNK_SIZE,
    HTTP1_CHUNK_DATA,
    HTTP1_CHUNK_END,
    HTTP1_TRAILERS,
    HTTP1_DONE,
};

/* A head that was read, and what it says.  Most responses of a server have the
 * same head as the one before; comparing is much cheaper than reading.  Several
 * parsers of one thread may share it. */
#define HTTP1_KNOWN_HEAD 512
struct http1_known {
    char head[HTTP1_KNOWN_HEAD];
    size_t len; /* 0: none */
    int status;
    int minor_version;
    bool keeps_alive;
    bool is_chunked;
    int64_t content_length;
};

struct http1 {
    enum http1_kind kind;
    enum http1_state state;
    enum http1_error error;
    const struct http1_hooks *hooks; /* borrowed */
    void *arg;
    struct http1_known *known; /* borrowed; NULL: every head is read.  For
                                  responses without hooks for the head */
    bool is_head_request; /* of a request: read from it.  For a response, which
                             then has no body: set by the caller after
                             http1_begin() */

    int status;        /* response only */
    int minor_version; /* HTTP/1.x */
    bool keeps_alive;  /* the connection may be used again */
    bool is_chunked;
    int64_t content_length; /* -1: not given */
    bool has_started;       /* a byte of this message was seen */

    int64_t left;    /* remaining bytes of the body or chunk */
    size_t head_len; /* bytes of start line and headers so far */
    struct buf line; /* an incomplete line */
};

void http1_init(struct http1 *p, enum http1_kind kind,
                const struct http1_hooks *hooks, void *arg);
void http1_fini(struct http1 *p);

/* Prepare for the next message of the connection. */
void http1_begin(struct http1 *p);

/* Take bytes up to the end of the message.  Returns how many were taken, or -1
 * with p->error set if this is not HTTP. */
ssize_t http1_feed(struct http1 *p, const char *data, size_t len);

/* The connection was closed.  True if that completes the message; else it was
 * cut off. */
bool http1_finish_at_eof(struct http1 *p);

static inline bool http1_is_done(const struct http1 *p)
{
    return p->state == HTTP1_DONE;
}

/* Are the headers complete? */
static inline bool http1_has_head(const struct http1 *p)
{
    return p->state >= HTTP1_BODY;
}

const char *http1_error_text(enum http1_error error);

#endif
