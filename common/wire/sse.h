/* sse.h - Server-Sent Events: a parser that accepts bytes in any pieces, and a
 * writer that knows the styles of different servers.
 *
 * The parser is a pure state machine after the WHATWG HTML standard, "event
 * stream interpretation": bytes in, events out, no I/O and no clock.  An event
 * that lies whole in the bytes, with one line of data, is handed out in place.
 * Other events are assembled in memory that is kept from event to event.
 *
 * Differences from a browser: an event cut off by the end of the stream is not
 * lost (sse_finish), bytes are not checked for UTF-8, and `id` and `retry` are
 * ignored, since nothing here reconnects.
 */
#ifndef COMMON_WIRE_SSE_H
#define COMMON_WIRE_SSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"

struct err;
struct strlist;

/* Borrowed for the call; not NUL-terminated, never NULL. */
struct sse_event {
    const char *data; /* lines joined by \n; may be empty (`data:` alone) */
    size_t len;
    const char *name; /* of the last `event:` line; empty if there was none */
    size_t name_len;
};

/* Called at the end of an event.  Must not call sse_*() on the same stream. */
typedef void sse_event_fn(void *arg, const struct sse_event *event);

struct sse {
    size_t max_event;
    sse_event_fn *on_event;
    void *arg;

    uint64_t comments; /* lines that start with ':', since sse_begin() */
    bool has_failed;   /* an event is too long; cleared by sse_begin() */

    /* The event so far.  Data and name lie in the bytes being fed, in `line`,
     * or, between two calls, each in a buffer of its own. */
    struct sse_event event;
    bool has_data;      /* there was a data line, even if empty */
    bool has_name;      /* there was an event line, even if empty */
    bool is_data_kept;  /* in `data` */
    bool is_name_kept;  /* in `name` */
    size_t event_len;   /* bytes of its lines, without comments and line ends */
    bool is_first_line; /* may start with a byte order mark */
    bool is_after_cr;   /* a \n now belongs to the \r before it */
    struct buf line;    /* an incomplete line */
    struct buf data;
    struct buf name;
};

/* `max_event`, above 0, limits the bytes of an event's lines, without line ends
 * and comments (each comment must fit on its own), and so the memory. */
void sse_init(struct sse *s, size_t max_event, sse_event_fn *on_event,
              void *arg);
void sse_fini(struct sse *s);

/* Prepare for the next stream; the memory is kept. */
void sse_begin(struct sse *s);

/* Take all of these bytes and report the events that end in them.  -1 if an
 * event is longer than max_event; the events before it were reported. */
int sse_feed(struct sse *s, const char *data, size_t len);

/* The stream has ended.  An event without its blank line is reported as far as
 * it came.  Returns 1 if there was one, 0 if not, -1 if the stream had failed
 * before.  Call sse_begin() next. */
int sse_finish(struct sse *s);

/* ---- writing ---- */

/* The ways in which servers write events, besides the plain one. */
enum sse_style {
    SSE_STYLE_CRLF,     /* lines end with \r\n */
    SSE_STYLE_CR,       /* lines end with \r */
    SSE_STYLE_NO_SPACE, /* no space after "data:" */
    SSE_STYLE_NAMED,    /* an event has a name */
    SSE_STYLE_SPLIT,    /* an object takes two data lines */
    SSE_STYLE_COMMENTS, /* keep-alive: a comment */
    SSE_STYLE_EMPTY,    /* keep-alive: an event without data */
    SSE_STYLE_PINGS,    /* keep-alive: an event that is meant to be a comment */
    SSE_STYLES,
};

/* Checks one name, for an option table.  ERR_CONFIG. */
int sse_style_check(const char *text, struct err *err);

/* Sets bit 1 << style for each name.  ERR_CONFIG. */
int sse_style_parse(const struct strlist *texts, unsigned *styles,
                    struct err *err);

/* Append an event with this one line of data. */
void sse_style_write(unsigned styles, const char *data, struct buf *out);

/* Append the keep-alives that precede an event, if any. */
void sse_style_write_keepalives(unsigned styles, struct buf *out);

#endif
