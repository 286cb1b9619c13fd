#include "study/launch/rank_rows.h"

#include <string.h>

#include "common/measure/measure.h"

#define FIELDS (sizeof(struct facts) / sizeof(int64_t)) /* all are */

#define MAX_VALUE 10 /* bytes */

_Static_assert(FIELDS *MAX_VALUE <= RANK_ROW_MAX, "a row may not fit");

/* Seven bits a byte, the lowest first; small values of both signs are short. */
static size_t put(uint64_t difference, uint8_t *out)
{
    uint64_t v = (difference << 1) ^ (0 - (difference >> 63));
    size_t n = 0;

    for (; v >= 0x80; v >>= 7)
        out[n++] = (uint8_t)(v | 0x80);
    out[n++] = (uint8_t)v;
    return n;
}

/* 0: it does not end. */
static size_t get(const uint8_t *in, size_t len, uint64_t *difference)
{
    uint64_t v = 0;

    for (size_t n = 0; n < len && n < MAX_VALUE; n++) {
        v |= (uint64_t)(in[n] & 0x7f) << (7 * n);
        if (in[n] & 0x80)
            continue;
        *difference = (v >> 1) ^ (0 - (v & 1));
        return n + 1;
    }
    return 0;
}

size_t rank_rows_pack(const struct facts *rows, size_t n, uint8_t *out,
                      size_t size, size_t *len)
{
    uint64_t before[FIELDS] = {0};
    uint64_t now[FIELDS];
    size_t i;

    *len = 0;
    for (i = 0; i < n && size - *len >= RANK_ROW_MAX; i++) {
        memcpy(now, &rows[i], sizeof(now));
        for (size_t f = 0; f < FIELDS; f++)
            *len += put(now[f] - before[f], out + *len);
        memcpy(before, now, sizeof(now));
    }
    return i;
}

int64_t rank_rows_unpack(const uint8_t *bytes, size_t len, struct facts *rows,
                         size_t max)
{
    uint64_t now[FIELDS] = {0};
    size_t at = 0;
    size_t n = 0;

    for (; at < len; n++) {
        if (n == max)
            return -1;
        for (size_t f = 0; f < FIELDS; f++) {
            uint64_t difference;
            size_t took = get(bytes + at, len - at, &difference);

            if (took == 0)
                return -1;
            now[f] += difference;
            at += took;
        }
        memcpy(&rows[n], now, sizeof(now));
    }
    return (int64_t)n;
}
