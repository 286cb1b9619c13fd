/* http2_head.h - the header fields of requests over HTTP/2, made once per
 * route.
 */
#ifndef LOADGEN_TRANSPORT_HTTP2_HEAD_H
#define LOADGEN_TRANSPORT_HTTP2_HEAD_H

#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "loadgen/prepare/target.h"

/* What differs between the requests of a route: must live until the head is
 * sent. */
struct http2_digits {
    char id[TARGET_ID_DIGITS];
    char length[24]; /* of a body that is made for this request */
};

struct http2_head {
    struct strlist texts; /* names and values, in turns */
    nghttp2_nv *fields;
    size_t n;
    bool has_id;     /* the last field is the id */
    bool has_length; /* the field before that is the length of its body */
};

/* In zeroed memory. */
void http2_head_init(struct http2_head *h, const struct targets *ts,
                     const struct target *t, const char *method,
                     bool makes_bodies, bool has_id);
void http2_head_fini(struct http2_head *h);

/* Fill in a request's own; `fields` is valid for it until the next call. */
void http2_head_fill(struct http2_head *h, struct http2_digits *digits,
                     int64_t seq, size_t body_len);

/* As text, like a head of HTTP/1.1. */
void http2_head_print(const struct http2_head *h, struct buf *out);

#endif
