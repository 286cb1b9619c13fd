/* sse_write.h - the ways in which servers write server-sent events, beside the plain
 * one; and their names, as people write them.  Pure. */
#ifndef COMMON_SSE_WRITE_H
#define COMMON_SSE_WRITE_H

#include "common/str.h"

struct buf;
struct err;

enum sse_way {
    SSE_CRLF,     /* ends of lines */
    SSE_CR,       /* likewise */
    SSE_NO_SPACE, /* none after "data:" */
    SSE_NAMED,    /* an event has a name */
    SSE_SPLIT,    /* an object takes two lines of data */
    SSE_COMMENTS, /* keep-alives: a comment, */
    SSE_EMPTY,    /* an event without data, */
    SSE_PINGS,    /* an event that is meant to be a comment */
    SSE_WAYS,
};

/* For an option table. */
int sse_check(const char *text, struct err *err);

/* Bits 1 << way. */
int sse_parse(const struct strlist *texts, unsigned *ways, struct err *err);

/* An event with this data, which is one line. */
void sse_write(unsigned ways, const char *data, struct buf *out);

/* The keep-alives that go before an event; may be none. */
void sse_write_keepalives(unsigned ways, struct buf *out);

#endif
