#include <stdio.h>

#include "common/base/err.h"
#include "common/spec/cpu_list.h"
#include "tests/support/test.h"

TEST(lists_are_read_in_their_order)
{
    static const struct {
        const char *text;
        size_t len;
        int want[6];
    } cases[] = {
        {"0", 1, {0}},           {"7", 1, {7}},
        {"0,2-3", 3, {0, 2, 3}}, {"3,1,2", 3, {3, 1, 2}},
        {"4-4", 1, {4}},         {"1-2,8-10,0", 6, {1, 2, 8, 9, 10, 0}},
        {"1,1", 2, {1, 1}}, /* two threads on one CPU may be meant */
        {"007", 1, {7}},         {"1023", 1, {1023}},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct cpus cpus;
        struct err err = {0};

        assert_int_equal(cpus_parse(cases[i].text, &cpus, &err), 0);
        assert_int_equal(cpus.len, cases[i].len);
        assert_memory_equal(cpus.cpu, cases[i].want,
                            cases[i].len * sizeof(cpus.cpu[0]));
    }
}

TEST(as_many_as_there_is_room_for)
{
    struct cpus cpus;
    struct err err = {0};

    assert_int_equal(cpus_parse("0-1023", &cpus, &err), 0);
    assert_int_equal(cpus.len, CPUS_MAX);
    assert_int_equal(cpus.cpu[1023], 1023);
    assert_int_equal(cpus_parse("0-1022,5", &cpus, &err), 0);
    assert_int_equal(cpus.cpu[1023], 5);
}

TEST(what_is_no_list_is_refused)
{
    static const char *const texts[] = {
        "",
        " ",
        "x",
        "-1",
        "1-",
        "-",
        "1,",
        ",1",
        "1,,2",
        "3-1",
        "1 ",
        " 1",
        "1-2-3",
        "1.5",
        "0x1",
        "1;2",
        "1024",
        "0-1024",
        "+1",
        "1,-2",
        "auto",
        "0-1023,0",
        "0-512,0-512",
        "99999999999999999999",
        "0-99999999999999999999",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct err err = {0};
        struct cpus cpus;
        char want[100];

        snprintf(want, sizeof(want), "'%s' is not a list of CPUs; write 0,2-3",
                 texts[i]);
        assert_int_equal(cpus_parse(texts[i], &cpus, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, want);
        assert_int_equal(cpus_check(texts[i], &(struct err){0}), -1);
    }
}
