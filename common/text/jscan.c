/* A failure moves to the end of the text, where nothing more is found, so that
 * the functions need not test for an earlier failure. */
#include "common/text/jscan.h"

#include <assert.h>
#include <endian.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/str.h"

void jscan_init(struct jscan *s, const char *text, size_t len)
{
    *s = (struct jscan){.at = text, .end = text + len};
}

static bool fail(struct jscan *s)
{
    s->has_failed = true;
    s->at = s->end;
    return false;
}

/* Skip white space and return the next byte, not taking it; 0 at the end. */
static inline char next(struct jscan *s)
{
    for (; s->at < s->end; s->at++) {
        char c = *s->at;

        if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
            return c;
    }
    return '\0';
}

/* ---- strings ---- */

/* Sixteen bytes at once, by the compiler's vector extension.  Bytes above 0x7f
 * are negative here, and so below 0x20 like control characters. */
typedef signed char lanes __attribute__((vector_size(16)));

/* Skip plain bytes.  Returns the first that is a control character, a quote, a
 * backslash or part of a longer character, or `end`. */
static inline const char *pass_plain(const char *p, const char *end)
{
    for (; end - p >= 16; p += 16) {
        lanes bytes;
        lanes special;
        uint64_t found[2];

        memcpy(&bytes, p, sizeof(bytes));
        special = (bytes < 0x20) | (bytes == '"') | (bytes == '\\');
        memcpy(found, &special, sizeof(found));
        if (found[0])
            return p + __builtin_ctzll(le64toh(found[0])) / 8;
        if (found[1])
            return p + 8 + __builtin_ctzll(le64toh(found[1])) / 8;
    }
    while (p < end && (signed char)*p >= 0x20 && *p != '"' && *p != '\\')
        p++;
    return p;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The value of four hexadecimal digits, or -1. */
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

/* Length of the escape at p, a backslash; 0 if it is malformed. */
static size_t escape_len(const char *p, const char *end)
{
    if (end - p < 2)
        return 0;
    if (p[1] == 'u')
        return hex4(p + 2, end) >= 0 ? 6 : 0;
    return p[1] && strchr("\"\\/bfnrt", p[1]) ? 2 : 0;
}

/* Take a string, which starts at the opening quote. */
static bool take_string(struct jscan *s, struct jtext *out)
{
    const char *start = s->at + 1;
    const char *p = pass_plain(start, s->end);
    bool has_escapes = false;

    while (p < s->end && *p != '"') {
        size_t len = *p == '\\' ? escape_len(p, s->end) : utf8_len(p, s->end);

        if (len == 0)
            return fail(s);
        has_escapes |= *p == '\\';
        p = pass_plain(p + len, s->end);
    }
    if (p == s->end)
        return fail(s);
    s->at = p + 1;
    *out = (struct jtext){start, (size_t)(p - start), has_escapes};
    return true;
}

/* ---- numbers ---- */

struct number {
    const char *at;
    size_t len;
    bool is_real; /* with fraction or exponent */
};

static const char *pass_digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

/* The end of the number at p, or NULL. */
static const char *pass_number(const char *p, const char *end, bool *is_real)
{
    const char *digits = p + (p < end && *p == '-');

    p = pass_digits(digits, end);
    if (p == digits || (*digits == '0' && p > digits + 1))
        return NULL;
    *is_real = false;
    if (p < end && *p == '.') {
        *is_real = true;
        digits = p + 1;
        p = pass_digits(digits, end);
        if (p == digits)
            return NULL;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        *is_real = true;
        p++;
        digits = p + (p < end && (*p == '+' || *p == '-'));
        p = pass_digits(digits, end);
        if (p == digits)
            return NULL;
    }
    return p;
}

static bool take_number(struct jscan *s, struct number *out)
{
    const char *p = pass_number(s->at, s->end, &out->is_real);

    if (!p)
        return fail(s);
    out->at = s->at;
    out->len = (size_t)(p - s->at);
    s->at = p;
    return true;
}

/* ---- values ---- */

static const unsigned char types[256] = {
    ['{'] = JSCAN_OBJECT, ['['] = JSCAN_ARRAY,  ['"'] = JSCAN_STRING,
    ['t'] = JSCAN_BOOL,   ['f'] = JSCAN_BOOL,   ['n'] = JSCAN_NULL,
    ['-'] = JSCAN_NUMBER, ['0'] = JSCAN_NUMBER, ['1'] = JSCAN_NUMBER,
    ['2'] = JSCAN_NUMBER, ['3'] = JSCAN_NUMBER, ['4'] = JSCAN_NUMBER,
    ['5'] = JSCAN_NUMBER, ['6'] = JSCAN_NUMBER, ['7'] = JSCAN_NUMBER,
    ['8'] = JSCAN_NUMBER, ['9'] = JSCAN_NUMBER,
};

enum jscan_type jscan_peek(struct jscan *s)
{
    return (enum jscan_type)types[(unsigned char)next(s)];
}

static bool take_word(struct jscan *s, const char *word, size_t len)
{
    if ((size_t)(s->end - s->at) < len || memcmp(s->at, word, len) != 0)
        return fail(s);
    s->at += len;
    return true;
}

static bool take_bool(struct jscan *s, bool *out)
{
    bool is_true = *s->at == 't';

    if (!(is_true ? take_word(s, "true", 4) : take_word(s, "false", 5)))
        return false;
    *out = is_true;
    return true;
}

bool jscan_skip(struct jscan *s)
{
    struct jtext text;
    struct number number;
    bool is_true;

    switch (jscan_peek(s)) {
    case JSCAN_OBJECT:
        jscan_object(s);
        while (jscan_key(s, &text))
            jscan_skip(s);
        return !s->has_failed;
    case JSCAN_ARRAY:
        jscan_array(s);
        while (jscan_item(s))
            jscan_skip(s);
        return !s->has_failed;
    case JSCAN_STRING:
        return take_string(s, &text);
    case JSCAN_NUMBER:
        return take_number(s, &number);
    case JSCAN_BOOL:
        return take_bool(s, &is_true);
    case JSCAN_NULL:
        return take_word(s, "null", 4);
    default:
        return fail(s);
    }
}

/* Is the next value of this type?  If not, it is skipped. */
static bool wants(struct jscan *s, enum jscan_type type)
{
    if (jscan_peek(s) == type)
        return true;
    jscan_skip(s);
    return false;
}

bool jscan_string(struct jscan *s, struct jtext *out)
{
    return wants(s, JSCAN_STRING) && take_string(s, out);
}

bool jscan_bool(struct jscan *s, bool *out)
{
    return wants(s, JSCAN_BOOL) && take_bool(s, out);
}

bool jscan_int(struct jscan *s, int64_t *out)
{
    struct number n;
    int64_t value = 0; /* negative, which has the larger range */
    bool is_negative;

    if (!wants(s, JSCAN_NUMBER) || !take_number(s, &n) || n.is_real)
        return false;
    is_negative = *n.at == '-';
    for (size_t i = is_negative; i < n.len; i++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, n.at[i] - '0', &value))
            return false;
    }
    if (!is_negative && value == INT64_MIN)
        return false;
    *out = is_negative ? value : -value;
    return true;
}

