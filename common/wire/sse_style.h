/* sse_style.h - the ways in which servers write server-sent events, beside the
 * plain one; and their names, as people write them.  Pure. */
#ifndef COMMON_WIRE_SSE_STYLE_H
#define COMMON_WIRE_SSE_STYLE_H

#include "common/base/str.h"

struct buf;
struct err;

enum sse_style {
    SSE_STYLE_CRLF,     /* ends of lines */
    SSE_STYLE_CR,       /* likewise */
    SSE_STYLE_NO_SPACE, /* none after "data:" */
    SSE_STYLE_NAMED,    /* an event has a name */
    SSE_STYLE_SPLIT,    /* an object takes two lines of data */
    SSE_STYLE_COMMENTS, /* keep-alives: a comment, */
    SSE_STYLE_EMPTY,    /* an event without data, */
    SSE_STYLE_PINGS,    /* an event that is meant to be a comment */
    SSE_STYLES,
};

/* For an option table. */
int sse_style_check(const char *text, struct err *err);

/* Bits 1 << way. */
int sse_style_parse(const struct strlist *texts, unsigned *ways,
                    struct err *err);

/* An event with this data, which is one line. */
void sse_style_write(unsigned ways, const char *data, struct buf *out);

/* The keep-alives that go before an event; may be none. */
void sse_style_write_keepalives(unsigned ways, struct buf *out);

#endif
