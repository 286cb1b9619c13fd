/* buf.h - bytes that grow, up to a maximum that whoever makes one must name.
 *
 * The data is always followed by a NUL that is not counted, so that text can
 * be handed on as a string.
 */
#ifndef COMMON_BASE_BUF_H
#define COMMON_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data; /* owned; NULL until the first byte */
    size_t len;
    size_t cap;
    size_t max;
    bool overflowed; /* something did not fit; stays until buf_reset() */
};

void buf_init(struct buf *b, size_t max);
void buf_fini(struct buf *b);

/* Forget the bytes, keep the memory. */
void buf_reset(struct buf *b);

/* Each gets the other's bytes and memory. */
void buf_swap(struct buf *a, struct buf *b);

/* Append; -1 if that would pass the maximum, and then nothing is added. */
int buf_add(struct buf *b, const void *data, size_t len);
int buf_adds(struct buf *b, const char *s);
int buf_addf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Room for len more bytes at data + len, for a caller that writes there and
 * then says with buf_commit() how many; NULL if that would pass the maximum. */
char *buf_reserve(struct buf *b, size_t len);
void buf_commit(struct buf *b, size_t len);

/* Drop the first len bytes. */
void buf_consume(struct buf *b, size_t len);

/* The text so far; "" when there is none. */
const char *buf_text(const struct buf *b);

#endif
