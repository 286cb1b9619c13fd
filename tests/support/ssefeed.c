#include "tests/support/ssefeed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/xalloc.h"

void ssefeed_note(void *arg, const struct sse_event *event)
{
    struct buf *events = arg;

    assert_non_null(event->data);
    assert_non_null(event->name);
    buf_adds(events, "[");
    buf_add(events, event->name, event->name_len);
    buf_adds(events, "] ");
    for (size_t i = 0; i < event->len; i++) {
        if (event->data[i] == '\n')
            buf_adds(events, "\\n");
        else
            buf_add(events, event->data + i, 1);
    }
    buf_adds(events, "\n");
}

int ssefeed(struct sse *s, const char *text, size_t len)
{
    char *exact = xcalloc(len ? len : 1, 1);
    int rc;

    if (len > 0)
        memcpy(exact, text, len);
    rc = sse_feed(s, exact, len);
    free(exact);
    return rc;
}

int ssefeed_in_pieces(struct sse *s, const char *text, size_t len, size_t first,
                      size_t step)
{
    size_t piece = first;

    for (size_t used = 0; used < len; used += piece, piece = step) {
        if (piece > len - used)
            piece = len - used;
        if (ssefeed(s, text + used, piece))
            return -1;
    }
    return 0;
}
