#include "loadgen/trace/trace_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "loadgen/trace/unpack.h"

/* Small enough that a worker is not held up when it unpacks one. */
#define CHUNK ((size_t)64 << 10)

static int refuse(struct err *err, const char *path, const char *why)
{
    return err_set(err, ERR_CONFIG, "%s: %s", path, why);
}

static int fail(const struct lines *l, const char *why, struct err *err)
{
    return err_set(err, ERR_IO, "%s: after line %lld: %s", l->path,
                   (long long)l->number, why);
}

/* More of the file as it is. */
static int fill_in(struct lines *l, struct err *err)
{
    ssize_t n;

    do
        n = read(l->fd, l->in, CHUNK);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return fail(l, strerror(errno), err);
    l->in_at = 0;
    l->in_end = (size_t)n;
    l->has_ended = n == 0;
    return 0;
}

int lines_open(struct lines *l, const char *path, struct err *err)
{
    struct stat st;

    *l = (struct lines){.path = xstrdup(path), .out_cap = 2 * CHUNK};
    /* Of a pipe that nobody writes to, nothing is waited for. */
    l->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (l->fd < 0)
        return refuse(err, path, strerror(errno));
    l->is_open = true;
    if (fstat(l->fd, &st) || !S_ISREG(st.st_mode))
        return refuse(err, path,
                      "is no regular file; it must be one, because "
                      "it is read more than once");
    posix_fadvise(l->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    l->in = xcalloc(1, CHUNK);
    l->out = xcalloc(1, l->out_cap);
    if (fill_in(l, err))
        return -1;
    l->ops = unpack_for(l->in, l->in_end);
    l->unpack = xcalloc(1, l->ops->state_size + 1);
    if (l->ops->init)
        l->ops->init(l->unpack);
    return 0;
}

void lines_fini(struct lines *l)
{
    if (l->unpack && l->ops->fini)
        l->ops->fini(l->unpack);
    free(l->unpack);
    free(l->in);
    free(l->out);
    free(l->path);
    if (l->is_open)
        close(l->fd);
    *l = (struct lines){0};
}

/* Room for a chunk behind what is left of the last one; a line that does not
 * fit into the largest buffer is given up. */
static void make_room(struct lines *l)
{
    size_t left = l->out_end - l->out_at;

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
}

/* One step of unpacking; 0 if there is nothing left to unpack. */
static int unpack(struct lines *l, struct err *err)
{
    struct unpack_io io = {l->in + l->in_at, l->in_end - l->in_at,
                           l->out + l->out_end, CHUNK};

    if (l->ops->step(l->unpack, &io))
        return fail(l, "what is compressed here is damaged", err);
    l->in_at = l->in_end - io.in_len;
    l->out_end += CHUNK - io.out_len;
    return io.out_len < CHUNK;
}

/* Get more text: 1, or 0 at the end of the file, or -1. */
static int fill_out(struct lines *l, struct err *err)
{
    make_room(l);
    for (;;) {
        int rc;

        if (l->in_at == l->in_end && !l->has_ended && fill_in(l, err))
            return -1;
        rc = unpack(l, err);
        if (rc)
            return rc;
        if (l->has_ended && l->in_at == l->in_end)
            break;
    }
    if (l->ops->may_end && !l->ops->may_end(l->unpack))
        return fail(l, "the file ends in the middle of what is compressed",
                    err);
    return 0;
}

static struct line cut(struct lines *l, size_t end, size_t next)
{
    struct line line = {.at = l->out + l->out_at,
                        .len = end - l->out_at,
                        .number = ++l->number,
                        .is_too_long = l->is_skipping};

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
    for (;;) {
        const char *from = l->out + l->out_seen;
        const char *end = memchr(from, '\n', l->out_end - l->out_seen);
        int rc;

        if (end) {
            size_t at = (size_t)(end - l->out);

            *line = cut(l, at, at + 1);
            return 1;
        }
        rc = fill_out(l, err);
        if (rc < 0)
            return -1;
        if (rc == 0)
            break;
    }
    if (l->out_end == l->out_at && !l->is_skipping)
        return 0;
    *line = cut(l, l->out_end, l->out_end); /* the last has no end */
    return 1;
}
