#include "common/base/base64.h"

#include <stdint.h>
#include <string.h>

#include "common/base/buf.h"

/* Its six bits; -1: it has none. */
static int value_of(char c)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c == '-'   ? &letters[62]
                     : c == '_' ? &letters[63]
                     : c        ? strchr(letters, c)
                                : NULL;

    return at ? (int)(at - letters) : -1;
}

/* Of n letters, 2 to 4, the bytes that they come to. */
static int put_group(uint32_t bits, size_t n, struct buf *out)
{
    unsigned char bytes[3];

    bits <<= 6 * (4 - n);
    bytes[0] = (unsigned char)(bits >> 16);
    bytes[1] = (unsigned char)(bits >> 8);
    bytes[2] = (unsigned char)bits;
    return buf_add(out, bytes, n - 1);
}

int base64_decode(const char *text, size_t len, struct buf *out)
{
    uint32_t bits = 0;
    size_t n = 0;

    for (size_t i = 0; i < 2 && len > 0 && text[len - 1] == '='; i++)
        len--;
    for (size_t i = 0; i < len; i++) {
        int value = value_of(text[i]);

        if (value < 0)
            return -1;
        bits = bits << 6 | (uint32_t)value;
        if (++n < 4)
            continue;
        if (put_group(bits, n, out))
            return -1;
        n = 0;
        bits = 0;
    }
    if (n == 1)
        return -1;
    return n > 0 ? put_group(bits, n, out) : 0;
}
