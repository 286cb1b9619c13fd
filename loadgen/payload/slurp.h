/* slurp.h - a whole file in memory, unpacked, and the hash of what is on disk.
 */
#ifndef LOADGEN_PAYLOAD_SLURP_H
#define LOADGEN_PAYLOAD_SLURP_H

#include "common/base/buf.h"
#include "common/base/hash.h"

struct err;

/* Append the file to `out`, whose maximum bounds it; gz and zst are known by
 * their first bytes.  The hash is of the file as it lies there, as sha256sum
 * has it.  ERR_CONFIG with the path. */
int slurp(const char *path, struct buf *out, char hash[static SHA256_TEXT],
          struct err *err);

#endif
