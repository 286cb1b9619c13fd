/* hash.h - hashes: SHA-256 as sha256sum prints it, and FNV-1a. */
#ifndef COMMON_BASE_HASH_H
#define COMMON_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* Size of a SHA-256 in hexadecimal, including the NUL. */
#define SHA256_TEXT 65

/* Incremental use: begin, add any number of pieces, end. */
struct sha256 {
    void *state; /* owned, from begin to end */
};

void sha256_begin(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *data, size_t len);
void sha256_end(struct sha256 *h, char out[static SHA256_TEXT]);

void sha256_bytes(const void *data, size_t len, char out[static SHA256_TEXT]);

/* ERR_IO. */
int sha256_file(const char *path, char out[static SHA256_TEXT],
                struct err *err);

/* FNV-1a, for hash tables and change detection; it does not resist an attacker.
 * Start with FNV_START. */
#define FNV_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t fnv_byte(uint64_t hash, uint8_t byte)
{
    return (hash ^ byte) * UINT64_C(0x100000001b3);
}

static inline uint64_t fnv_bytes(uint64_t hash, const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        hash = fnv_byte(hash, (uint8_t)data[i]);
    return hash;
}

#endif
