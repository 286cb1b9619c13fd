/* Bytes that were written as base64; cases of RFC 4648, section 10, and what is
 * none. */
#include <string.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "tests/support/test.h"

static const struct {
    const char *text;
    const char *bytes; /* NULL: it is none */
    size_t len;
} cases[] = {
    {"", "", 0},        {"Zg==", "f", 1},          {"Zm8=", "fo", 2},
    {"Zm9v", "foo", 3}, {"Zm9vYmE=", "fooba", 5},  {"Zm9vYmFy", "foobar", 6},
    {"Zm8", "fo", 2},   {"AP/+", "\0\xff\xfe", 3}, {"AP_-", "\0\xff\xfe", 3},
    {"Z", NULL, 0},     {"Zm9v!", NULL, 0},        {"Zm9v===", NULL, 0},
    {"Z m8", NULL, 0},
};

TEST(texts_are_bytes)
{
    struct buf out;

    buf_init(&out, 100);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int rc = base64_decode(cases[i].text, strlen(cases[i].text), &out);

        if (rc != (cases[i].bytes ? 0 : -1))
            fail_msg("'%s': %d", cases[i].text, rc);
        if (cases[i].bytes) {
            assert_int_equal(out.len, cases[i].len);
            assert_memory_equal(buf_text(&out), cases[i].bytes, cases[i].len);
        }
        buf_reset(&out);
    }
    buf_fini(&out);
}

TEST(what_does_not_fit_is_said)
{
    struct buf out;

    buf_init(&out, 3);
    assert_int_equal(base64_decode("Zm9vYmFy", 8, &out), -1);
    buf_fini(&out);
}
