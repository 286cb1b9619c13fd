/* unpack.h - the bytes of a file as they were before somebody compressed it.
 *
 * Which way it was compressed is told by its first bytes, not by its name.
 */
#ifndef LOADGEN_TRACE_UNPACK_H
#define LOADGEN_TRACE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes to take, and room to put some. */
struct unpack_io {
    const char *in;
    size_t in_len;
    char *out;
    size_t out_len;
};

/* The caller allocates state_size zeroed bytes and hands them to every call as
 * `self`. */
struct unpack_ops {
    const char *name;
    size_t state_size;

    const char *magic; /* what a file of this kind begins with; NULL: plain
                          text has nothing to tell it by */
    size_t magic_len;

    /* Get ready; out of memory aborts.  Optional. */
    void (*init)(void *self);

    /* Take from `in`, put to `out`, and move both on; at least one of them
     * moves.  -1 if that is no data of this kind.  Required. */
    int (*step)(void *self, struct unpack_io *io);

    /* May the file end here?  Optional: it may anywhere. */
    bool (*may_end)(const void *self);

    /* Optional. */
    void (*fini)(void *self);
};

extern const struct unpack_ops unpack_plain;
extern const struct unpack_ops unpack_gz;
extern const struct unpack_ops unpack_zst;

/* The kind of a file that begins so. */
const struct unpack_ops *unpack_for(const char *start, size_t len);

#endif
