#include "loadgen/trace/trace_lines.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"

#define CHUNK ((size_t)64 << 10)

int lines_open(struct lines *l, const char *path, struct err *err)
{
    *l = (struct lines){.path = xstrdup(path), .out_cap = 2 * CHUNK};
    l->out = xcalloc(1, l->out_cap);
    return unpacker_open(&l->file, path, err);
}

void lines_fini(struct lines *l)
{
    unpacker_fini(&l->file);
    free(l->out);
    free(l->path);
    *l = (struct lines){0};
}

/* Read a chunk behind the rest of the last one: 1, 0 at the end of the file, or
 * -1.  A line that does not fit into the largest buffer is skipped. */
static int fill(struct lines *l, struct err *err)
{
    size_t left = l->out_end - l->out_at;
    const char *why;
    ssize_t n;

    l->is_skipping |= left >= LINES_MAX;
    if (l->is_skipping)
        left = 0;
    if (left > 0)
        memmove(l->out, l->out + l->out_at, left);
    l->out_at = 0;
    l->out_end = left;
    l->out_seen = left;
    if (l->out_cap - left < CHUNK) {
        l->out_cap *= 2;
        l->out = xrealloc(l->out, l->out_cap, 1);
    }
    n = unpacker_read(&l->file, l->out + left, CHUNK, &why);
    if (n < 0)
        return err_set(err, ERR_IO, "%s: after line %lld: %s", l->path,
                       (long long)l->number, why);
    l->out_end += (size_t)n;
    return n > 0;
}

static struct line cut(struct lines *l, size_t end, size_t next)
{
    struct line line = {.at = l->out + l->out_at,
                        .len = end - l->out_at,
                        .number = ++l->number,
                        .is_too_long = l->is_skipping};
    size_t bom_len = line.number == 1 ? str_bom_len(line.at, line.len) : 0;

    line.at += bom_len;
    line.len -= bom_len;
    if (line.len > 0 && line.at[line.len - 1] == '\r')
        line.len--;
    if (line.is_too_long)
        line.len = 0;
    l->is_skipping = false;
    l->out_at = next;
    l->out_seen = next;
    return line;
}

int lines_next(struct lines *l, struct line *line, struct err *err)
{
    int rc;

    do {
        const char *from = l->out + l->out_seen;
        const char *end = memchr(from, '\n', l->out_end - l->out_seen);

        if (end) {
            size_t at = (size_t)(end - l->out);

            *line = cut(l, at, at + 1);
            return 1;
        }
        rc = fill(l, err);
    } while (rc > 0);
    if (rc < 0 || (l->out_end == l->out_at && !l->is_skipping))
        return rc;
    *line = cut(l, l->out_end, l->out_end); /* the last line has no line end */
    return 1;
}
