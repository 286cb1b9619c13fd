/* gzip, by zlib; one member after the other, as `cat a.gz b.gz` makes them. */
#include "loadgen/trace/unpack.h"

#include <stdlib.h>
#define ZLIB_CONST /* input is not written to */
#include <zlib.h>

/* The largest window, and gzip's header around it. */
#define GZIP_WINDOW (MAX_WBITS + 16)

struct gz {
    z_stream z;
    bool is_at_end; /* of a member */
};

static void gz_init(void *self)
{
    struct gz *g = self;

    if (inflateInit2(&g->z, GZIP_WINDOW) != Z_OK)
        abort(); /* no memory */
}

static int gz_step(void *self, struct unpack_io *io)
{
    struct gz *g = self;
    int rc;

    if (g->is_at_end && io->in_len > 0) {
        inflateReset(&g->z);
        g->is_at_end = false;
    }
    g->z.next_in = (const Bytef *)io->in;
    g->z.avail_in = (uInt)io->in_len;
    g->z.next_out = (Bytef *)io->out;
    g->z.avail_out = (uInt)io->out_len;
    rc = inflate(&g->z, Z_NO_FLUSH);
    if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
        return -1;
    g->is_at_end = rc == Z_STREAM_END;
    io->in = (const char *)g->z.next_in;
    io->in_len = g->z.avail_in;
    io->out = (char *)g->z.next_out;
    io->out_len = g->z.avail_out;
    return 0;
}

static bool gz_may_end(const void *self)
{
    return ((const struct gz *)self)->is_at_end;
}

static void gz_fini(void *self)
{
    inflateEnd(&((struct gz *)self)->z);
}

const struct unpack_ops unpack_gz = {
    .name = "gz",
    .state_size = sizeof(struct gz),
    .magic = "\x1f\x8b",
    .magic_len = 2,
    .init = gz_init,
    .step = gz_step,
    .may_end = gz_may_end,
    .fini = gz_fini,
};