bool jscan_number(struct jscan *s, double *out)
{
    char text[JSCAN_MAX_NUMBER];
    struct number n;
    double value;

    if (!wants(s, JSCAN_NUMBER) || !take_number(s, &n) || n.len >= sizeof(text))
        return false;
    memcpy(text, n.at, n.len);
    text[n.len] = '\0';
    value = strtod(text, NULL);
    if (!isfinite(value))
        return false;
    *out = value;
    return true;
}

/* ---- objects and arrays ---- */

static bool enter(struct jscan *s, enum jscan_type type)
{
    if (!wants(s, type))
        return false;
    if (s->depth == JSCAN_MAX_DEPTH)
        return fail(s);
    s->depth++;
    s->at++;
    s->is_fresh = true;
    return true;
}

bool jscan_object(struct jscan *s)
{
    return enter(s, JSCAN_OBJECT);
}

bool jscan_array(struct jscan *s)
{
    return enter(s, JSCAN_ARRAY);
}

/* Take the comma before the next member or item, or the closing bracket. */
static bool has_more(struct jscan *s, char close)
{
    char c = next(s);
    bool is_fresh = s->is_fresh;

    s->is_fresh = false;
    if (c == close) {
        assert(s->depth > 0);
        s->depth--;
        s->at++;
        return false;
    }
    if (is_fresh)
        return true;
    if (c != ',')
        return fail(s);
    s->at++;
    return true;
}

bool jscan_key(struct jscan *s, struct jtext *key)
{
    if (!has_more(s, '}'))
        return false;
    if (next(s) != '"')
        return fail(s);
    if (!take_string(s, key))
        return false;
    if (next(s) != ':')
        return fail(s);
    s->at++;
    return true;
}

bool jscan_item(struct jscan *s)
{
    return has_more(s, ']');
}

bool jscan_end(struct jscan *s)
{
    next(s);
    if (s->at < s->end || s->depth > 0)
        return fail(s);
    return !s->has_failed;
}

static size_t put_utf8(char *out, uint32_t c)
{
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    for (size_t i = len - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (c & 0x3f));
        c >>= 6;
    }
    out[0] = (char)(leads[len] | c);
    return len;
}

/* Take \uXXXX at *p, and the other half of a surrogate pair. */
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

/* Take the escape at *p and write what it stands for, at most 4 bytes. */
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

/* ---- writing strings ---- */

int jtext_encode(const char *text, size_t len, struct buf *out)
{
    static const char named[] = "\"\\\n\t\r";
    static const char letters[] = "\"\\ntr";
    char escape[2] = {'\\'};
    size_t from = 0;

    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        const char *found;

        if ((unsigned char)c >= ' ' && c != '"' && c != '\\')
            continue;
        found = c ? strchr(named, c) : NULL;
        if (found)
            escape[1] = letters[found - named];
        if (buf_add(out, text + from, i - from) ||
            (found ? buf_add(out, escape, sizeof(escape))
                   : buf_addf(out, "\\u%04x", (unsigned)(unsigned char)c)))
            return -1;
        from = i + 1;
    }
    return buf_add(out, text + from, len - from);
}
