/* Which limits a request has, and whether it keeps them. */
#include <stdbool.h>

#include "common/base/clk.h"
#include "common/measure/good.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"

TEST(the_highest_quantile_gives_the_limit)
{
    static const struct {
        const char *slo;
        int64_t e2e_ms;
        int64_t lag_ms;
    } cases[] = {
        {"", 0, 0},
        {"errors < 1%,good >= 90%,goodput >= 4/s", 0, 0},
        {"e2e p99 < 20ms", 20, 0},
        {"e2e p50 < 5ms,e2e p99 < 20ms,lag p90 < 1ms", 20, 1},
        {"e2e p99 < 20ms,e2e p50 < 5ms", 20, 0},
        {"e2e:7,e2e p99.99 < 20ms", 7, 0},
        {"gap p99 < 1ms,itl p99 < 1ms,quality >= 1", 0, 0},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct slo slo = slo_of(cases[i].slo);
        int64_t limit_ns[GOOD_LIMITS] = {7, 7, 7, 7, 7, 7};

        good_limits(&slo, limit_ns);
        assert_int_equal(limit_ns[MEASURE_E2E], cases[i].e2e_ms * NS_PER_MS);
        assert_int_equal(limit_ns[MEASURE_LAG], cases[i].lag_ms * NS_PER_MS);
        assert_int_equal(limit_ns[MEASURE_TTFT], 0);
        assert_int_equal(limit_ns[MEASURE_GAP], 0);
    }
}

/* Issued when due, sent a millisecond later. */
TEST(good_is_ok_within_every_limit)
{
    static const struct {
        const char *slo;
        enum outcome outcome;
        int64_t e2e_ms;
        bool is_fresh;
        bool want;
    } cases[] = {
        {"", OUTCOME_OK, 50, false, true},
        {"", OUTCOME_STATUS, 5, false, false},
        {"e2e p99 < 20ms", OUTCOME_OK, 19, false, true},
        {"e2e p99 < 20ms", OUTCOME_OK, 20, false, false}, /* strictly below */
        {"e2e p99 < 20ms", OUTCOME_RESET, 5, false, false},
        {"e2e p99 < 20ms,ttft p99 < 10ms", OUTCOME_OK, 15, false, false},
        {"lag p99 < 1ms", OUTCOME_OK, 15, false, true},
        {"connect p99 < 1ms", OUTCOME_OK, 15, false, true}, /* not concerned */
        {"connect p99 < 1ms", OUTCOME_OK, 15, true, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct slo slo = slo_of(cases[i].slo);
        int64_t limit_ns[GOOD_LIMITS];
        struct facts f = row_ok(0, 100, cases[i].e2e_ms);

        f.outcome = cases[i].outcome;
        f.is_fresh = cases[i].is_fresh;
        good_limits(&slo, limit_ns);
        if (good_is(limit_ns, &f) != cases[i].want)
            fail_msg("case %zu", i);
    }
}

/* A wrong answer is a good request, unless it was said that it is not. */
TEST(a_wrong_answer_is_good_where_checks_are_not_required)
{
    static const struct {
        const char *slo;
        enum answer_check check;
        bool want;
    } cases[] = {
        {"", CHECK_FAILED, true},
        {"quality >= 0.9", CHECK_FAILED, true},
        {"check: required", CHECK_FAILED, false},
        {"check: required", CHECK_PASSED, true},
        {"check: required", CHECK_NONE, true},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct slo slo = slo_of(cases[i].slo);
        int64_t limit_ns[GOOD_LIMITS];
        struct facts f = row_ok(0, 100, 50);

        f.check = cases[i].check;
        good_limits(&slo, limit_ns);
        if (good_is(limit_ns, &f) != cases[i].want)
            fail_msg("case %zu", i);
    }
}

/* What a short stream does not have is not held against it; a failure is. */
TEST(measures_of_streams_may_be_lacking)
{
    static const enum measure measures[] = {MEASURE_TPOT, MEASURE_STALL,
                                            MEASURE_TAIL};
    struct slo slo = slo_of("tpot:1,stall:1,tail:1");
    int64_t limit_ns[GOOD_LIMITS];

    good_limits(&slo, limit_ns);
    for (size_t i = 0; i < COUNT(measures); i++) {
        struct facts f = row_ok(0, 100, 50);

        assert_true(good_lacks(measures[i], &f));
        assert_false(good_concerns(measures[i], &f));
        assert_true(good_is(limit_ns, &f));
        f.outcome = OUTCOME_TRUNCATED;
        assert_false(good_lacks(measures[i], &f));
        assert_true(good_concerns(measures[i], &f));
        assert_false(good_keeps(measures[i], &f, NS_PER_S));
    }
}
