/* http_answer.h - the text of HTTP answers. */
#ifndef SERVER_STUB_FRONT_HTTP_ANSWER_H
#define SERVER_STUB_FRONT_HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"

/* The plain body is JSON, of at least "{}". */
#define ANSWER_MIN_BODY 2
#define ANSWER_MAX_BODY ((int64_t)64 << 20)

/* The plain answer, made once.  Release it with buf_fini(). */
struct answer {
    struct buf text;
    size_t head_len; /* a HEAD request gets only this */
};

/* `body_bytes` is within the limits above. */
void answer_init(struct answer *answer, int64_t body_bytes, bool keeps_alive);

/* Append head and body of an answer of known length.  429 and 503 have a
 * Retry-After. */
void answer_write(struct buf *out, int status, const char *type,
                  bool keeps_alive, const char *body, size_t len);

/* The same for a body whose first json_len bytes are JSON and the rest is
 * binary. */
void answer_write_binary(struct buf *out, bool keeps_alive, const char *body,
                         size_t len, size_t json_len);

/* Append the head of a stream of events. */
void answer_write_stream(struct buf *out, bool chunked, bool keeps_alive);

/* Append a piece of the stream, as a chunk if asked; nothing if it is empty. */
void answer_write_piece(struct buf *out, bool chunked, const char *data,
                        size_t len);

/* Append the end of a chunked stream. */
void answer_write_end(struct buf *out);

#endif
