/* Lists of numbers, as people write them. */
#include <string.h>

#include "common/base/err.h"
#include "common/text/units.h"
#include "tests/support/near.h"
#include "tests/support/test.h"

TEST(they_are_read)
{
    static const struct {
        const char *text;
        size_t len;
        double first;
        double last;
        const char *unit;
    } cases[] = {
        {"10", 1, 10, 10, ""},
        {"10,20,40..200", 11, 10, 200, ""},
        {" 1 , 2 .. 5 ", 5, 1, 5, ""},
        {"0.5,0.6..1", 6, 0.5, 1, ""},
        {"0.1,0.2..0.7", 7, 0.1, 0.7, ""},
        {"40,30..10", 4, 40, 10, ""},
        {"10,20..45", 4, 10, 40, ""},
        {"1,2..4,8,16..32", 8, 1, 32, ""},
        {"1ms,2ms..4ms", 4, 1, 4, "ms"},
        {"1e3,2e3", 2, 1000, 2000, ""},
        {"10/s,20/s", 2, 10, 20, "/s"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        struct numlist v;

        assert_int_equal(numlist_parse(&v, cases[i].text, &err), 0);
        assert_int_equal(v.len, cases[i].len);
        assert_near(v.items[0], cases[i].first, 1e-9);
        assert_near(v.items[v.len - 1], cases[i].last, 1e-9);
        assert_string_equal(v.unit, cases[i].unit);
        numlist_fini(&v);
    }
}

TEST(wrong_lists_are_refused)
{
    static const struct {
        const char *text;
        const char *why;
    } cases[] = {
        {"", "expected numbers"},
        {"10,", "a number is missing; expected numbers such as"},
        {"ten", "expected numbers"},
        {"-1", "expected numbers"},
        {"inf", "expected numbers"},
        {"+5", "expected numbers"},
        {"0x10", "'0x10': expected numbers"},
        {"5,0X10", "'0X10': expected numbers"},
        {"1-10", "write '1,2..10' for the range from 1 to 10 in steps of 1"},
        {"10:100",
         "write '10,20..100' for the range from 10 to 100 in steps of 10"},
        {"5-20", "write '5,10..20' for the range from 5 to 20 in steps of 5"},
        {"10 - 1000", "write '10,"},
        {"0.1-0.5", "write '0.1,"},
        {"10..50", "two values"},
        {"10,20,10", "twice"},
        {"10,20..5", "do not reach"},
        {"10,10.00001..50", "more than"},
        {"1ms,2s", "same unit"},
        {"1 2", "expected numbers"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};

        assert_int_equal(numlist_check(cases[i].text, &err), -1);
        if (!strstr(err.msg, cases[i].why))
            fail_msg("'%s': %s", cases[i].text, err.msg);
    }
}
