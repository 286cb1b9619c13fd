#include <math.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/spec/fault.h"
#include "tests/support/test.h"

/* ---- as people write it ---- */

static const struct {
    const char *text;
    struct fault want;
} good[] = {
    {"reset", {FAULT_RESET, 0, 1, 0, 0, 0, INT64_MAX}},
    {"  reset  ", {FAULT_RESET, 0, 1, 0, 0, 0, INT64_MAX}},
    {"status=503 p=1%", {FAULT_STATUS, 503, 0.01, 0, 0, 0, INT64_MAX}},
    {"status=300 p=0", {FAULT_STATUS, 300, 0, 0, 0, 0, INT64_MAX}},
    {"status=599", {FAULT_STATUS, 599, 1, 0, 0, 0, INT64_MAX}},
    {"status=1", {FAULT_STATUS, 1, 1, 0, 0, 0, INT64_MAX}},
    {"status=16", {FAULT_STATUS, 16, 1, 0, 0, 0, INT64_MAX}},
    {"inband every=100", {FAULT_INBAND, 0, 1, 0, 100, 0, INT64_MAX}},
    {"truncated n=7", {FAULT_TRUNCATED, 0, 1, 7, 0, 0, INT64_MAX}},
    {"hang=2s from=10s to=12s",
     {FAULT_HANG, 2 * NS_PER_S, 1, 0, 0, 10 * NS_PER_S, 12 * NS_PER_S}},
    {"hang=0 to=1ms", {FAULT_HANG, 0, 1, 0, 0, 0, NS_PER_MS}},
    {"malformed", {FAULT_MALFORMED, 0, 1, 0, 0, 0, INT64_MAX}},
    {"empty", {FAULT_EMPTY, 0, 1, 0, 0, 0, INT64_MAX}},
    {"double-done", {FAULT_DOUBLE_DONE, 0, 1, 0, 0, 0, INT64_MAX}},
    {"no-done", {FAULT_NO_DONE, 0, 1, 0, 0, 0, INT64_MAX}},
    {"role-first", {FAULT_ROLE_FIRST, 0, 1, 0, 0, 0, INT64_MAX}},
    {"bundle=4", {FAULT_BUNDLE, 4, 1, 0, 0, 0, INT64_MAX}},
    {"burst", {FAULT_BURST, 0, 1, 0, 0, 0, INT64_MAX}},
    {"no-usage", {FAULT_NO_USAGE, 0, 1, 0, 0, 0, INT64_MAX}},
    {"slow-accept=1ms p=50% n=3 every=2 from=1s to=2s",
     {FAULT_SLOW_ACCEPT, NS_PER_MS, 0.5, 3, 2, NS_PER_S, 2 * NS_PER_S}},
    {"no-events", {FAULT_NO_EVENTS, 0, 1, 0, 0, 0, INT64_MAX}},
    {"wrong-type", {FAULT_WRONG_TYPE, 0, 1, 0, 0, 0, INT64_MAX}},
    {"coalesced=3", {FAULT_COALESCED, 3, 1, 0, 0, 0, INT64_MAX}},
    {"endless=64MiB", {FAULT_ENDLESS, 64 << 20, 1, 0, 0, 0, INT64_MAX}},
    {"wrong-usage=7", {FAULT_WRONG_USAGE, 7, 1, 0, 0, 0, INT64_MAX}},
    {"wrong-finish", {FAULT_WRONG_FINISH, 0, 1, 0, 0, 0, INT64_MAX}},
    {"length=2", {FAULT_LENGTH, 2, 1, 0, 0, 0, INT64_MAX}},
};

TEST(good_faults_are_read)
{
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct fault got;
        struct err err = {0};

        assert_int_equal(fault_parse(good[i].text, &got, &err), 0);
        assert_int_equal(err.code, ERR_NONE);
        assert_int_equal(got.kind, good[i].want.kind);
        assert_int_equal(got.param, good[i].want.param);
        assert_true(got.share == good[i].want.share);
        assert_int_equal(got.nth, good[i].want.nth);
        assert_int_equal(got.every, good[i].want.every);
        assert_int_equal(got.from_ns, good[i].want.from_ns);
        assert_int_equal(got.to_ns, good[i].want.to_ns);
        assert_int_equal(fault_check(good[i].text, &err), 0);
    }
}

TEST(every_kind_has_a_name_that_is_read_back)
{
    for (int k = 0; k < FAULT_KINDS; k++) {
        bool is_good = false;

        assert_non_null(fault_name((enum fault_kind)k));
        for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
            is_good |= (int)good[i].want.kind == k &&
                       strstr(good[i].text, fault_name((enum fault_kind)k));
        assert_true(is_good);
    }
}

