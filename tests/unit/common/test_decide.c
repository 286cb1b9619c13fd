/* A queue in virtual time, of which theory knows the percentiles. */
#include <math.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/measure/decide.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"

/* ---- what it comes to ---- */

#define SERVICE_S 0.02

struct outcome_of {
    enum decision decision;
    double after_s;
};

/* An M/M/1 queue of load rho and a limit at which a share of `over` miss it:
 * sojourn times are exponential. */
static struct outcome_of simulate(uint64_t seed, double rho, double over,
                                  double until_s)
{
    double limit_s = -log(over) * SERVICE_S / (1 - rho);
    struct slo slo = slo_of("e2e p99 < 1s");
    struct rng arrival = rng_stream(seed, RNG_ARRIVAL);
    struct rng service = rng_stream(seed, RNG_SERVICE);
    struct err err = {0};
    struct decide d;
    double due_s = 0;
    double free_s = 0;
    int64_t seq = 0;
    struct outcome_of out;

    slo.terms[0].limit_ns = (int64_t)(limit_s * 1e9);
    assert_int_equal(decide_init(&d, &slo, 0, &err), 0);
    while (due_s < until_s && !d.decision) {
        struct facts f;

        due_s += rng_exponential(&arrival) * SERVICE_S / rho;
        free_s = fmax(free_s, due_s) + rng_exponential(&service) * SERVICE_S;
        f = row_ok(seq++, 0, 1);
        f.due = f.issued = f.sent = (int64_t)(due_s * 1e9);
        f.last = f.end = (int64_t)(free_s * 1e9);
        decide_add(&d, &f);
    }
    out = (struct outcome_of){d.decision, due_s};
    decide_fini(&d);
    return out;
}

/* A server exactly at the limit may pass by chance in 5 % of runs, however
 * often one looks: of 300, 15; more than 27 has a chance of one in a thousand.
 */
TEST(a_server_at_the_limit_seldom_passes)
{
    int passed = 0;
    int failed = 0;

    for (uint64_t seed = 1; seed <= 300; seed++) {
        enum decision found = simulate(seed, 0.7, 0.01, 600).decision;

        passed += found == DECISION_PASS;
        failed += found == DECISION_FAIL;
    }
    print_message("at the limit: %d passed, %d failed of 300\n", passed,
                  failed);
    assert_in_range(passed, 0, 27);
    assert_in_range(failed, 0, 27);
}

/* A twentieth of the misses that are allowed, and eight times as many. */
TEST(a_clear_case_is_decided_early)
{
    int passed = 0;
    int failed = 0;
    double pass_s = 0;
    double fail_s = 0;

    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct outcome_of good = simulate(seed, 0.7, 0.0005, 1300);
        struct outcome_of bad = simulate(seed, 0.7, 0.08, 1300);

        passed += good.decision == DECISION_PASS;
        failed += bad.decision == DECISION_FAIL;
        pass_s += good.after_s / 50;
        fail_s += bad.after_s / 50;
    }
    print_message("passed %d of 50 after %.0f s, failed %d of 50 after %.0f s "
                  "of 1300\n",
                  passed, pass_s, failed, fail_s);
    assert_in_range(passed, 45, 50);
    assert_in_range(failed, 45, 50);
}

/* Of a thousand requests per minute, how many must be slow for the run to be
 * decided as failed within that minute? */
static int64_t slow_to_fail(const char *terms)
{
    struct slo slo = slo_of(terms);

    for (int64_t slow = 1; slow <= 1000; slow++) {
        struct err err = {0};
        struct decide d;
        bool has_failed;

        assert_int_equal(decide_init(&d, &slo, 0, &err), 0);
        for (int64_t i = 0; i < 1000; i++) {
            bool is_slow = i * slow / 1000 != (i + 1) * slow / 1000;
            struct facts f = row_ok(i, i * 60, is_slow ? 2000 : 1);

            decide_add(&d, &f);
        }
        decide_end(&d);
        has_failed = d.decision == DECISION_FAIL;
        decide_fini(&d);
        if (has_failed)
            return slow;
    }
    return -1;
}

/* One of several terms is enough to fail, so that they share the error of it.
 */
TEST(terms_share_the_error_of_failing)
{
    int64_t one = slow_to_fail("e2e p99 < 1s");
    int64_t four =
        slow_to_fail("e2e p99 < 1s, e2e p99 < 3s, ttft p99 < 3s, errors < 1%");

    assert_in_range(one, 15, 40);
    assert_in_range(four, one + 1, 50);
}

