/* buf.h - a byte buffer that grows up to a maximum, and a limit on the memory
 * of all responses in the process.
 *
 * The data is always followed by a NUL that is not counted, so that text can be
 * used as a string.
 */
#ifndef COMMON_BASE_BUF_H
#define COMMON_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
    char *data; /* owned; NULL until the first byte */
    size_t len;
    size_t cap;
    size_t max;
    bool overflowed; /* something did not fit; cleared by buf_reset() */
};

void buf_init(struct buf *b, size_t max);
void buf_fini(struct buf *b);

/* Drop the bytes, keep the memory. */
void buf_reset(struct buf *b);

/* Exchange the bytes and memory of two buffers. */
void buf_swap(struct buf *a, struct buf *b);

/* Append.  -1 if that would exceed the maximum; nothing is added then. */
int buf_add(struct buf *b, const void *data, size_t len);
int buf_adds(struct buf *b, const char *s);
int buf_addf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Make room for len bytes at data + len.  The caller writes there and then
 * calls buf_commit() with the number of bytes written.  NULL if that would
 * exceed the maximum. */
char *buf_reserve(struct buf *b, size_t len);
void buf_commit(struct buf *b, size_t len);

/* Drop the first len bytes. */
void buf_consume(struct buf *b, size_t len);

/* The bytes as a string; "" if the buffer is empty. */
const char *buf_text(const struct buf *b);

/* ---- the memory budget ----
 *
 * Users charge the capacity of their buffers, and only when it has grown.
 * Buffers are reused, so most requests do not touch the counter. */

/* The limit in bytes, above 0; the default is INT64_MAX, no limit.  Call it
 * before other threads use the budget. */
void budget_set(int64_t bytes);

/* Returns false, and takes nothing, if that would exceed the limit.  Both may
 * be called on any thread. */
bool budget_take(int64_t bytes);
void budget_give(int64_t bytes);

/* True if more than half is taken: then free memory that is not in use. */
bool budget_is_tight(void);

#endif
