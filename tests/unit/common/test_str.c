/* Lists and maps of strings, words, the nearest known one, one-line errors, and
 * the clock. */
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "tests/support/test.h"

TEST(maps_keep_the_order_of_first_use)
{
    struct strmap map = {0};

    strmap_put(&map, "b", "1");
    strmap_put(&map, "a", "2");
    strmap_put(&map, "b", "3");
    assert_int_equal(map.keys.len, 2);
    assert_int_equal(map.values.len, 2);
    assert_string_equal(map.keys.items[0], "b");
    assert_string_equal(strmap_get(&map, "b"), "3");
    assert_string_equal(strmap_get(&map, "a"), "2");
    assert_null(strmap_get(&map, "c"));
    strmap_fini(&map);
    strmap_fini(&map);
    assert_int_equal(map.keys.len, 0);
}

TEST(lists_own_their_items)
{
    struct strlist list = {0};
    char text[] = "one";

    strlist_add(&list, text);
    text[0] = 'X';
    strlist_add(&list, text);
    assert_int_equal(list.len, 2);
    assert_string_equal(list.items[0], "one");
    assert_string_equal(list.items[1], "Xne");
    strlist_fini(&list);
    assert_null(list.items);
}

TEST(words_stand_between_spaces)
{
    char text[] = "  one two   three ";
    char empty[] = " ";
    char *rest = text;

    assert_string_equal(str_next_word(&rest), "one");
    assert_string_equal(str_next_word(&rest), "two");
    assert_string_equal(str_next_word(&rest), "three");
    assert_null(str_next_word(&rest));
    assert_null(str_next_word(&rest));
    rest = empty;
    assert_null(str_next_word(&rest));
}

TEST(the_nearest_word_is_suggested)
{
    static const char *const known[] = {"rate", "duration", "requests",
                                        "seed", "warmup",   "n"};
    static const struct {
        const char *word;
        const char *want;
    } cases[] = {
        {"rat", "; did you mean 'rate'?"},
        {"rte", "; did you mean 'rate'?"},
        {"tare", "; did you mean 'rate'?"},
        {"Rate", "; did you mean 'rate'?"},
        {"durration", "; did you mean 'duration'?"},
        {"request", "; did you mean 'requests'?"},
        {"seeed", "; did you mean 'seed'?"},
        {"warm_up", "; did you mean 'warmup'?"},
        {"dur", "; did you mean 'duration'?"},
        {"reqest", "; did you mean 'requests'?"},
        {"aret", "; did you mean 'rate'?"},
        {"sede", "; did you mean 'seed'?"},
        {"colour", ""},
        {"warned", ""}, /* three off */
        {"xyzzy", ""},
        {"ra", ""},
        {"an_unknown_word_that_is_longer_than_any_word_that_could_be_known_"
         "and_goes_on_for_a_hundred_characters_or_so",
         ""},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct suggest s = {.word = cases[i].word};
        char out[64];

        for (size_t k = 0; k < COUNT(known); k++)
            suggest_consider(&s, known[k]);
        assert_string_equal(suggest_text(&s, "", out, sizeof(out)),
                            cases[i].want);
    }
}

TEST(errors_are_one_line)
{
    struct err err = {0};

    assert_int_equal(err_set(&err, ERR_IO, "a\nb\r\t\x1b[31m%d", 5), -1);
    assert_int_equal(err.code, ERR_IO);
    assert_string_equal(err.msg, "a?b???[31m5");
    assert_int_equal(err_context(&err, "x\ny:%d", 3), -1);
    assert_string_equal(err.msg, "x?y:3: a?b???[31m5");
}

TEST(long_errors_are_cut)
{
    struct err err = {0};
    char text[2 * sizeof(err.msg)];

    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    err_set(&err, ERR_IO, "%s", text);
    assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
    err_context(&err, "file");
    assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
    assert_memory_equal(err.msg, "file: xxx", 9);
    err_context(&err, "%s", text);
    assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
}

TEST(utc_is_formatted)
{
    const int64_t at_ns = INT64_C(1798761599) * NS_PER_S + 999;
    char out[32];
    char small[4] = "zzz";

    clk_format_utc(at_ns, CLK_NAME_FORMAT, out, sizeof(out));
    assert_string_equal(out, "20261231T235959Z");
    clk_format_utc(at_ns, CLK_TEXT_FORMAT, out, sizeof(out));
    assert_string_equal(out, "2026-12-31T23:59:59Z");
    clk_format_utc(at_ns, CLK_TEXT_FORMAT, small, sizeof(small));
    assert_string_equal(small, "");
}

TEST(waits_are_rounded_down)
{
    static const struct {
        int64_t ns;
        int64_t s;
        int64_t us;
    } cases[] = {
        {0, 0, 0},
        {999, 0, 0},
        {1000, 0, 1},
        {2 * NS_PER_S - 1, 1, 999999},
        {90 * NS_PER_S, 90, 0},
        {-1, 0, 0},
        {INT64_MIN, 0, 0},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct timeval tv = clk_timeval(cases[i].ns);

        assert_int_equal(tv.tv_sec, cases[i].s);
        assert_int_equal(tv.tv_usec, cases[i].us);
    }
}

TEST(the_fake_clock_stands_still)
{
    struct clk_fake fake = clk_fake_at(5);

    assert_int_equal(clk_now(&fake.clk), 5);
    fake.at_ns = -7;
    assert_int_equal(clk_now(&fake.clk), -7);
}

TEST(the_real_clock_does_not_go_back)
{
    int64_t last = clk_now(&clk_monotonic);

    for (int i = 0; i < 1000; i++) {
        int64_t now = clk_now(&clk_monotonic);

        assert_true(now >= last);
        last = now;
    }
}

TEST(every_occurrence_is_replaced)
{
    static const struct {
        const char *text, *from, *to, *want;
    } rows[] = {
        {"", "a", "b", ""},       {"none", "x", "y", "none"},
        {"a-a", "a", "", "-"},    {"{p}/{p}", "{p}", "80", "80/80"},
        {"aaa", "aa", "a", "aa"}, {"a", "a", "aa", "aa"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *got = str_replace(rows[i].text, rows[i].from, rows[i].to);

        assert_string_equal(got, rows[i].want);
        free(got);
    }
}
