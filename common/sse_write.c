#include "common/sse_write.h"

#include <stdbool.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"

static const char *const names[SSE_WAYS] = {
    [SSE_CRLF] = "crlf",   [SSE_CR] = "cr",       [SSE_NO_SPACE] = "no-space",
    [SSE_NAMED] = "named", [SSE_SPLIT] = "split", [SSE_COMMENTS] = "comments",
    [SSE_EMPTY] = "empty", [SSE_PINGS] = "pings",
};

static bool has(unsigned ways, enum sse_way way)
{
    return (ways >> way & 1) != 0;
}

static int find(const char *text, unsigned *ways, struct err *err)
{
    for (int way = 0; way < SSE_WAYS; way++) {
        if (strcmp(names[way], text) == 0) {
            *ways |= 1U << way;
            return 0;
        }
    }
    return err_set(err, ERR_CONFIG,
                   "no way '%s' to write events; there are crlf, cr, no-space, "
                   "named, split, comments, empty and pings",
                   text);
}

int sse_check(const char *text, struct err *err)
{
    unsigned ways = 0;

    return find(text, &ways, err);
}

int sse_parse(const struct strlist *texts, unsigned *ways, struct err *err)
{
    *ways = 0;
    for (size_t i = 0; i < texts->len; i++) {
        if (find(texts->items[i], ways, err))
            return -1;
    }
    if (has(*ways, SSE_CRLF) && has(*ways, SSE_CR))
        return err_set(err, ERR_CONFIG, "either crlf or cr");
    return 0;
}

static const char *end_of_line(unsigned ways)
{
    if (has(ways, SSE_CRLF))
        return "\r\n";
    return has(ways, SSE_CR) ? "\r" : "\n";
}

/* A line "field: value" in pieces: no format, since data may be long. */
static void write_line(unsigned ways, const char *field, const char *value,
                       struct buf *out)
{
    buf_adds(out, field);
    if (!has(ways, SSE_NO_SPACE))
        buf_adds(out, " ");
    buf_adds(out, value);
    buf_adds(out, end_of_line(ways));
}

void sse_write(unsigned ways, const char *data, struct buf *out)
{
    if (has(ways, SSE_NAMED))
        write_line(ways, "event:", "message", out);
    if (has(ways, SSE_SPLIT) && data[0] == '{') {
        write_line(ways, "data:", "{", out);
        data++;
    }
    write_line(ways, "data:", data, out);
    buf_adds(out, end_of_line(ways));
}

static void write_keepalive(unsigned ways, const char *line, struct buf *out)
{
    buf_adds(out, line);
    buf_adds(out, end_of_line(ways));
    buf_adds(out, end_of_line(ways));
}

void sse_write_keepalives(unsigned ways, struct buf *out)
{
    if (has(ways, SSE_COMMENTS))
        write_keepalive(ways, ": ping", out);
    if (has(ways, SSE_EMPTY))
        write_keepalive(ways, "data:", out);
    if (has(ways, SSE_PINGS))
        write_keepalive(ways, "data: : ping", out);
}