/* A thousand requests within a minute, of which some had not ended when the run
 * was cut: they are misses for a pass and kept for a fail, unless they had
 * waited too long already. */
TEST(unfinished_requests_are_judged_both_ways)
{
    static const struct {
        const char *slo;
        int64_t unfinished;
        int64_t waited_ms;
        enum decision want;
    } cases[] = {
        {"e2e p90 < 1s", 0, 0, DECISION_PASS},
        {"e2e p90 < 1s", 20, 1, DECISION_PASS},
        {"e2e p90 < 1s", 90, 1, DECISION_NONE},
        {"e2e p90 < 1s", 500, 1, DECISION_NONE},
        {"e2e p90 < 1s", 500, 2000, DECISION_FAIL},
        {"ttft p90 < 1s", 500, 1, DECISION_NONE},
        {"ttft p90 < 1s", 500, 2000, DECISION_FAIL},
        {"errors < 10%", 20, 2000, DECISION_PASS},
        {"errors < 10%", 500, 2000, DECISION_NONE},
    };

    for (size_t k = 0; k < COUNT(cases); k++) {
        struct slo slo = slo_of(cases[k].slo);
        int64_t n = cases[k].unfinished;
        struct err err = {0};
        struct decide d;

        assert_int_equal(decide_init(&d, &slo, 0, &err), 0);
        for (int64_t i = 0; i < 1000; i++) {
            struct facts f = row_ok(i, i * 60, 1);

            if (i * n / 1000 != (i + 1) * n / 1000)
                f = row_failed(i, i * 60, cases[k].waited_ms,
                               OUTCOME_UNFINISHED);
            decide_add(&d, &f);
        }
        decide_end(&d);
        if (d.decision != cases[k].want)
            print_error("case %zu: %d, %s\n", k, (int)d.decision, d.why);
        assert_int_equal(d.decision, cases[k].want);
        decide_fini(&d);
    }
}

/* ---- the order of rows ---- */

/* Then nothing can be decided, and later rows are not kept. */
TEST(a_missing_row_ends_the_test)
{
    struct slo slo = slo_of("e2e p90 < 1s");
    struct err err = {0};
    struct decide d;

    assert_int_equal(decide_init(&d, &slo, 0, &err), 0);
    for (int64_t i = 1; i < 3000000; i++) {
        struct facts f = row_ok(i, i / 100, 1);

        decide_add(&d, &f);
    }
    assert_true(d.has_given_up);
    assert_true(d.n_waiting < 3000000);
    decide_end(&d);
    assert_int_equal(d.decision, DECISION_NONE);
    decide_fini(&d);
}

TEST(the_first_request_may_come_late)
{
    struct slo slo = slo_of("e2e p90 < 1s");
    struct facts f = row_ok(0, 60000, 1);
    struct err err = {0};
    struct decide d;

    assert_int_equal(decide_init(&d, &slo, 0, &err), 0);
    decide_add(&d, &f);
    assert_int_equal(d.decision, DECISION_NONE);
    decide_fini(&d);
}

/* Rows come as requests end: any order gives the same, since they are taken in
 * that of the schedule. */
TEST(the_order_of_rows_does_not_matter)
{
    static const int64_t strides[] = {1, 7, 501};
    char why[COUNT(strides)][DECIDE_TEXT];

    for (size_t k = 0; k < COUNT(strides); k++) {
        const int64_t n = 40000; /* prime to the strides */
        struct slo slo = slo_of("e2e p90 < 50ms");
        struct err err = {0};
        struct decide d;

        assert_int_equal(decide_init(&d, &slo, 2 * NS_PER_S, &err), 0);
        for (int64_t i = 0; i < n; i++) {
            int64_t seq = i * strides[k] % n;
            struct facts f = row_ok(seq, seq, seq % 3 == 0 ? 60 : 40);

            decide_add(&d, &f);
        }
        assert_int_equal(d.decision, DECISION_FAIL);
        memcpy(why[k], d.why, sizeof(why[k]));
        assert_string_equal(why[k], why[0]);
        decide_fini(&d);
    }
}

TEST(other_terms_are_refused)
{
    static const char *const terms[] = {"good >= 90%", "gap p99 < 3ms",
                                        "goodput >= 3/s", "quality >= 0.9"};

    for (size_t i = 0; i < COUNT(terms); i++) {
        struct slo slo = slo_of(terms[i]);
        struct err err = {0};
        struct decide d;

        assert_int_equal(decide_init(&d, &slo, 0, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_non_null(strstr(err.msg, terms[i]));
    }
}
