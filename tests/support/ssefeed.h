/* ssefeed.h - feed a stream of events in pieces, and note what comes out. */
#ifndef TESTS_SUPPORT_SSEFEED_H
#define TESTS_SUPPORT_SSEFEED_H

#include <stddef.h>

#include "common/wire/sse.h"

/* For sse_init(), with a struct buf: a line for each event, [name] data, and
 * a line end in the data is written \n. */
void ssefeed_note(void *arg, const struct sse_event *event);

/* sse_feed() of a copy that is exactly this long and gone afterwards, so that
 * a sanitizer sees a step beyond, and a look back at what was borrowed. */
int ssefeed(struct sse *s, const char *text, size_t len);

/* The same in pieces of `first`, then `step` bytes. */
int ssefeed_in_pieces(struct sse *s, const char *text, size_t len, size_t first,
                      size_t step);

#endif
