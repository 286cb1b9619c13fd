/* fnv.h - FNV-1a: a hash that tells apart what differs by accident, not by
 * intent.  Pure. */
#ifndef COMMON_BASE_FNV_H
#define COMMON_BASE_FNV_H

#include <stddef.h>
#include <stdint.h>

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
