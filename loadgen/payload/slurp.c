#include "loadgen/payload/slurp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/hash.h"
#include "common/base/xalloc.h"
#include "loadgen/trace/unpack.h"

#define CHUNK ((size_t)256 << 10)

struct slurper {
    const char *path;
    int fd;
    struct sha256 hash;
    char *in;
    const struct unpack_ops *ops; /* NULL: nothing has been read */
    void *unpack;
    struct buf *out;
};

static int fail(const struct slurper *s, const char *why, struct err *err)
{
    return err_set(err, ERR_CONFIG, "%s: %s", s->path, why);
}

static void choose_unpack(struct slurper *s, size_t len)
{
    s->ops = unpack_for(s->in, len);
    s->unpack = xcalloc(1, s->ops->state_size + 1);
    if (s->ops->init)
        s->ops->init(s->unpack);
}

/* All of what has been read, and all that it unpacks to. */
static int unpack(struct slurper *s, size_t len, struct err *err)
{
    struct unpack_io io = {.in = s->in, .in_len = len};

    do {
        io.out = buf_reserve(s->out, CHUNK);
        io.out_len = CHUNK;
        if (!io.out)
            return err_set(err, ERR_CONFIG,
                           "%s: more than %zu MB, unpacked; a data set must "
                           "fit into memory",
                           s->path, s->out->max >> 20);
        if (s->ops->step(s->unpack, &io))
            return fail(s, "what is compressed here is damaged", err);
        buf_commit(s->out, CHUNK - io.out_len);
    } while (io.in_len > 0 || io.out_len == 0);
    return 0;
}

/* 1: there may be more; 0: that was all. */
static int step(struct slurper *s, struct err *err)
{
    ssize_t n;

    do
        n = read(s->fd, s->in, CHUNK);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return fail(s, strerror(errno), err);
    if (!s->ops)
        choose_unpack(s, (size_t)n);
    if (n == 0)
        return 0;
    sha256_add(&s->hash, s->in, (size_t)n);
    return unpack(s, (size_t)n, err) ? -1 : 1;
}

static int read_all(struct slurper *s, struct err *err)
{
    struct stat st;
    int rc;

    if (fstat(s->fd, &st) || !S_ISREG(st.st_mode))
        return fail(s, "is no regular file", err);
    do
        rc = step(s, err);
    while (rc > 0);
    if (rc == 0 && s->ops && s->ops->may_end && !s->ops->may_end(s->unpack))
        rc = fail(s, "ends in the middle of what is compressed", err);
    return rc;
}

int slurp(const char *path, struct buf *out, char hash[static SHA256_TEXT],
          struct err *err)
{
    struct slurper s = {.path = path, .out = out};
    int rc;

    /* Of a pipe that nobody writes to, nothing is waited for. */
    s.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (s.fd < 0)
        return fail(&s, strerror(errno), err);
    s.in = xcalloc(1, CHUNK);
    sha256_begin(&s.hash);
    rc = read_all(&s, err);
    sha256_end(&s.hash, hash);
    if (s.unpack && s.ops->fini)
        s.ops->fini(s.unpack);
    free(s.unpack);
    free(s.in);
    close(s.fd);
    return rc;
}
