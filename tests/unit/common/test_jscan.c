/* The scanner compared with jansson: they agree on what is JSON and on what is
 * in it, but for what common/text/jscan.h names. */
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/xalloc.h"
#include "common/text/jscan.h"
#include "tests/support/jtree.h"
#include "tests/support/test.h"

/* A copy of exactly this size, so that a sanitizer sees a step beyond. */
static char *exact_copy(const char *text, size_t len)
{
    char *copy = xcalloc(len ? len : 1, 1);

    for (size_t i = 0; i < len; i++)
        copy[i] = text[i];
    return copy;
}

/* ---- what is JSON ---- */

static bool is_json(const char *text, size_t len)
{
    char *copy = exact_copy(text, len);
    struct jscan s;
    bool was_skipped;
    bool is_whole;

    jscan_init(&s, copy, len);
    was_skipped = jscan_skip(&s);
    assert_int_equal(was_skipped, !s.has_failed);
    is_whole = jscan_end(&s);
    assert_int_equal(is_whole, !s.has_failed);
    assert_true(was_skipped || !is_whole);
    free(copy);
    return is_whole;
}

static bool is_json_of_jansson(const char *text, size_t len)
{
    json_t *json = jtree_of_jansson(text, len, NULL);
    bool is_there = json != NULL;

    json_decref(json);
    return is_there;
}

static const struct {
    const char *text;
    bool is_json;
} texts[] = {
    {"", false},
    {" \t\r\n", false},
    {"null", true},
    {" true ", true},
    {"false\n", true},
    {"nul", false},
    {"nulll", false},
    {"True", false},
    {"NaN", false},
    {"Infinity", false},
    {"-Infinity", false},
    {"undefined", false},
    {"'a'", false},
    {"[]", true},
    {"[ ]", true},
    {"{}", true},
    {"{\t}\v", false},
    {"[\f]", false},
    {"[", false},
    {"]", false},
    {"{", false},
    {"}", false},
    {"[}", false},
    {"{]", false},
    {"[1}", false},
    {"{\"a\":1]", false},
    {"[]]", false},
    {"[[]", false},
    {"{}}", false},
    {"[] []", false},
    {"[],", false},
    {"1 2", false},
    {",", false},
    {"[,]", false},
    {"[1,]", false},
    {"[,1]", false},
    {"[1,,2]", false},
    {"[1 2]", false},
    {"[1,2,3]", true},
    {" [ 1 , 2 ] ", true},
    {"[1:2]", false},
    {"{\"a\":1}", true},
    {" { \"a\" : 1 , \"b\" : [ ] } ", true},
    {"{\"a\":1,}", false},
    {"{,\"a\":1}", false},
    {"{\"a\":}", false},
    {"{\"a\"}", false},
    {"{\"a\" 1}", false},
    {"{\"a\",1}", false},
    {"{\"a\":1 \"b\":2}", false},
    {"{\"a\":1:2}", false},
    {"{a:1}", false},
    {"{1:1}", false},
    {"{null:1}", false},
    {"{\"a\":1,\"a\":2}", true}, /* twice the same key */
    {"{\"\":1}", true},
    {"// c\n1", false},
    {"/**/1", false},
    {"\xef\xbb\xbf{}", false}, /* a byte order mark */

    {"0", true},
    {"-0", true},
    {"-", false},
    {"+1", false},
    {"00", false},
    {"01", false},
    {"-01", false},
    {"-a", false},
    {"1.", false},
    {".5", false},
    {"-.5", false},
    {"1.5", true},
    {"1.5.5", false},
    {"0.0", true},
    {"1e5", true},
    {"1E5", true},
    {"1e+5", true},
    {"1e-5", true},
    {"1e", false},
    {"1e+", false},
    {"1e-", false},
    {"1.e5", false},
    {"1e5.5", false},
    {"1e05", true},
    {"0e0", true},
    {"0x1", false},
    {"1a", false},
    {"1_000", false},
    {"[1.", false},
    {"[1e", false},
    {"[-", false},
    {"9223372036854775807", true},
    {"-9223372036854775808", true},
    {"1e308", true},
    {"1e-999", true},
    {"123456789012345678901234567890.0", true},

    {"\"\"", true},
    {"\"a", false},
    {"\"", false},
    {"\"a\"b", false},
    {"\"\\", false},
    {"\"\\\"", false},
    {"\"\\\\\"", true},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", true},
    {"\"\\v\"", false},
    {"\"\\a\"", false},
    {"\"\\'\"", false},
    {"\"\\0\"", false},
    {"\"\\x41\"", false},
    {"\"\\U0041\"", false},
    {"\"\\\n\"", false},
    {"\"\\u0041\"", true},
    {"\"\\u00e9\\u00E9\"", true},
    {"\"\\u0000\"", true},
    {"\"\\u004\"", false},
    {"\"\\u\"", false},
    {"\"\\u004", false},
    {"\"\\u00g1\"", false},
    {"\"\\u-041\"", false},
    {"\"\\u 041\"", false},
    {"\"\\ud83d\\ude00\"", true},
    {"\"\\uD83D\\uDE00\"", true},
    {"\"a\nb\"", false},
    {"\"a\tb\"", false},
    {"\"a\rb\"", false},
    {"\"\x1f\"", false},
    {"\"12345678\x01\"", false},
    {"\"1234567\n9\"", false},
    {"\" \x7f\"", true},
    {"\"an ordinary sentence, long enough for several steps.\"", true},
    {"\"\xc3\xa9\"", true},
    {"\"\xe4\xbd\xa0\xe5\xa5\xbd\"", true},
    {"\"\xf0\x9f\x98\x80\"", true},
    {"\"\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf4\x8f\xbf\xbf\"", true},
    {"\"\x80\"", false},
    {"\"\xbf\"", false},
    {"\"\xc3\"", false},
    {"\"\xc3", false},
    {"\"\xe4\xbd\"", false},
    {"\"\xe4\xbd", false},
    {"\"\xf0\x9f\x98\"", false},
    {"\"\xf0\x9f\x98", false},
    {"\"\xc3(\"", false},
    {"\"\xe4(\xa0\"", false},
    {"\"\xe4\xbd(\"", false},
    {"\"\xf0\x9f\x98(\"", false},
    {"\"\xc0\x80\"", false}, /* longer than need be */
    {"\"\xc1\xbf\"", false},
    {"\"\xe0\x9f\xbf\"", false},
    {"\"\xf0\x8f\xbf\xbf\"", false},
    {"\"\xed\xa0\x80\"", false}, /* a surrogate */
    {"\"\xed\xbf\xbf\"", false},
    {"\"\xf4\x90\x80\x80\"", false}, /* beyond the last */
    {"\"\xf5\x80\x80\x80\"", false},
    {"\"\xff\"", false},
    {"\"\xfe\"", false},
    {"{\"\xff\":1}", false},
    {"\xff", false},
};

