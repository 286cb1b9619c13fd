#include "tests/support/corpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

const struct hostile corpus[] = {
    {"C0: bell", "a\x07"},
    {"C0: backspace", "a\b"},
    {"C0: carriage return", "a\rb"},
    {"C0: shift out", "a\x0e"},
    {"CSI", "\x1b[2J"},
    {"OSC, ended by BEL", "\x1b]0;title\x07"},
    {"OSC, ended by ST", "\x1b]52;c;AAAA\x1b\\"},
    {"DEL", "a\x7f"},
    {"C1: CSI", "\xc2\x9b"
                "2J"},
    {"C1: OSC", "\xc2\x9d"
                "0;title\xc2\x9c"},
    {"C1: first", "\xc2\x80"},
    {"C1: last", "\xc2\x9f"},
    {"C1 as a byte", "\x9b"
                     "2J"},
    {"bidi override", "\xe2\x80\xae"
                      "evil"},
    {"bidi embedding", "\xe2\x80\xaa"},
    {"bidi mark", "\xe2\x80\x8f"},
    {"Arabic letter mark", "\xd8\x9c"},
    {"line separator", "\xe2\x80\xa8"},
    {"bidi isolate", "\xe2\x81\xa6"},
    {"bidi isolate, last", "\xe2\x81\xa9"},
    {"not UTF-8", "\xff\xfe"},
    {"cut off", "\xe2\x80"},
    {"overlong", "\xc0\x9b"},
    {"overlong C1", "\xe0\x82\x9b"},
    {"surrogate", "\xed\xa0\x80"},
    {"beyond Unicode", "\xf4\x90\x80\x80"},
    {"no lead byte", "\x80\x80"},
};

const size_t corpus_len = sizeof(corpus) / sizeof(corpus[0]);

static bool is_between(char c, int low, int high)
{
    return (unsigned char)c >= low && (unsigned char)c <= high;
}

/* Written apart from the product's, and by bytes. */
static bool is_obeyed(const char *p)
{
    switch ((unsigned char)*p) {
    case '\n':
    case '\t':
        return false;
    case 0x7f:
        return true;
    case 0xc2:
        return is_between(p[1], 0x80, 0x9f);
    case 0xe2:
        return (p[1] == '\x80' && is_between(p[2], 0xaa, 0xae)) ||
               (p[1] == '\x81' && is_between(p[2], 0xa6, 0xa9));
    default:
        return is_between(*p, 0, 31);
    }
}

void corpus_check(const char *where, const char *shown)
{
    json_t *is_utf8 = json_string(shown);

    if (!is_utf8)
        fail_msg("%s: not UTF-8: %s", where, shown);
    json_decref(is_utf8);
    for (const char *p = shown; *p; p++) {
        if (is_obeyed(p))
            fail_msg("%s: %02x %02x got through: %s", where, p[0] & 0xff,
                     p[1] & 0xff, shown);
    }
}
