/* unpack.h - reads a file and decompresses it.
 *
 * gzip and Zstandard are recognised by the first bytes of the file, not by its
 * name; anything else is read as it is.
 */
#ifndef LOADGEN_TRACE_UNPACK_H
#define LOADGEN_TRACE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "common/base/buf.h"
#include "common/base/hash.h"

struct err;
struct unpack_ops;

/* A file being read.  All zero is valid for unpacker_fini(). */
struct unpacker {
    int fd;
    bool is_open;
    bool has_ended; /* the file has no more bytes */
    char *in;       /* bytes as they are in the file */
    size_t in_at;
    size_t in_end;
    const struct unpack_ops *ops; /* NULL until the first read */
    void *state;
    bool may_end;        /* the file may end here */
    struct sha256 *hash; /* adds up the bytes of the file; borrowed; NULL: not
                            wanted */
};

/* Open a regular file; pipes are refused without waiting for a writer.
 * ERR_CONFIG with the path.  unpacker_fini() may follow either way. */
int unpacker_open(struct unpacker *u, const char *path, struct err *err);
void unpacker_fini(struct unpacker *u);

/* Put up to `len` decompressed bytes into `out`.  Returns how many; 0 at the
 * end of the file; -1 with *why if the file cannot be read or decompressed. */
ssize_t unpacker_read(struct unpacker *u, char *out, size_t len,
                      const char **why);

/* Append the whole file, decompressed, to `out`, whose maximum limits it.
 * `hash` is that of the file on disk, as sha256sum prints it.  ERR_CONFIG with
 * the path. */
int slurp(const char *path, struct buf *out, char hash[static SHA256_TEXT],
          struct err *err);

#endif
