/* tgr_impl.h - the format of a .tgr file; only for tgr_write.c and tgr_read.c.
 */
#ifndef COMMON_RECORDING_TGR_IMPL_H
#define COMMON_RECORDING_TGR_IMPL_H

#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "common/base/clk.h"
#include "common/recording/tgr.h"

#define FILE_MAGIC   "TGRECORD"
#define FILE_VERSION 1
#define FILE_HEADER  16 /* magic, version, 4 bytes of 0 */

/* magic, kind, shard, rows, length, CRC-32 of the 16 bytes before it and of
 * the payload. */
#define FRAME_MAGIC  0x4b4c4254U /* "TBLK" */
#define FRAME_HEADER 20
#define FRAME_SCHEMA 1
#define FRAME_ROWS   2

#define MAX_PAYLOAD ((size_t)TGR_MAX_ROWS * TGR_MAX_COLUMNS * 10 + 65536)

/* How a column is written in one block. */
#define ENCODING_SAME   0 /* one code for every row */
#define ENCODING_VARINT 1 /* a code per row */
#define ENCODING_RUNS   2 /* pairs of a code and a number of rows */

static inline void put_u16(char *p, unsigned v)
{
    p[0] = (char)v;
    p[1] = (char)(v >> 8);
}

static inline void put_u32(char *p, uint32_t v)
{
    put_u16(p, v & 0xffff);
    put_u16(p + 2, v >> 16);
}

static inline uint32_t get_u16(const char *p)
{
    return (uint32_t)(unsigned char)p[0] | (uint32_t)(unsigned char)p[1] << 8;
}

static inline uint32_t get_u32(const char *p)
{
    return get_u16(p) | get_u16(p + 2) << 16;
}

static inline uint32_t frame_crc(const char *header, const char *payload,
                                 size_t len)
{
    uLong crc = crc32(0, (const Bytef *)header, FRAME_HEADER - 4);

    return (uint32_t)crc32(crc, (const Bytef *)payload, (uInt)len);
}

/* The code of a value: 0 if absent, else 1 + the zigzag of its distance from
 * the expected value.  Small distances have small codes. */
static inline uint64_t code_of(int64_t value, int64_t expected)
{
    uint64_t d = (uint64_t)value - (uint64_t)expected;

    if (value == TIME_ABSENT)
        return 0;
    return ((d << 1) ^ (d >> 63 ? UINT64_MAX : 0)) + 1;
}

static inline int64_t value_of(uint64_t code, int64_t expected)
{
    uint64_t z = code - 1;
    uint64_t d = (z >> 1) ^ (z & 1 ? UINT64_MAX : 0);

    return code == 0 ? TIME_ABSENT : (int64_t)(d + (uint64_t)expected);
}

static inline int64_t field_at(const void *row, size_t offset)
{
    int64_t v;

    memcpy(&v, (const char *)row + offset, sizeof(v));
    return v;
}

#endif
