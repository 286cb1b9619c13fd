#include "common/wire/sse_style.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"

static const char *const names[SSE_STYLES] = {
    [SSE_STYLE_CRLF] = "crlf",         [SSE_STYLE_CR] = "cr",
    [SSE_STYLE_NO_SPACE] = "no-space", [SSE_STYLE_NAMED] = "named",
    [SSE_STYLE_SPLIT] = "split",       [SSE_STYLE_COMMENTS] = "comments",
    [SSE_STYLE_EMPTY] = "empty",       [SSE_STYLE_PINGS] = "pings",
};

static bool has(unsigned ways, enum sse_style way)
{
    return (ways >> way & 1) != 0;
}

static int find(const char *text, unsigned *ways, struct err *err)
{
    for (int way = 0; way < SSE_STYLES; way++) {
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

int sse_style_check(const char *text, struct err *err)
{
    unsigned ways = 0;

    return find(text, &ways, err);
}

int sse_style_parse(const struct strlist *texts, unsigned *ways,
                    struct err *err)
{
    *ways = 0;
    for (size_t i = 0; i < texts->len; i++) {
        if (find(texts->items[i], ways, err))
            return -1;
    }
    if (has(*ways, SSE_STYLE_CRLF) && has(*ways, SSE_STYLE_CR))
        return err_set(err, ERR_CONFIG, "either crlf or cr");
    return 0;
}

static const char *end_of_line(unsigned ways)
{
    if (has(ways, SSE_STYLE_CRLF))
        return "\r\n";
    return has(ways, SSE_STYLE_CR) ? "\r" : "\n";
}

/* A line "field: value" in pieces: no format, since data may be long. */
static void write_line(unsigned ways, const char *field, const char *value,
                       struct buf *out)
{
    buf_adds(out, field);
    if (!has(ways, SSE_STYLE_NO_SPACE))
        buf_adds(out, " ");
    buf_adds(out, value);
    buf_adds(out, end_of_line(ways));
}

void sse_style_write(unsigned ways, const char *data, struct buf *out)
{
    if (has(ways, SSE_STYLE_NAMED))
        write_line(ways, "event:", "message", out);
    if (has(ways, SSE_STYLE_SPLIT) && data[0] == '{') {
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

void sse_style_write_keepalives(unsigned ways, struct buf *out)
{
    if (has(ways, SSE_STYLE_COMMENTS))
        write_keepalive(ways, ": ping", out);
    if (has(ways, SSE_STYLE_EMPTY))
        write_keepalive(ways, "data:", out);
    if (has(ways, SSE_STYLE_PINGS))
        write_keepalive(ways, "data: : ping", out);
}
