/* Zstandard; one frame after the other.  A frame that asks for more than
 * libzstd's default of 128 MiB for its window is refused. */
#include "loadgen/trace/unpack.h"

#include <stdlib.h>
#include <zstd.h>

struct zst {
    ZSTD_DStream *stream;
    bool is_at_end; /* of a frame */
};

static void zst_init(void *self)
{
    struct zst *z = self;

    z->stream = ZSTD_createDStream();
    if (!z->stream)
        abort(); /* no memory */
}

static int zst_step(void *self, struct unpack_io *io)
{
    struct zst *z = self;
    ZSTD_inBuffer in = {io->in, io->in_len, 0};
    ZSTD_outBuffer out = {io->out, io->out_len, 0};
    size_t rc = ZSTD_decompressStream(z->stream, &out, &in);

    if (ZSTD_isError(rc))
        return -1;
    /* Asked for more after a frame's end it says what the next one needs. */
    if (in.pos > 0 || out.pos > 0)
        z->is_at_end = rc == 0;
    io->in += in.pos;
    io->in_len -= in.pos;
    io->out += out.pos;
    io->out_len -= out.pos;
    return 0;
}

static bool zst_may_end(const void *self)
{
    return ((const struct zst *)self)->is_at_end;
}

static void zst_fini(void *self)
{
    ZSTD_freeDStream(((struct zst *)self)->stream);
}

const struct unpack_ops unpack_zst = {
    .name = "zst",
    .state_size = sizeof(struct zst),
    .magic = "\x28\xb5\x2f\xfd",
    .magic_len = 4,
    .init = zst_init,
    .step = zst_step,
    .may_end = zst_may_end,
    .fini = zst_fini,
};
