/* When a run is not worth going on with. */

#include "common/base/err.h"
#include "common/spec/abort_rule.h"
#include "tests/support/test.h"

#define MAX_SECONDS   8
#define NEVER         (-1)
#define WRITE_INSTEAD "; write 'errors > 50%' or 'errors > 10% over 30s'"

TEST(rules_are_read)
{
    static const struct {
        const char *text;
        double share;
        int64_t over_s;
        const char *shown;
    } cases[] = {
        {"errors > 50%", 0.5, 10, "errors > 50%"},
        {"errors > 0.5", 0.5, 10, "errors > 0.5"},
        {"errors>50%", 0.5, 10, "errors > 50%"},
        {"  errors  >  12.5%  over  30s ", 0.125, 30, "errors > 12.5%"},
        {"errors > 0% over 1m", 0, 60, "errors > 0%"},
        {"errors > 50% over 1s", 0.5, 1, "errors > 50%"},
        {"errors > 50% over 1h", 0.5, 3600, "errors > 50%"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        struct abort_rule rule;

        assert_int_equal(abort_check(cases[i].text, &err), 0);
        assert_int_equal(abort_parse(cases[i].text, &rule, &err), 0);
        assert_true(rule.share == cases[i].share);
        assert_int_equal(rule.over_s, cases[i].over_s);
        assert_string_equal(rule.text, cases[i].shown);
    }
}

TEST(what_is_no_rule_is_refused)
{
    static const struct {
        const char *text;
        const char *want;
    } cases[] = {
        {"", "'' is not an abort rule" WRITE_INSTEAD},
        {"errors", "'errors' is not an abort rule" WRITE_INSTEAD},
        {"errors >", "'errors >' is not an abort rule" WRITE_INSTEAD},
        {"errors < 50%", "'errors < 50%' is not an abort rule" WRITE_INSTEAD},
        {"e2e > 1s", "'e2e > 1s' is not an abort rule" WRITE_INSTEAD},
        {"errors > 5% over",
         "'errors > 5% over' is not an abort rule" WRITE_INSTEAD},
        {"errors > 5% for 3s",
         "'errors > 5% for 3s' is not an abort rule" WRITE_INSTEAD},
        {"errors > 5% over 3s 4s",
         "'errors > 5% over 3s 4s' is not an abort rule" WRITE_INSTEAD},
        {"errors > 100%",
         "errors > 100% is never true; write a share below 100%"},
        {"errors > 5% over 0s",
         "over 0s: the time must be whole seconds, from 1s to 1h"},
        {"errors > 5% over 1500ms",
         "over 1500ms: the time must be whole seconds, from 1s to 1h"},
        {"errors > 5% over 61m",
         "over 61m: the time must be whole seconds, from 1s to 1h"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};

        assert_int_equal(abort_check(cases[i].text, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, cases[i].want);
    }
    for (int i = 0; i < 2; i++) {
        struct err err = {0};

        assert_int_equal(
            abort_check(i ? "errors > x" : "errors > 5% over x", &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
    }
}

static const struct {
    const char *rule;
    /* Requests that end in each second, and those of them that fail. */
    struct abort_counts seconds[MAX_SECONDS];
    int aborts_in; /* second, from 1 */
    const char *why;
} runs[] = {
    {"errors > 50% over 2s", {{10, 5}, {10, 5}, {10, 5}}, NEVER, ""},
    {"errors > 50% over 2s",
     {{10, 5}, {10, 6}},
     2,
     "errors > 50%: 55% of 20 requests in 2s"},
    {"errors > 50% over 2s",
     {{100, 0}, {100, 10}, {100, 90}, {100, 10}},
     NEVER,
     ""}, /* never more than half of any two */
    {"errors > 50% over 2s",
     {{1000, 0}, {100, 20}, {100, 90}},
     3,
     "errors > 50%: 55% of 200 requests in 2s"}, /* the first is gone */
    {"errors > 50% over 3s",
     {{100, 90}},
     1,
     "errors > 50%: 90% of 100 requests in 1s"}, /* soon enough */
    {"errors > 50%", {{9, 9}}, NEVER, ""},       /* too few */
    {"errors > 50%",
     {{4, 4}, {0, 0}, {5, 5}, {1, 0}},
     4,
     "errors > 50%: 90% of 10 requests in 4s"},
    {"errors > 50% over 1s", {{5, 5}, {5, 5}, {5, 5}}, NEVER, ""},
    {"errors > 57% over 1s", {{100, 57}}, NEVER, ""}, /* no rounding */
    {"errors > 0%", {{1000, 0}, {1000, 0}}, NEVER, ""},
    {"errors > 0% over 2s",
     {{1000, 0}, {1000, 1}},
     2,
     "errors > 0%: 0.05% of 2000 requests in 2s"},
    {"errors > 10%", {{0, 0}, {0, 0}}, NEVER, ""},
};

/* The second in which it aborts, and why. */
static int aborts_in(size_t run, char why[static ABORT_TEXT])
{
    struct abort_counts so_far = {0};
    struct abort_finding found = {0};
    struct abort_window w;
    struct abort_rule rule;
    struct err err = {0};
    int s = 0;

    assert_int_equal(abort_parse(runs[run].rule, &rule, &err), 0);
    abort_window_init(&w, &rule);
    while (s < MAX_SECONDS && !found.is_exceeded) {
        so_far.ended += runs[run].seconds[s].ended;
        so_far.failed += runs[run].seconds[s].failed;
        found = abort_window_add(&w, so_far);
        s++;
    }
    abort_window_fini(&w);
    if (!found.is_exceeded)
        return NEVER;
    abort_describe(&rule, &found, why);
    return s;
}

TEST(the_last_seconds_decide)
{
    for (size_t i = 0; i < COUNT(runs); i++) {
        char why[ABORT_TEXT] = "";

        if (aborts_in(i, why) != runs[i].aborts_in)
            fail_msg("run %zu", i);
        assert_string_equal(why, runs[i].why);
    }
}
