#include "loadgen/trace/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define ZLIB_CONST /* zlib does not write to its input */
#include <zlib.h>
#include <zstd.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"

/* Small enough that a worker is not delayed while it decompresses one. */
#define CHUNK ((size_t)64 << 10)

/* Bytes to take from, and room to write to. */
struct unpack_io {
    const char *in;
    size_t in_len;
    char *out;
    size_t out_len;
    bool may_end; /* the file may end here; kept from step to step */
};

/* One compression.  The caller allocates state_size zeroed bytes and passes
 * them to every call as `self`. */
struct unpack_ops {
    size_t state_size;
    const char *magic; /* the first bytes of such a file */
    size_t magic_len;
    unsigned char mask; /* the bits of the first one that matter */

    /* Out of memory aborts.  Optional. */
    void (*init)(void *self);

    /* Take from `in`, write to `out`, and advance both, at least one of them.
     * -1 if the data is damaged.  Required. */
    int (*step)(void *self, struct unpack_io *io);

    /* Optional. */
    void (*fini)(void *self);
};

/* ---- no compression ---- */

static int plain_step(void *self, struct unpack_io *io)
{
    size_t n = io->in_len < io->out_len ? io->in_len : io->out_len;

    (void)self;
    memcpy(io->out, io->in, n);
    io->in += n;
    io->in_len -= n;
    io->out += n;
    io->out_len -= n;
    io->may_end = true;
    return 0;
}

/* ---- gzip; several members may follow each other, as after
 * `cat a.gz b.gz` ---- */

/* The largest window, with gzip's header. */
#define GZIP_WINDOW (MAX_WBITS + 16)

static void gz_init(void *self)
{
    if (inflateInit2((z_stream *)self, GZIP_WINDOW) != Z_OK)
        abort(); /* out of memory */
}

/* A file may end after a member. */
static int gz_step(void *self, struct unpack_io *io)
{
    z_stream *z = self;
    int rc;

    if (io->may_end && io->in_len > 0)
        inflateReset(z);
    z->next_in = (const Bytef *)io->in;
    z->avail_in = (uInt)io->in_len;
    z->next_out = (Bytef *)io->out;
    z->avail_out = (uInt)io->out_len;
    rc = inflate(z, Z_NO_FLUSH);
    if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
        return -1;
    io->may_end = rc == Z_STREAM_END;
    io->in = (const char *)z->next_in;
    io->in_len = z->avail_in;
    io->out = (char *)z->next_out;
    io->out_len = z->avail_out;
    return 0;
}

static void gz_fini(void *self)
{
    inflateEnd(self);
}

/* ---- Zstandard; several frames may follow each other.  A frame that needs a
 * window above libzstd's default of 128 MiB is refused ---- */

static void zst_init(void *self)
{
    ZSTD_DStream **stream = self;

    *stream = ZSTD_createDStream();
    if (!*stream)
        abort(); /* out of memory */
}

/* A file may end after a frame. */
static int zst_step(void *self, struct unpack_io *io)
{
    ZSTD_DStream **stream = self;
    ZSTD_inBuffer in = {io->in, io->in_len, 0};
    ZSTD_outBuffer out = {io->out, io->out_len, 0};
    size_t rc = ZSTD_decompressStream(*stream, &out, &in);

    if (ZSTD_isError(rc))
        return -1;
    /* A call after the end of a frame returns what the next frame needs. */
    if (in.pos > 0 || out.pos > 0)
        io->may_end = rc == 0;
    io->in += in.pos;
    io->in_len -= in.pos;
    io->out += out.pos;
    io->out_len -= out.pos;
    return 0;
}

static void zst_fini(void *self)
{
    ZSTD_DStream **stream = self;

    ZSTD_freeDStream(*stream);
}

/* A file of pzstd begins with a skippable frame.  The last one fits every file.
 */
