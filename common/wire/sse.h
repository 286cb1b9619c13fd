/* sse.h - Server-Sent Events, however the bytes are cut.
 *
 * A pure state machine after the WHATWG's HTML standard, "event stream
 * interpretation": bytes in, events out; no I/O and no clock.  An event that
 * lies whole in the bytes, with one line of data, is handed out where it lies;
 * what is cut, or has several lines of data, is put together in memory that
 * is kept from event to event.
 *
 * Other than a browser's: an event that the end of the stream cuts off is not
 * lost (sse_finish), bytes are not checked to be UTF-8, and `id` and `retry`
 * do nothing, since nobody here connects again.
 */
#ifndef COMMON_WIRE_SSE_H
#define COMMON_WIRE_SSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"

/* Borrowed for the call; not NUL-terminated, never NULL. */
struct sse_event {
    const char *data; /* lines joined by \n; may be empty (`data:` alone) */
    size_t len;
    const char *name; /* of the last `event:` line; empty if there was none */
    size_t name_len;
};

/* An event has ended.  It may not call sse_*() on the same stream. */
typedef void sse_event_fn(void *arg, const struct sse_event *event);

struct sse {
    size_t max_event;
    sse_event_fn *on_event;
    void *arg;

    uint64_t comments; /* lines that start with ':', since sse_begin() */
    bool has_failed;   /* an event is too long; stays until sse_begin() */

    /* The event so far.  Data and name lie in the bytes being fed, in `line`,
     * or each in a buffer of its own, as at the end of a feed. */
    struct sse_event event;
    bool has_data;      /* a data line, were it empty */
    bool has_name;      /* an event line, were it empty */
    bool is_data_kept;  /* in `data` */
    bool is_name_kept;  /* in `name` */
    size_t event_len;   /* of its lines; comments and line ends not counted */
    bool is_first_line; /* a byte order mark may stand before it */
    bool is_after_cr;   /* a \n would belong to the \r before it */
    struct buf line;    /* a line that is not whole yet */
    struct buf data, name; /* of an event that is not */
};

/* `max_event`, above 0, bounds the bytes of an event's lines, without their
 * ends and without comments, which must fit one at a time; and so the memory.
 */
void sse_init(struct sse *s, size_t max_event, sse_event_fn *on_event,
              void *arg);
void sse_fini(struct sse *s);

/* Get ready for the next stream; the memory is kept. */
void sse_begin(struct sse *s);

/* Take all of these bytes and hand out the events that end in them.  -1 if an
 * event is longer than max_event; those before it were handed out. */
int sse_feed(struct sse *s, const char *data, size_t len);

/* The stream has ended.  An event without its blank line is handed out as far
 * as it came, be its last line whole or not.  Returns 1 if there was one, 0 if
 * not, -1 if the stream has failed before.  sse_begin() must follow. */
int sse_finish(struct sse *s);

#endif