TEST(both_agree_on_what_is_json)
{
    for (size_t i = 0; i < COUNT(texts); i++) {
        const char *text = texts[i].text;
        size_t len = strlen(text);

        if (is_json(text, len) != texts[i].is_json ||
            is_json_of_jansson(text, len) != texts[i].is_json)
            fail_msg("'%s'", text);
    }
}

static void check_agreement(const char *text, size_t len)
{
    if (is_json(text, len) != is_json_of_jansson(text, len))
        fail_msg("'%s'", text);
}

/* One of the differences below. */
static bool has_half_a_pair(const char *text)
{
    return !strstr(text, "\\ud83d\\u") || !strstr(text, "\\ude00");
}

/* Every cut of a good text is refused, and every byte put in its place is
 * judged by both alike. */
TEST(both_agree_on_damage)
{
    static const char good[] =
        "{\"a\": [1, -2.5e+3, \"x\\n\\u00e9\\ud83d\\ude00\xe4\xbd\xa0\","
        " true, false, null, {}], \"b\": {\"c\": \"\"}}";
    size_t len = strlen(good);
    char *text = xstrdup(good);

    for (size_t i = 0; i < len; i++) {
        assert_false(is_json(good, i));
        for (int c = 0; c < 256; c++) {
            text[i] = (char)c;
            if (!has_half_a_pair(text))
                check_agreement(text, len);
        }
        text[i] = good[i];
    }
    assert_true(is_json(good, len));
    free(text);
}

/* Any byte at any place of a string, whatever steps it is looked at in. */
TEST(both_agree_on_bytes_of_strings)
{
    char text[45];
    size_t len = sizeof(text) - 1;

    memset(text, 'x', sizeof(text));
    text[0] = text[len - 1] = '"';
    text[len] = '\0';
    for (size_t i = 1; i < len - 1; i++) {
        for (int c = 1; c < 256; c++) {
            text[i] = (char)c;
            check_agreement(text, len);
        }
        text[i] = 'x';
        assert_true(is_json(text, len));
        text[i] = '"';
        assert_true(is_json(text, i + 1));
        assert_false(is_json(text, i));
        text[i] = 'x';
    }
}

