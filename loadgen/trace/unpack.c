#include "loadgen/trace/unpack.h"

#include <string.h>

static const struct unpack_ops *const all[] = {&unpack_gz, &unpack_zst};

const struct unpack_ops *unpack_for(const char *start, size_t len)
{
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (len >= all[i]->magic_len &&
            memcmp(start, all[i]->magic, all[i]->magic_len) == 0)
            return all[i];
    }
    return &unpack_plain;
}

/* ---- a file that is not compressed ---- */

static int plain_step(void *self, struct unpack_io *io)
{
    size_t n = io->in_len < io->out_len ? io->in_len : io->out_len;

    (void)self;
    memcpy(io->out, io->in, n);
    io->in += n;
    io->in_len -= n;
    io->out += n;
    io->out_len -= n;
    return 0;
}

const struct unpack_ops unpack_plain = {
    .name = "plain",
    .step = plain_step,
};
