/* How long a thread waited for a CPU: the kernel's text, and the kernel. */

#include "common/base/clk.h"
#include "common/recording/schema.h"
#include "loadgen/observe/host.h"
#include "tests/support/test.h"

TEST(the_second_number_is_the_wait)
{
    static const struct {
        const char *text;
        bool is_known;
    } cases[] = {
        {"123 456 7\n", true},
        {"0 456 7", true},
        {"0 0 0\n", false}, /* it runs, so it is not counted */
        {"123 456\n", false},
        {"123 -4 7\n", false},
        {"123 456 -7\n", false},
        {"123 9223372036854775807 7\n", false},
        {"", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t wait_ns = 0;
        int64_t turns = 0;

        assert_int_equal(cpu_wait_parse(cases[i].text, &wait_ns, &turns),
                         cases[i].is_known);
        assert_int_equal(wait_ns, cases[i].is_known ? 456 : 0);
        assert_int_equal(turns, cases[i].is_known ? 7 : 0);
    }
}

TEST(it_grows_or_is_absent)
{
    struct cpu_wait q = cpu_wait_of_this_thread();
    struct observation a = {0};
    struct observation b = {0};

    cpu_wait_read(&q, &a);
    cpu_wait_read(&q, &b);
    assert_true(a.cpu_wait == TIME_ABSENT || b.cpu_wait >= a.cpu_wait);
    assert_int_equal(a.cpu_wait == TIME_ABSENT, a.cpu_turns == TIME_ABSENT);
    cpu_wait_fini(&q);
    cpu_wait_read(&q, &b);
    assert_int_equal(b.cpu_wait, TIME_ABSENT);
    assert_int_equal(b.cpu_turns, TIME_ABSENT);
}