/* What common/text/jscan.h says that jansson does not take. */
TEST(the_differences_are_these)
{
    static const char *const taken[] = {
        "9223372036854775808",
        "-9223372036854775809",
        "1e999",
        "-1e999",
        "{\"a\\u0000b\": 1}",
        "\"\\ud83d\"",
        "\"\\ude00\"",
        "\"\\ude00\\ud83d\"",
        "\"\\ud83dx\"",
        "\"\\ud83d\\n\"",
        "\"\\ud83d\\ud83d\\ude00\"",
    };
    char deep[2 * JSCAN_MAX_DEPTH + 2];
    size_t n = JSCAN_MAX_DEPTH;

    for (size_t i = 0; i < COUNT(taken); i++) {
        assert_true(is_json(taken[i], strlen(taken[i])));
        assert_false(is_json_of_jansson(taken[i], strlen(taken[i])));
    }
    assert_false(is_json("[7\0]", 4) || is_json("[true\0]", 7));
    assert_true(is_json_of_jansson("[7\0]", 4));
    assert_true(is_json_of_jansson("[true\0]", 7));
    memset(deep, '[', n + 1);
    memset(deep + n + 1, ']', n + 1);
    assert_true(is_json(deep + 1, 2 * n));
    assert_false(is_json(deep, 2 * n + 2));
    assert_true(is_json_of_jansson(deep, 2 * n + 2));
}

/* ---- what is in it ---- */

static void both_read_the_same(const char *text, size_t len)
{
    char *copy = exact_copy(text, len);
    json_t *ours = jtree_read(copy, len);
    json_t *theirs = jtree_of_jansson(text, len, NULL);

    if (!json_equal(ours, theirs))
        fail_msg("'%s'", text);
    json_decref(ours);
    json_decref(theirs);
    free(copy);
}

TEST(values_are_those_of_jansson)
{
    static const char *const more[] = {
        "[0.1, 1e22, 1e23, 123456789.123456789, 5e-324, -0.0, 100.0]",
        "[1.7976931348623157e308, 2.2250738585072011e-308]",
        "[9007199254740993, -1, 10, 1234567890123456789]",
        "{\"\\u0061\\\"\": \"\\u0062\\/\", \"\xc3\xa9\": \"\\u00e9\"}",
        "{\"a\": {\"b\": {\"c\": [[], [{}], [[1]]]}}, \"d\": \"\\u0000\"}",
        "\"\\u007f\\u0080\\u07ff\\u0800\\uffff\\ud800\\udc00\\udbff\\udfff\"",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        if (texts[i].is_json)
            both_read_the_same(texts[i].text, strlen(texts[i].text));
    }
    for (size_t i = 0; i < COUNT(more); i++)
        both_read_the_same(more[i], strlen(more[i]));
}

/* ---- what is asked for ---- */

