/* Stages of load, as people write them. */

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/spec/load_shape.h"
#include "tests/support/test.h"

TEST(stages_are_read)
{
    static const struct {
        const char *text;
        struct load_stage want;
    } cases[] = {
        {"50/s 30s", {50, 50, 30 * NS_PER_S}},
        {"50 500ms", {50, 50, 500 * NS_PER_MS}},
        {"  10/s..100/s   1m ", {10, 100, 60 * NS_PER_S}},
        {"1k..0 2s", {1000, 0, 2 * NS_PER_S}},
        {"0 10s", {0, 0, 10 * NS_PER_S}},
        {"0.05..5 10s", {0.05, 5, 10 * NS_PER_S}},
        {"0.0..5 10s", {0, 5, 10 * NS_PER_S}},
        {"5..0.00/m 10s", {5, 0, 10 * NS_PER_S}},
        {"6/m 1h", {0.1, 0.1, 3600 * NS_PER_S}},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        struct load_stage stage;

        assert_int_equal(load_stage_check(cases[i].text, &err), 0);
        assert_int_equal(load_stage_parse(cases[i].text, &stage, &err), 0);
        assert_true(stage.from_rps == cases[i].want.from_rps);
        assert_true(stage.to_rps == cases[i].want.to_rps);
        assert_int_equal(stage.length_ns, cases[i].want.length_ns);
    }
}

TEST(what_is_no_stage_is_refused)
{
    static const struct {
        const char *text;
        const char *want;
    } cases[] = {
        {"", "'' is not a stage; write '50/s 30s' or '10/s..100/s 1m'"},
        {"50/s", "'50/s' is not a stage; write '50/s 30s' or '10/s..100/s 1m'"},
        {"50/s 1s 2s",
         "'50/s 1s 2s' is not a stage; write '50/s 30s' or '10/s..100/s 1m'"},
        {"x 1s", "'x' is not a rate; write 50, 0.5 or 2/m (above 0)"},
        {"5..y 1s", "'y' is not a rate; write 50, 0.5 or 2/m (above 0)"},
        {"0/x 1s", "'0/x' is not a rate; write 50, 0.5 or 2/m (above 0)"},
        {"0x5 1s", "'0x5' is not a rate; write 50, 0.5 or 2/m (above 0)"},
        {"5 fast", "'fast' is not a duration; write 500ms, 2s or 1h30m"},
        {"5 0s", "'5 0s': the stage has no length"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};

        assert_int_equal(load_stage_check(cases[i].text, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, cases[i].want);
    }
}
