#include "common/base/printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/base/buf.h"

/* The character at p and how many bytes it has; 0 if it is not UTF-8, which
 * overlong forms and surrogates are not either. */
static size_t decode(const char *p, const char *end, uint32_t *c)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char lead = (unsigned char)*p;
    size_t len = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;

    *c = lead;
    if (len == 1)
        return 1;
    if (lead < 0xc2 || lead > 0xf4 || len > (size_t)(end - p))
        return 0;
    *c = lead & (0xffU >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        *c = *c << 6 | ((unsigned char)p[i] & 0x3fU);
    }
    return *c < smallest[len] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000)
               ? 0
               : len;
}

/* Does a terminal obey it, or put what follows elsewhere? */
static bool is_obeyed(uint32_t c)
{
    return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e ||
           c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

size_t printable_len(const char *p, const char *end)
{
    uint32_t c;
    size_t len = decode(p, end, &c);

    return len > 0 && !is_obeyed(c) ? len : 0;
}

void printable(char *text, size_t len, const char *kept)
{
    char *end = text + len;

    while (text < end) {
        size_t n = printable_len(text, end);
        uint32_t c;

        if (n == 0 && *text && strchr(kept, *text))
            n = 1;
        if (n == 0) {
            n = decode(text, end, &c);
            n = n > 0 ? n : 1;
            memset(text, '?', n);
        }
        text += n;
    }
}

void printable_add(const char *text, struct buf *out)
{
    size_t len = strlen(text);
    size_t at = out->len;

    if (buf_add(out, text, len) == 0)
        printable(out->data + at, len, "");
}

void printable_add_json(const char *json, size_t len, struct buf *out)
{
    const char *end = json + len;
    const char *from = json;

    for (const char *p = json; p < end;) {
        uint32_t c = 0;
        size_t n = decode(p, end, &c);

        if (n == 0 || c == '\n' || !is_obeyed(c)) {
            p += n > 0 ? n : 1; /* jansson writes UTF-8 and no other control */
            continue;
        }
        buf_add(out, from, (size_t)(p - from));
        buf_addf(out, "\\u%04x", (unsigned)c);
        p += n;
        from = p;
    }
    buf_add(out, from, (size_t)(end - from));
}