static const struct unpack_ops compressions[] = {
    {sizeof(z_stream), "\x1f\x8b", 2, 0xff, gz_init, gz_step, gz_fini},
    {sizeof(ZSTD_DStream *), "\x28\xb5\x2f\xfd", 4, 0xff, zst_init, zst_step,
     zst_fini},
    {sizeof(ZSTD_DStream *), "\x50\x2a\x4d\x18", 4, 0xf0, zst_init, zst_step,
     zst_fini},
    {.state_size = 1, .magic = "", .step = plain_step},
};

static bool has_magic(const struct unpack_ops *ops, const char *in, size_t n)
{
    size_t len = ops->magic_len;

    return n >= len &&
           (len == 0 || ((in[0] & ops->mask) == ops->magic[0] &&
                         memcmp(in + 1, ops->magic + 1, len - 1) == 0));
}

/* ---- the reader ---- */

int unpacker_open(struct unpacker *u, const char *path, struct err *err)
{
    struct stat st;

    *u = (struct unpacker){0};
    u->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (u->fd < 0) {
        err_set(err, ERR_CONFIG, "%s: %s", path, strerror(errno));
        return -1;
    }
    u->is_open = true;
    if (fstat(u->fd, &st) || !S_ISREG(st.st_mode)) {
        err_set(err, ERR_CONFIG, "%s: is not a regular file", path);
        return -1;
    }
    posix_fadvise(u->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    u->in = xcalloc(1, CHUNK);
    return 0;
}

void unpacker_fini(struct unpacker *u)
{
    if (u->state && u->ops->fini)
        u->ops->fini(u->state);
    free(u->state);
    free(u->in);
    if (u->is_open)
        close(u->fd);
    *u = (struct unpacker){0};
}

static int fill(struct unpacker *u)
{
    ssize_t n;

    do
        n = read(u->fd, u->in, CHUNK);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -1;
    if (u->hash)
        sha256_add(u->hash, u->in, (size_t)n);
    u->in_at = 0;
    u->in_end = (size_t)n;
    u->has_ended = n == 0;
    if (u->ops)
        return 0;
    u->ops = compressions;
    while (!has_magic(u->ops, u->in, (size_t)n))
        u->ops++;
    u->state = xcalloc(1, u->ops->state_size);
    if (u->ops->init)
        u->ops->init(u->state);
    return 0;
}

ssize_t unpacker_read(struct unpacker *u, char *out, size_t len,
                      const char **why)
{
    for (;;) {
        struct unpack_io io = {
            .out = out, .out_len = len, .may_end = u->may_end};

        if (u->in_at == u->in_end && !u->has_ended && fill(u)) {
            *why = strerror(errno);
            return -1;
        }
        io.in = u->in + u->in_at;
        io.in_len = u->in_end - u->in_at;
        if (u->ops->step(u->state, &io)) {
            *why = "the compressed data is damaged";
            return -1;
        }
        u->in_at = u->in_end - io.in_len;
        u->may_end = io.may_end;
        if (io.out_len < len)
            return (ssize_t)(len - io.out_len);
        if (u->has_ended && u->in_at == u->in_end)
            break;
    }
    if (!u->may_end) {
        *why = "the file ends in the middle of the compressed data";
        return -1;
    }
    return 0;
}

int slurp(const char *path, struct buf *out, char hash[static SHA256_TEXT],
          struct err *err)
{
    struct sha256 sum;
    struct unpacker u;
    const char *why;
    ssize_t n = unpacker_open(&u, path, err);

    sha256_begin(&sum);
    u.hash = &sum;
    while (n >= 0) {
        char *room = buf_reserve(out, CHUNK);

        if (!room) {
            n = err_set(err, ERR_CONFIG,
                        "%s: larger than %zu MB when decompressed; a data set "
                        "must fit into memory",
                        path, out->max >> 20);
            break;
        }
        n = unpacker_read(&u, room, CHUNK, &why);
        if (n < 0)
            err_set(err, ERR_CONFIG, "%s: %s", path, why);
        if (n <= 0)
            break;
        buf_commit(out, (size_t)n);
    }
    sha256_end(&sum, hash);
    unpacker_fini(&u);
    return n < 0 ? -1 : 0;
}
