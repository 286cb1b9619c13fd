#include "common/base/json_text.h"

#include <stdint.h>

#include "common/base/buf.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hexadecimal digits; -1 if that is not what they are. */
static int hex4(const char *p, const char *end)
{
    int value = 0;

    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);

        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

size_t jtext_escape_len(const char *p, const char *end)
{
    if (end - p < 2)
        return 0;
    switch (p[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return 2;
    case 'u':
        return hex4(p + 2, end) >= 0 ? 6 : 0;
    default:
        return 0;
    }
}

static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* The code point of \uXXXX at *p, with its other half if it is a pair. */
static uint32_t decode_unicode(const char **p, const char *end)
{
    int high = hex4(*p + 2, end);
    int low = -1;

    *p += 6;
    if (high < 0xd800 || high > 0xdfff)
        return (uint32_t)high;
    if (high < 0xdc00 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u')
        low = hex4(*p + 2, end);
    if (low < 0xdc00 || low > 0xdfff)
        return 0xfffd;
    *p += 6;
    return 0x10000 + ((uint32_t)(high - 0xd800) << 10) +
           (uint32_t)(low - 0xdc00);
}

/* Pass the escape at *p and put what it means, 4 bytes at most. */
static size_t decode_escape(const char **p, const char *end, char *out)
{
    static const char letters[] = "bfnrt";
    static const char meanings[] = "\b\f\n\r\t";
    char c = (*p)[1];
    const char *letter;

    if (c == 'u')
        return put_utf8(out, decode_unicode(p, end));
    letter = memchr(letters, c, sizeof(letters) - 1);
    *out = c;
    if (letter)
        *out = meanings[letter - letters];
    *p += 2;
    return 1;
}

int jtext_decode(struct jtext text, struct buf *out)
{
    const char *p = text.at;
    const char *end = text.at + text.len;

    if (!text.has_escapes)
        return buf_add(out, text.at, text.len);
    while (p < end) {
        char bytes[4];
        const char *stop = memchr(p, '\\', (size_t)(end - p));

        if (!stop)
            stop = end;
        if (buf_add(out, p, (size_t)(stop - p)))
            return -1;
        p = stop;
        if (p < end && buf_add(out, bytes, decode_escape(&p, end, bytes)))
            return -1;
    }
    return 0;
}

bool jtext_is_escaped(struct jtext text, const char *s)
{
    const char *p = text.at;
    const char *end = text.at + text.len;
    const char *rest = s + strlen(s);

    while (p < end) {
        char bytes[4] = {*p};
        size_t len = 1;

        if (*p == '\\')
            len = decode_escape(&p, end, bytes);
        else
            p++;
        if ((size_t)(rest - s) < len || memcmp(s, bytes, len) != 0)
            return false;
        s += len;
    }
    return s == rest;
}

/* ---- the other way ---- */

static bool is_plain(char c)
{
    return (unsigned char)c >= ' ' && c != '"' && c != '\\';
}

static int put_escape(char c, struct buf *out)
{
    static const char named[] = "\"\\\n\t\r";
    static const char letters[] = "\"\\ntr";
    const char *found = c ? strchr(named, c) : NULL;

    if (found)
        return buf_addf(out, "\\%c", letters[found - named]);
    return buf_addf(out, "\\u%04x", (unsigned)(unsigned char)c);
}

int jtext_encode(const char *text, size_t len, struct buf *out)
{
    size_t from = 0;

    for (size_t i = 0; i < len; i++) {
        if (is_plain(text[i]))
            continue;
        if (buf_add(out, text + from, i - from) || put_escape(text[i], out))
            return -1;
        from = i + 1;
    }
    return buf_add(out, text + from, len - from);
}
