/* The pacer's decisions; what the engine makes of them is in test_engine.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loadgen/pacer.h"
#include "loadgen/source.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void decisions(void **state)
{
    static const struct {
        int64_t now;
        int64_t due;
        int64_t timeout;
        bool has_room;
        enum pace want;
    } cases[] = {
        {100, 101, 50, true, PACE_WAIT},
        {100, 101, 50, false, PACE_WAIT},
        {100, 100, 50, true, PACE_ISSUE},
        {100, 99, 50, true, PACE_ISSUE},
        {100, 100, 50, false, PACE_FULL},
        {149, 100, 50, true, PACE_ISSUE},
        {149, 100, 50, false, PACE_FULL},
        {150, 100, 50, true, PACE_UNSENT},
        {150, 100, 50, false, PACE_UNSENT},
        {100, DUE_UNKNOWN, 50, true, PACE_IDLE},
        {100, DUE_UNKNOWN, 50, false, PACE_IDLE},
        {100, DUE_NEVER, 50, true, PACE_OVER},
        {100, DUE_NEVER, 50, false, PACE_OVER},
        {-100, 0, 50, true, PACE_WAIT}, /* before the start of the run */
        {INT64_MAX - 1, 0, INT64_MAX, true, PACE_ISSUE},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct pacer p = pacer_make(cases[i].timeout, 0);

        assert_int_equal(
            pacer_decide(&p, cases[i].now, cases[i].due, cases[i].has_room),
            cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decisions),
    };

    return cmocka_run_group_tests_name("pacer", tests, NULL, NULL);
}
