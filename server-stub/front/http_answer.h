/* http_answer.h - the texts of HTTP answers. */
#ifndef SERVER_STUB_FRONT_HTTP_ANSWER_H
#define SERVER_STUB_FRONT_HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"

/* The plain body is JSON: 2 bytes are the least that can be. */
#define ANSWER_MIN_BODY 2
#define ANSWER_MAX_BODY ((int64_t)64 << 20)

/* The plain answer, made once. */
struct answer {
    struct buf text;
    size_t head_len; /* what a HEAD request gets */
};

/* `body_bytes` within the bounds above. */
void answer_init(struct answer *answer, int64_t body_bytes, bool keeps_alive);
void answer_fini(struct answer *answer);

/* Head and body of an answer of known length; 429 and 503 say when to try
 * again. */
void answer_write(struct buf *out, int status, const char *type,
                  bool keeps_alive, const char *body, size_t len);

/* Likewise, of a body whose first bytes are JSON and the rest is not. */
void answer_write_binary(struct buf *out, bool keeps_alive, const char *body,
                         size_t len, size_t json_len);

/* Head of a stream of events. */
void answer_write_stream(struct buf *out, bool chunked, bool keeps_alive);

/* A piece of it, in the chunked coding if asked; none of 0 bytes. */
void answer_write_piece(struct buf *out, bool chunked, const char *data,
                        size_t len);

/* The end of a chunked stream. */
void answer_write_end(struct buf *out);

#endif
