#include <math.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "common/spec/answer_check.h"
#include "tests/support/test.h"

/* Does an answer of this text, body and length pass this check? */
static bool passes(const char *rule, struct check_answer *a)
{
    struct strlist texts = {0};
    struct checks checks = {0};
    struct err err = {0};
    bool result;

    strlist_add(&texts, rule);
    if (checks_parse(&texts, &checks, &err))
        fail_msg("%s: %s", rule, err.msg);
    result = checks_pass(&checks, a);
    checks_fini(&checks);
    strlist_fini(&texts);
    return result;
}

TEST(rules_hold_or_do_not)
{
    static const struct {
        const char *rule;
        const char *text;
        bool want;
    } cases[] = {
        {"exact yes", "yes", true},
        {"exact yes", " yes\n", true},
        {"exact yes", "yes.", false},
        {"exact yes", "", false},
        {"exact a  b", "a  b", true},
        {"contains es", "yes", true},
        {"contains no", "yes", false},
        {"contains no", "", false},
        {"regex ^[0-9]+$", "42", true},
        {"regex ^[0-9]+$", "42 ", false},
        {"regex a|b", "xxb", true},
        {"json /a = 1", "{\"a\":1}", true},
        {"json /a = 1", "{\"a\":1.0}", true},
        {"json /a = 1", "{\"a\":2}", false},
        {"json /a = 1 +- 0.5", "{\"a\":1.5}", true},
        {"json /a = 1 +- 0.5", "{\"a\":0.49}", false},
        {"json /a/1/b = \"x\"", "{\"a\":[0,{\"b\":\"x\"}]}", true},
        {"json /a/1/b = \"x\"", "{\"a\":[0]}", false},
        {"json /a/01x = 1", "{\"a\":[0,1]}", false},
        {"json /a~1b/c~0d = true", "{\"a/b\":{\"c~d\":true}}", true},
        {"json /a = null", "{\"a\":null}", true},
        {"json /a = null", "{}", false},
        {"json /a = 1", "no JSON", false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *text = cases[i].text;
        struct check_answer a = {.text = text,
                                 .text_len = strlen(text),
                                 .body = text,
                                 .body_len = strlen(text),
                                 .raw = "",
                                 .output_tokens = TIME_ABSENT};

        if (passes(cases[i].rule, &a) != cases[i].want)
            fail_msg("'%s' of '%s'", cases[i].rule, text);
    }
}

TEST(labels)
{
    static const struct {
        const char *rule;
        const char *text;
        const char *label; /* NULL: none */
        bool want;
    } cases[] = {
        {"label", "it is Paris.", "Paris", true},
        {"label", "it is Paris.", " Paris\n", true},
        {"label contains", "it is Paris.", "paris", false},
        {"label exact", " Paris\n", "Paris", true},
        {"label exact", "Paris.", "Paris", false},
        {"label", "", "Paris", false},
        {"label", "anything", "", false},
        {"label", "anything", NULL, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *label = cases[i].label;
        struct check_answer a = {.text = cases[i].text,
                                 .text_len = strlen(cases[i].text),
                                 .body = "",
                                 .raw = "",
                                 .label = label,
                                 .label_len = label ? strlen(label) : 0};

        if (passes(cases[i].rule, &a) != cases[i].want)
            fail_msg("'%s' of '%s'", cases[i].rule, cases[i].text);
    }
}

TEST(lengths)
{
    struct check_answer a = {.text = "", .body = "", .raw = ""};

    a.output_tokens = 10;
    assert_true(passes("length 10", &a));
    assert_true(passes("length 10..20", &a));
    assert_true(passes("length 0..10", &a));
    assert_false(passes("length 11..20", &a));
    a.output_tokens = TIME_ABSENT;
    assert_false(passes("length 0..1000", &a));
}

TEST(tensors_in_json_and_raw)
{
    static const char json[] =
        "{\"outputs\":[{\"name\":\"n\",\"datatype\":\"INT32\",\"shape\":[2],"
        "\"data\":[7,8]},{\"name\":\"y\",\"datatype\":\"FP32\",\"shape\":[2],"
        "\"data\":[0.5,1.25]},{\"name\":\"m\",\"datatype\":\"INT32\","
        "\"shape\":[2,2],\"data\":[[1,2],[3,4]]},{\"name\":\"b\","
        "\"datatype\":\"BOOL\",\"shape\":[2],\"data\":[true,false]}]}";
    static const char head[] =
        "{\"outputs\":[{\"name\":\"n\",\"datatype\":\"INT16\",\"shape\":[2],"
        "\"parameters\":{\"binary_data_size\":4}},{\"name\":\"y\","
        "\"datatype\":\"FP16\",\"shape\":[2],"
        "\"parameters\":{\"binary_data_size\":4}}]}";
    /* 7, -2; 1.5 and 0.25 in half precision */
    static const char raw[] = "\x07\x00\xfe\xff\x00\x3e\x00\x34";
    struct check_answer a = {.text = "",
                             .body = json,
                             .body_len = sizeof(json) - 1,
                             .raw = "",
                             .output_tokens = TIME_ABSENT};

    assert_true(passes("tensor n = 7 8", &a));
    assert_true(passes("tensor n = 7", &a));
    assert_false(passes("tensor n = 8", &a));
    assert_false(passes("tensor n = 7 8 9", &a));
    assert_true(passes("tensor y = 0.5, 1.3 +- 0.1", &a));
    assert_false(passes("tensor z = 0.5", &a));
    assert_true(passes("tensor m = 1 2 3 4", &a));
    assert_true(passes("tensor m = 1 2 3", &a));
    assert_false(passes("tensor m = 1 3", &a));
    assert_false(passes("tensor m = 1 2 3 4 5", &a));
    assert_true(passes("tensor b = 1 0", &a));
    assert_false(passes("tensor b = 1 1", &a));
    a = (struct check_answer){.text = "",
                              .body = head,
                              .body_len = sizeof(head) - 1,
                              .raw = raw,
                              .raw_len = 8,
                              .output_tokens = TIME_ABSENT};
    assert_true(passes("tensor n = 7 -2", &a));
    assert_true(passes("tensor y = 1.5 0.25", &a));
    assert_false(passes("tensor y = 1.5 0.26", &a));
    a.raw_len = 5; /* cut off */
    assert_true(passes("tensor n = 7 -2", &a));
    assert_false(passes("tensor y = 1.5", &a));
}

TEST(all_must_hold)
{
    struct strlist texts = {0};
    struct checks checks = {0};
    struct err err = {0};
    struct check_answer a = {.text = "yes and no", .text_len = 10};

    strlist_add(&texts, "contains yes");
    strlist_add(&texts, "contains no");
    assert_int_equal(checks_parse(&texts, &checks, &err), 0);
    assert_true(checks_pass(&checks, &a));
    a.text_len = 6;
    assert_false(checks_pass(&checks, &a));
    checks_fini(&checks);
    strlist_fini(&texts);
}

TEST(what_is_no_rule_is_refused)
{
    static const char *const bad[] = {
        "",
        "exact",
        "exac x",
        "regex (",
        "json /a",
        "json a = 1",
        "json /a = x",
        "json /a = 1 +- x",
        "length",
        "length 5..2",
        "length -1",
        "length 1..2x",
        "tensor y",
        "tensor y = one",
        "tensor y = ",
        "json /a = 1 +- -1",
        "regex [",
        "length x",
        "tensor y 1 2",
        "regex a++++++++++++++++++++++++++++++",
        "regex ((((a{20}){20}){20}){20}){20}",
        "regex x{1,30000}",
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct err err = {0};

        if (check_check(bad[i], &err) == 0)
            fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(err.code, ERR_CONFIG);
    }
}

/* However long it is, as long as nothing multiplies. */
TEST(a_long_text_is_an_expression)
{
    char text[3000] = "regex ";
    struct err err = {0};

    memset(text + 6, 'a', sizeof(text) - 7);
    assert_int_equal(check_check(text, &err), 0);
}

TEST(copies_of_copies_multiply)
{
    static const struct {
        const char *text;
        double size;
    } rows[] = {
        {"", 1},       {"abc", 3},        {"a\\+b", 3}, {"[a+]b", 2},
        {"[]+]b", 2},  {"[^]+]+", 2},     {"ab+", 3},   {"a++", 4},
        {"(ab)+", 6},  {"(a(b+))+", 10},  {"a{3}", 3},  {"a{2,5}", 5},
        {"a{2,}b", 3}, {"(a{9}){9}", 90}, {"a)b", 2},   {"((a", 3},
    };
    char deep[400];

    for (size_t i = 0; i < COUNT(rows); i++) {
        if (regexsize_of(rows[i].text) != rows[i].size)
            fail_msg("'%s': %g", rows[i].text, regexsize_of(rows[i].text));
    }
    memset(deep, '(', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    assert_true(isinf(regexsize_of(deep)));
}