TEST(numbers_that_do_not_fit_are_passed_over)
{
    static const struct {
        const char *text;
        bool is_int;
        bool is_number;
    } cases[] = {
        {"9223372036854775807", true, true},
        {"-9223372036854775808", true, true},
        {"9223372036854775808", false, true},
        {"-9223372036854775809", false, true},
        {"92233720368547758070", false, true},
        {"1.0", false, true},
        {"1e2", false, true},
        {"1e999", false, false},
        {"-0", true, true},
        {"null", false, false},
        {"\"1\"", false, false},
        {"{\"a\": [1]}", false, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct jscan s;
        int64_t n = 7;
        double d = 7.5;

        jscan_init(&s, cases[i].text, strlen(cases[i].text));
        assert_int_equal(jscan_int(&s, &n), cases[i].is_int);
        assert_true(cases[i].is_int || n == 7);
        assert_true(jscan_end(&s));
        jscan_init(&s, cases[i].text, strlen(cases[i].text));
        assert_int_equal(jscan_number(&s, &d), cases[i].is_number);
        assert_true(cases[i].is_number || d == 7.5);
        assert_true(jscan_end(&s));
    }
}

TEST(long_numbers_are_passed_over)
{
    char text[JSCAN_MAX_NUMBER];
    struct jscan s;
    double d = 7.5;

    memset(text, '1', sizeof(text));
    jscan_init(&s, text, sizeof(text) - 1);
    assert_true(jscan_number(&s, &d) && d > 1e125);
    assert_true(jscan_end(&s));
    jscan_init(&s, text, sizeof(text));
    assert_false(jscan_number(&s, &d));
    assert_true(jscan_end(&s));
}

/* Take a value as being of this type; was it? */
static bool take_as(struct jscan *s, enum jscan_type type)
{
    struct jtext raw;
    int64_t n;
    bool is_true;

    switch (type) {
    case JSCAN_OBJECT:
        return jscan_object(s) && jscan_key(s, &raw) && jscan_skip(s) &&
               !jscan_key(s, &raw);
    case JSCAN_ARRAY:
        return jscan_array(s) && jscan_item(s) && jscan_skip(s) &&
               !jscan_item(s);
    case JSCAN_STRING:
        return jscan_string(s, &raw);
    case JSCAN_NUMBER:
        return jscan_int(s, &n);
    default:
        return jscan_bool(s, &is_true);
    }
}

/* Of another kind than asked for: gone, and nothing has failed. */
TEST(other_values_are_passed_over)
{
    static const char text[] = "[null, [{}], \"x\", 1, true, {\"a\": [2]}]";

    for (enum jscan_type type = JSCAN_OBJECT; type <= JSCAN_BOOL; type++) {
        struct jscan s;
        int found = 0;

        jscan_init(&s, text, strlen(text));
        assert_true(jscan_array(&s));
        while (jscan_item(&s))
            found += take_as(&s, type);
        assert_true(jscan_end(&s));
        assert_int_equal(found, 1);
    }
}

TEST(failures_stay)
{
    static const char text[] = "{\"a\": tru, \"b\": 1}";
    struct jtext raw;
    struct jscan s;
    int64_t n;
    bool is_true;
    double d;

    jscan_init(&s, text, strlen(text));
    assert_true(jscan_object(&s));
    assert_true(jscan_key(&s, &raw));
    assert_int_equal(jscan_peek(&s), JSCAN_BOOL);
    assert_false(jscan_bool(&s, &is_true));
    assert_true(s.has_failed);
    assert_int_equal(jscan_peek(&s), JSCAN_NOTHING);
    assert_false(jscan_key(&s, &raw) || jscan_item(&s) || jscan_skip(&s) ||
                 jscan_object(&s) || jscan_array(&s) ||
                 jscan_string(&s, &raw) || jscan_int(&s, &n) ||
                 jscan_number(&s, &d) || jscan_bool(&s, &is_true) ||
                 jscan_end(&s));
}

TEST(what_is_left_is_no_end)
{
    struct jtext key;
    struct jscan s;

    jscan_init(&s, "[1]", 3);
    assert_true(jscan_array(&s) && jscan_item(&s) && jscan_skip(&s));
    assert_false(jscan_end(&s));
    jscan_init(&s, "[1", 2);
    assert_true(jscan_array(&s) && jscan_item(&s) && jscan_skip(&s));
    assert_false(jscan_end(&s));
    jscan_init(&s, "{}", 2);
    assert_true(jscan_object(&s) && !jscan_key(&s, &key));
    assert_true(jscan_end(&s));
    jscan_init(&s, "{}", 2);
    assert_false(jscan_end(&s));
}

/* ---- strings ---- */

static const struct {
    const char *text; /* with quotes */
    const char *means;
} strings[] = {
    {"\"\"", ""},
    {"\"choices\"", "choices"},
    {"\"choice\\u0073\"", "choices"},
    {"\"\\u0063hoices\"", "choices"},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
    {"\"\\u00e9\\u20ac\\ud83d\\ude00\"",
     "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
    {"\"\xc3\xa9\\n\xe2\x82\xac\"", "\xc3\xa9\n\xe2\x82\xac"},
    {"\"\\ud83d\"", "\xef\xbf\xbd"},
    {"\"\\ude00a\"", "\xef\xbf\xbd"
                     "a"},
    {"\"\\ud83d\\n\"", "\xef\xbf\xbd\n"},
    {"\"\\ud83d\\u0041\"", "\xef\xbf\xbd"
                           "A"},
    {"\"\\ud83d\\ud83d\\ude00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
};

static void check_string(size_t i)
{
    const char *text = strings[i].text;
    const char *means = strings[i].means;
    struct jtext raw;
    struct jscan s;
    struct buf out;

    jscan_init(&s, text, strlen(text));
    assert_true(jscan_string(&s, &raw) && jscan_end(&s));
    assert_int_equal(raw.len, strlen(text) - 2);
    buf_init(&out, 1000);
    assert_int_equal(jtext_decode(raw, &out), 0);
    assert_int_equal(out.len, strlen(means));
    assert_string_equal(buf_text(&out), means);
    for (size_t j = 0; j < COUNT(strings); j++)
        assert_int_equal(jtext_is(raw, strings[j].means),
                         strcmp(means, strings[j].means) == 0);
    buf_fini(&out);
}

TEST(strings_mean_what_they_say)
{
    for (size_t i = 0; i < COUNT(strings); i++)
        check_string(i);
}

TEST(a_string_is_more_than_its_start)
{
    struct jtext plain = {.at = "choices", .len = 7};
    struct jtext escaped = {
        .at = "choice\\u0073", .len = 12, .has_escapes = true};

    assert_false(jtext_is(plain, "choice") || jtext_is(plain, "choicess"));
    assert_false(jtext_is(escaped, "choice") || jtext_is(escaped, "choicess"));
    assert_false(jtext_is(escaped, "choice\\u0073"));
}

TEST(decoding_is_bounded)
{
    struct jtext text = {.at = "abcd\\u20ac", .len = 10, .has_escapes = true};
    struct buf out;

    for (size_t max = 1; max <= 8; max++) {
        buf_init(&out, max);
        assert_int_equal(jtext_decode(text, &out), max < 7 ? -1 : 0);
        buf_fini(&out);
    }
}