#define CONDITIONS                                                             \
    " is not a condition of a fault; write p=1%, n=7, every=100, from=10s or " \
    "to=12s"

TEST(bad_faults_are_refused)
{
    static const struct {
        const char *text;
        const char *want;
    } cases[] = {
        {"", "the fault is empty"},
        {"   ", "the fault is empty"},
        {"rest", "unknown fault 'rest'; did you mean 'reset'?"},
        {"p=1%", "unknown fault 'p'"},
        {"Reset", "unknown fault 'Reset'; did you mean 'reset'?"},
        {"reset=1", "fault 'reset' takes no value"},
        {"reset=", "fault 'reset' takes no value"},
        {"status", "fault 'status' requires a value"},
        {"hang", "fault 'hang' requires a value"},
        {"hang n=1", "fault 'hang' requires a value"},
        {"status=", "'' is not a count; write 1000, 10k or 1M"},
        {"status=299",
         "fault 'status' must be 300 to 599, or 1 to 16 for gRPC"},
        {"status=600",
         "fault 'status' must be 300 to 599, or 1 to 16 for gRPC"},
        {"status=17", "fault 'status' must be 300 to 599, or 1 to 16 for gRPC"},
        {"status=0", "fault 'status' must be 300 to 599, or 1 to 16 for gRPC"},
        {"bundle=0", "fault 'bundle' must be 1 token or more"},
        {"coalesced=0", "fault 'coalesced' must be 1 event or more"},
        {"endless=0", "fault 'endless' must be 1 byte to 64 MiB"},
        {"endless=65MiB", "fault 'endless' must be 1 byte to 64 MiB"},
        {"length=0", "fault 'length' must be 1 to 1M tokens"},
        {"length=2M", "fault 'length' must be 1 to 1M tokens"},
        {"bundle=x", "'x' is not a count; write 1000, 10k or 1M"},
        {"hang=2", "'2' is not a duration; write 500ms, 2s or 1h30m"},
        {"reset p", "'p'" CONDITIONS},
        {"reset p=2", "'2' is not a share of 0 to 100%; write 0.1% or 0.001"},
        {"reset n=-1", "'-1' is not a count; write 1000, 10k or 1M"},
        {"reset n=0", "the number of a request is 1 or more"},
        {"reset every=0", "the number of a request is 1 or more"},
        {"reset often=1", "'often'" CONDITIONS},
        {"reset inband", "'inband'" CONDITIONS},
        {"reset from=x", "'x' is not a duration; write 500ms, 2s or 1h30m"},
        {"reset to=0", "fault 'reset': 'from' must be before 'to'"},
        {"reset from=2s to=1s", "fault 'reset': 'from' must be before 'to'"},
        {"reset,p=1%", "unknown fault 'reset,p'; did you mean 'reset'?"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fault fault;
        struct err err = {0};

        assert_int_equal(fault_parse(cases[i].text, &fault, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, cases[i].want);
    }
}

TEST(a_plan_has_room_for_sixteen)
{
    struct strlist texts = {0};
    struct fault_plan plan;
    struct err err = {0};

    for (int i = 0; i < FAULT_MAX; i++)
        strlist_add(&texts, "reset");
    assert_int_equal(fault_plan_parse(&texts, &plan, &err), 0);
    assert_int_equal(plan.len, FAULT_MAX);
    strlist_add(&texts, "reset");
    assert_int_equal(fault_plan_parse(&texts, &plan, &err), -1);
    assert_string_equal(err.msg, "more than 16 faults");
    strlist_fini(&texts);
}

/* ---- when it strikes ---- */

/* Texts up to a NULL. */
static struct fault_plan plan_of(const char *const *texts)
{
    struct fault_plan plan = {0};
    struct err err = {0};

    for (; *texts; texts++)
        assert_int_equal(fault_parse(*texts, &plan.faults[plan.len++], &err),
                         0);
    return plan;
}

#define PLAN(...) plan_of((const char *const[]){__VA_ARGS__, NULL})

static bool strikes(const struct fault_plan *plan, int64_t nth, int64_t ms,
                    enum fault_kind kind)
{
    struct rng rng = rng_stream(1, RNG_FAULT);
    struct fault_set set = fault_draw(plan, nth, ms * NS_PER_MS, &rng);

    return fault_has(&set, kind);
}

TEST(conditions_must_all_hold)
{
    static const struct {
        const char *text;
        int64_t nth;
        int64_t ms;
        bool want;
    } cases[] = {
        {"reset", 1, 0, true},
        {"reset p=0", 1, 0, false},
        {"reset n=3", 2, 0, false},
        {"reset n=3", 3, 0, true},
        {"reset n=3", 4, 0, false},
        {"reset n=3", 6, 0, false},
        {"reset every=3", 1, 0, false},
        {"reset every=3", 3, 0, true},
        {"reset every=3", 4, 0, false},
        {"reset every=3", 6, 0, true},
        {"reset from=10ms", 1, 9, false},
        {"reset from=10ms", 1, 10, true},
        {"reset to=20ms", 1, 19, true},
        {"reset to=20ms", 1, 20, false},
        {"reset every=2 from=10ms to=20ms", 4, 15, true},
        {"reset every=2 from=10ms to=20ms", 5, 15, false},
        {"reset every=2 from=10ms to=20ms", 4, 25, false},
        {"reset every=2 n=4", 4, 0, true},
        {"reset every=2 n=3", 3, 0, false},
        {"reset n=1 p=0", 1, 0, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fault_plan plan = PLAN(cases[i].text);

        assert_int_equal(strikes(&plan, cases[i].nth, cases[i].ms, FAULT_RESET),
                         cases[i].want);
    }
}

/* The count of n draws is binomial: five of its deviations are a false alarm
 * in 2 million, and the seed is fixed. */
TEST(a_probability_is_kept)
{
    static const struct {
        const char *text;
        double share;
    } cases[] = {
        {"reset p=0.1%", 0.001},
        {"reset p=1%", 0.01},
        {"reset p=50%", 0.5},
        {"reset p=99%", 0.99},
    };
    const int n = 1000000;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fault_plan plan = PLAN(cases[i].text);
        struct rng rng = rng_stream(7, RNG_FAULT);
        double p = cases[i].share;
        int hits = 0;

        for (int k = 1; k <= n; k++) {
            struct fault_set set = fault_draw(&plan, k, 0, &rng);

            hits += fault_has(&set, FAULT_RESET);
        }
        assert_true(fabs(hits - n * p) <= 5 * sqrt(n * p * (1 - p)));
    }
}

TEST(several_may_strike_at_once)
{
    struct fault_plan plan =
        PLAN("status=503 every=2", "hang=2s every=3", "bundle=4", "empty n=5");
    struct rng rng = rng_stream(1, RNG_FAULT);

    for (int nth = 1; nth <= 12; nth++) {
        struct fault_set set = fault_draw(&plan, nth, 0, &rng);

        assert_int_equal(fault_has(&set, FAULT_STATUS), nth % 2 == 0);
        assert_int_equal(set.param[FAULT_STATUS], nth % 2 == 0 ? 503 : 0);
        assert_int_equal(fault_has(&set, FAULT_HANG), nth % 3 == 0);
        assert_int_equal(set.param[FAULT_HANG],
                         nth % 3 == 0 ? 2 * NS_PER_S : 0);
        assert_true(fault_has(&set, FAULT_BUNDLE));
        assert_int_equal(set.param[FAULT_BUNDLE], 4);
        assert_int_equal(fault_has(&set, FAULT_EMPTY), nth == 5);
        assert_false(fault_has(&set, FAULT_RESET));
    }
}

/* The same seed, the same faults; and those of one line do not depend on
 * whether another line's conditions hold. */
TEST(draws_are_seeded_and_do_not_disturb_each_other)
{
    struct fault_plan always = PLAN("empty p=50%", "reset p=50%");
    struct fault_plan seldom = PLAN("empty p=50% every=10", "reset p=50%");
    struct rng a = rng_stream(3, RNG_FAULT);
    struct rng b = rng_stream(3, RNG_FAULT);
    struct rng other = rng_stream(4, RNG_FAULT);
    int differ = 0;

    for (int nth = 1; nth <= 1000; nth++) {
        struct fault_set x = fault_draw(&always, nth, 0, &a);
        struct fault_set y = fault_draw(&seldom, nth, 0, &b);
        struct fault_set z = fault_draw(&always, nth, 0, &other);

        assert_int_equal(fault_has(&x, FAULT_RESET),
                         fault_has(&y, FAULT_RESET));
        if (nth % 10 == 0)
            assert_int_equal(x.kinds, y.kinds);
        differ += x.kinds != z.kinds;
    }
    assert_true(differ > 0);
}
