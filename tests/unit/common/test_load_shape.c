/* Shapes of load that have a name, and tables of rates: both become stages. */
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/spec/load_shape.h"
#include "tests/support/test.h"

#define MAX_WANT      8
#define SPIKE_EXAMPLE "write 'spike 50/s 500/s at 1m for 10s of 3m'"

static void assert_stages(struct strlist *got, const char *const *want)
{
    size_t n = 0;

    while (n < MAX_WANT && want[n])
        n++;
    for (size_t i = 0; i < got->len && i < n; i++)
        assert_string_equal(got->items[i], want[i]);
    assert_int_equal(got->len, n);
    strlist_fini(got);
}

TEST(names_become_stages)
{
    static const struct {
        const char *text;
        const char *want[MAX_WANT];
    } cases[] = {
        {"ramp 10/s 100/s over 5m", {"10/s..100/s 5m"}},
        {"ramp 100 0 over 1m hold 30s", {"100/s..0/s 1m", "0/s 30s"}},
        {"step 10 30 by 10 every 30s", {"10/s 30s", "20/s 30s", "30/s 30s"}},
        {"step 30 5 by 10 every 1s",
         {"30/s 1s", "20/s 1s", "10/s 1s", "5/s 1s"}},
        {"step 0.1 0.3 by 0.1 every 1s", {"0.1/s 1s", "0.2/s 1s", "0.3/s 1s"}},
        {"spike 50/s 500/s at 1m for 10s", {"50/s 1m", "500/s 10s", "50/s 1m"}},
        {"spike 50/s 500/s at 1m for 10s of 3m",
         {"50/s 1m", "500/s 10s", "50/s 110s"}},
        {"spike 50/s 500/s at 1m for 10s of 70s", {"50/s 1m", "500/s 10s"}},
        {"  spike  0 5 for 1s   at 2s ", {"0/s 2s", "5/s 1s", "0/s 2s"}},
        {"bursts 5 50 every 10s for 2s of 25s",
         {"5/s 8s", "50/s 2s", "5/s 8s", "50/s 2s", "5/s 5s"}},
        {"bursts 5 50 every 10s for 2s of 9s", {"5/s 8s", "50/s 1s"}},
        {"soak 6/m for 8h", {"0.1/s 8h"}},
        {"soak 50 for 8h ramp 5m", {"0/s..50/s 5m", "50/s 8h"}},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct strlist stages = {0};
        struct err err = {0};

        assert_int_equal(load_shape_check(cases[i].text, &err), 0);
        assert_int_equal(load_shape_expand(cases[i].text, &stages, &err), 0);
        assert_stages(&stages, cases[i].want);
    }
}

TEST(what_is_no_shape_is_refused)
{
    static const struct {
        const char *text;
        const char *want;
    } cases[] = {
        {"", "'' is not a shape (ramp, step, spike, bursts or "
             "soak); " SPIKE_EXAMPLE},
        {"peak 5",
         "'peak 5' is not a shape (ramp, step, spike, bursts or soak); "
         "" SPIKE_EXAMPLE},
        {"spike 5", "'spike 5' is not a spike; " SPIKE_EXAMPLE},
        {"spike 5 x at 1s for 1s",
         "'x' is not a rate; write 50, 0.5 or 2/m (above 0)"},
        {"spike 5 50 at 1s", "'spike 5 50 at 1s' is not a spike; "
                             "" SPIKE_EXAMPLE},
        {"spike 5 50 at", "'spike 5 50 at' is not a spike; " SPIKE_EXAMPLE},
        {"spike 5 50 at 1s for long",
         "'long' is not a duration; write 500ms, 2s or 1h30m"},
        {"spike 5 50 at 1s at 2s for 1s",
         "'at 2s' is not part of a spike; " SPIKE_EXAMPLE},
        {"spike 5 50 at 1s for 1s by 5",
         "'by 5' is not part of a spike; " SPIKE_EXAMPLE},
        {"spike 5 50 at 0s for 1s", "'at 0s' must be above 0"},
        {"spike 5 50 at 5s for 1s of 3s",
         "'spike 5 50 at 5s for 1s of 3s': 'of' must not be shorter than 'at' "
         "and 'for' together"},
        {"step 5 9 every 1s", "'step 5 9 every 1s' is not a step; write 'step "
                              "10/s 100/s by 10/s every 30s'"},
        {"step 5 5 by 1 every 1s", "'step 5 5 by 1 every 1s': the two rates "
                                   "are equal, or 'by' is 0: there is no step"},
        {"step 1 1M by 1 every 1s",
         "'step 1 1M by 1 every 1s': 999999 steps; the maximum is 10000"},
        {"bursts 1 2 every 1s for 1s of 9s",
         "'bursts 1 2 every 1s for 1s of 9s': a burst must be shorter than "
         "'every'"},
        {"bursts 1 2 every 1s for 1ms of 9h",
         "'bursts 1 2 every 1s for 1ms of 9h': more than 5000 bursts"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};

        assert_int_equal(load_shape_check(cases[i].text, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, cases[i].want);
    }
}

TEST(tables_become_stages)
{
    static const struct {
        const char *text;
        double speed;
        const char *want[MAX_WANT];
    } cases[] = {
        {"0,5\n10,5\n", 1, {"5/s 10s"}},
        {"time,rate\n0:00,12\n6:30,40/s\n24:00,12",
         1,
         {"12/s..40/s 390m", "40/s..12/s 1050m"}},
        {"# a day\r\n\r\n 0:00 , 12 \r\n0:00:30,0\r\n", 1, {"12/s..0/s 30s"}},
        {"8h,1\n9h,1\n9h,5\n10h,5\n", 60, {"1/s 1m", "5/s 1m"}},
        {"1.5,6/m\n2,1\n", 0.5, {"0.1/s..1/s 1s"}},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *text = xstrdup(cases[i].text);
        struct strlist stages = {0};
        struct err err = {0};

        assert_int_equal(
            ratetable_parse("t", text, cases[i].speed, &stages, &err), 0);
        assert_stages(&stages, cases[i].want);
        free(text);
    }
}

TEST(what_is_wrong_has_its_line)
{
    static const struct {
        const char *text;
        const char *want;
    } cases[] = {
        {"", "t: a rate table needs two rows with different times"},
        {"0,5\n0,6\n", "t: a rate table needs two rows with different times"},
        {"0,5\n\n9\n", "t:3: '9' is not a row; write time,rate as in 6:30,40"},
        {"0,5\n1,2,3\n",
         "t:2: '1,2,3' is not a row; write time,rate as in 6:30,40"},
        {"0,5\nnoon,3\n",
         "t:2: 'noon' is not a time; write 6:30, 90m or seconds"},
        {"0,5\n6:60,3\n",
         "t:2: '6:60' is not a time; write 6:30, 90m or seconds"},
        {"0,5\n6:30x,3\n",
         "t:2: '6:30x' is not a time; write 6:30, 90m or seconds"},
        {"0,5\n1,fast\n",
         "t:2: 'fast' is not a rate; write 50, 0.5 or 2/m (above 0)"},
        {"0,5\n2,5\n1,5\n", "t:3: the time is before that of the previous row"},
        {"0,5\n1e14,5\n", "t:2: the time is too late"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *text = xstrdup(cases[i].text);
        struct strlist stages = {0};
        struct err err = {0};

        assert_int_equal(ratetable_parse("t", text, 1, &stages, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, cases[i].want);
        strlist_fini(&stages);
        free(text);
    }
}
