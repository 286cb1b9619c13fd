/* What is left of a run that was killed: nothing is made up, nothing is lost.
 */
#include <math.h>
#include <stdbool.h>

#include "analyzer/tally/summary.h"
#include "cli/exit_status.h"
#include "common/base/clk.h"
#include "tests/support/maderun.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* 0 to 95 and 99 are there; 96 to 98 were in flight.  What a run that was
 * killed would have come to is not known, unless it has failed already. */
TEST(gaps_of_a_killed_run_are_unfinished)
{
    static const struct {
        const char *slo;
        enum verdict want;
        int code;
    } cases[] = {
        {"", VERDICT_NONE, 4},
        {"e2e p90 < 10ms", VERDICT_UNDECIDED, 4}, /* would pass */
        {"e2e p98 < 10ms", VERDICT_UNDECIDED, 4},
        {"good >= 98%", VERDICT_UNDECIDED, 4},
        {"errors < 1%", VERDICT_UNDECIDED, 4},
        {"errors < 4%", VERDICT_UNDECIDED, 4}, /* would pass */
        {"e2e p50 < 1ms", VERDICT_FAIL, 1},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_run *m = made_run_new(0, 60000, cases[i].slo);
        struct read_run *r;

        m->was_killed = true;
        made_run_add_fast(m, 0, 96);
        made_run_add(m, row_ok(99, 990, 5));
        r = made_run_sum_up(m, NULL);
        assert_true(r->s.integrity.was_killed);
        assert_int_equal(r->s.integrity.lost_requests, 3);
        assert_int_equal(r->s.scheduled, 100);
        assert_int_equal(r->s.outcome[OUTCOME_UNFINISHED], 3);
        assert_int_equal(r->s.failed, 3);
        assert_true(fabs(r->s.window_length_s - 0.99) < 1e-6);
        assert_int_equal(r->s.verdict, cases[i].want);
        assert_int_equal(exit_status_of_run(&r->s), cases[i].code);
        assert_int_equal(r->s.stopped_by, 0);
        read_run_free(r);
    }
}

/* The server stood still when the client was killed: what it had issued since
 * leaves no gap, but the client wrote down how far it had got. */
TEST(the_end_of_a_killed_run_is_known)
{
    struct made_run *m = made_run_new(0, 60000, "e2e p50 < 10ms");
    struct read_run *r;

    m->was_killed = true;
    made_run_add_fast(m, 0, 100);
    m->seen[0] = (struct observation){
        .at = 4 * NS_PER_S, .issued = 390, .unsent = 10, .done = 100};
    r = made_run_sum_up(m, NULL);
    assert_int_equal(r->s.scheduled, 400);
    assert_int_equal(r->s.ok, 100);
    assert_int_equal(r->s.outcome[OUTCOME_UNFINISHED], 300);
    assert_true(r->s.window_length_s == 4);
    assert_int_equal(r->s.verdict, VERDICT_UNDECIDED);
    assert_int_equal(exit_status_of_run(&r->s), 4);
    read_run_free(r);
}

/* Three workers, of which each looked at itself at a time of its own.  The rows
 * are 0, 3, 6, ... of worker 0 alone: the others stood still. */
TEST(three_workers_are_killed)
{
    static const struct {
        bool is_closed;
        int64_t rows; /* of worker 0 */
        int64_t at_ms[3];
        int64_t taken[3];
        int64_t scheduled;
        double length_s;
    } cases[] = {
        /* 21 is the last place seen: 22 in all; more is not known */
        {false, 8, {0, 0, 0}, {0, 0, 0}, 22, 0.07},
        {true, 8, {0, 0, 0}, {0, 0, 0}, 8, 0.07},
        /* counts of all of them; the time up to which all are known */
        {false, 8, {3000, 2900, 4000}, {30, 29, 40}, 99, 2.9},
        {true, 8, {3000, 2900, 4000}, {30, 29, 40}, 99, 2.9},
        /* worker 0 got further than it wrote down, worker 2 said nothing */
        {false, 100, {500, 600, 0}, {50, 60, 0}, 298, 0.99},
        {true, 100, {500, 600, 0}, {50, 60, 0}, 160, 0.99},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_run *m = made_run_new(0, 60000, "");
        struct read_run *r;

        m->was_killed = true;
        m->threads = 3;
        m->is_closed = cases[i].is_closed;
        for (int64_t k = 0; k < cases[i].rows; k++)
            made_run_add(m, row_ok(3 * k, 10 * k, 5));
        for (size_t k = 0; k < 3; k++)
            m->seen[k] =
                (struct observation){.at = cases[i].at_ms[k] * NS_PER_MS,
                                     .issued = cases[i].taken[k]};
        r = made_run_sum_up(m, NULL);
        assert_int_equal(r->s.scheduled, cases[i].scheduled);
        assert_int_equal(r->s.integrity.lost_requests,
                         cases[i].scheduled - cases[i].rows);
        if (fabs(r->s.window_length_s - cases[i].length_s) > 1e-6)
            print_error("case %zu: %g s\n", i, r->s.window_length_s);
        assert_true(fabs(r->s.window_length_s - cases[i].length_s) <= 1e-6);
        assert_int_equal(r->s.threads, 3);
        read_run_free(r);
    }
}

TEST(killed_in_its_warm_up)
{
    static const char *const slos[] = {"", "e2e p99 < 10ms"};

    for (size_t i = 0; i < COUNT(slos); i++) {
        struct made_run *m = made_run_new(5000, 60000, slos[i]);
        struct read_run *r;

        m->was_killed = true;
        made_run_add_fast(m, 0, 10);
        made_run_add(m, row_ok(19, 190, 5));
        r = made_run_sum_up(m, NULL);
        assert_int_equal(r->s.integrity.lost_requests, 9);
        assert_int_equal(r->s.scheduled, 0);
        assert_int_equal(r->s.warmup_requests, 20);
        assert_true(r->s.window_length_s == 0);
        assert_int_equal(r->s.verdict, i ? VERDICT_UNDECIDED : VERDICT_NONE);
        assert_int_equal(exit_status_of_run(&r->s), 4);
        read_run_free(r);
    }
}

TEST(nothing_recorded_at_all)
{
    for (int killed = 0; killed < 2; killed++) {
        struct made_run *m = made_run_new(0, 1000, "e2e p99 < 10ms");
        struct read_run *r;

        m->was_killed = killed;
        r = made_run_sum_up(m, NULL);
        assert_int_equal(r->s.scheduled, 0);
        assert_int_equal(r->s.integrity.lost_requests, 0);
        assert_int_equal(r->s.verdict, VERDICT_UNDECIDED);
        assert_int_equal(exit_status_of_run(&r->s), 4);
        read_run_free(r);
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
