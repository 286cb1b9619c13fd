/* Whole recordings of the scenarios: windows, rates, queries, and what becomes
 * of one that was killed or cut. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "analyzer/tally/summary.h"
#include "common/base/clk.h"
#include "tests/support/maderun.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MS NS_PER_MS

static const struct check *check_of(const struct read_run *r, const char *name)
{
    for (size_t i = 0; i < r->s.trust.len; i++) {
        if (strcmp(r->s.trust.checks[i].name, name) == 0)
            return &r->s.trust.checks[i];
    }
    return NULL;
}

/* n requests, one after the other on one connection, 10 ms each. */
static struct made_run *offline_run(int64_t n, const char *slo)
{
    struct made_run *m = made_run_new(0, 0, slo);

    m->scenario = SCENARIO_OFFLINE;
    m->requests = n;
    for (int64_t i = 0; i < n; i++) {
        struct facts f = row_ok(i, 0, 10 * (i + 1));

        f.issued = 10 * i * MS;
        made_run_add(m, f);
    }
    m->end.due_end_ns = 10 * n * MS + 1;
    return m;
}

/* Samples by the time of the last answer; that they waited for each other is
 * not lateness. */
TEST(offline_is_all_by_the_last_answer)
{
    struct read_run *r =
        made_run_sum_up(offline_run(200, "e2e p90 < 10s"), NULL);

    assert_int_equal(r->s.scheduled, 200);
    assert_true(fabs(r->s.window_length_s - 2) < 1e-6);
    assert_true(fabs(r->s.throughput_rps - 100) < 1e-3);
    assert_true(r->s.trust.valid);
    assert_null(check_of(r, "lag p50"));
    assert_null(check_of(r, "lag p99"));
    assert_null(check_of(r, "pace"));
    assert_null(check_of(r, "rate"));
    assert_int_equal(r->s.verdict, VERDICT_PASS);
    assert_false(r->s.cut_by_max_duration);
    assert_true(r->s.mlperf.is_rate);
    read_run_free(r);
}

/* Those whose turn did not come are not the client's fault; they count. */
TEST(offline_that_is_cut_says_so)
{
    struct made_run *m = offline_run(100, "errors < 1%");
    struct read_run *r;

    m->requests = 150;
    m->max_duration_ms = 1000;
    for (int64_t i = 100; i < 150; i++)
        made_run_add(m, row_unsent(i, 0));
    m->end.due_end_ns = 1000 * MS + 1000;
    r = made_run_sum_up(m, NULL);
    assert_int_equal(r->s.scheduled, 150);
    assert_int_equal(r->s.unsent, 50);
    assert_true(r->s.cut_by_max_duration);
    assert_true(r->s.window_length_s == 1);
    assert_true(r->s.trust.valid);
    assert_false(check_of(r, "unsent")->ok);
    assert_int_equal(r->s.verdict, VERDICT_FAIL);
    read_run_free(r);
}

/* All were due, whether or not anything is left of them; it got as far as its
 * last answer. */
TEST(offline_that_was_killed)
{
    struct made_run *m = offline_run(100, "");
    struct read_run *r;

    m->requests = 150;
    m->was_killed = true;
    r = made_run_sum_up(m, NULL);
    assert_int_equal(r->s.scheduled, 150);
    assert_int_equal(r->s.ok, 100);
    assert_int_equal(r->s.outcome[OUTCOME_UNFINISHED], 50);
    assert_true(fabs(r->s.window_length_s - 1) < 1e-6);
    assert_true(fabs(r->s.throughput_rps - 100) < 1e-3);
    read_run_free(r);
}

/* Eight may be in flight, or as many more as it saw itself issue: the rest was
 * never sent. */
TEST(offline_that_was_killed_had_a_cap)
{
    static const struct {
        int64_t issued; /* as it last saw itself; 0: it never looked */
        int64_t unfinished;
    } cases[] = {{0, 8}, {60, 8}, {120, 20}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct made_run *m = offline_run(100, "errors < 10%");
        struct read_run *r;

        m->requests = 150;
        m->max_in_flight = 8;
        m->was_killed = true;
        if (cases[i].issued > 0)
            m->seen[0] =
                (struct observation){.at = NS_PER_S, .issued = cases[i].issued};
        r = made_run_sum_up(m, NULL);
        assert_int_equal(r->s.scheduled, 150);
        assert_int_equal(r->s.outcome[OUTCOME_UNFINISHED], cases[i].unfinished);
        assert_int_equal(r->s.issued, 100 + cases[i].unfinished);
        assert_int_equal(r->s.unsent, 50 - cases[i].unfinished);
        assert_int_equal(r->s.failed, cases[i].unfinished);
        assert_int_equal(r->s.integrity.lost_requests, cases[i].unfinished);
        assert_int_equal(r->s.verdict, VERDICT_UNDECIDED);
        assert_string_equal(check_of(r, "recording")->unit,
                            "requests known to be lost");
        read_run_free(r);
    }
}

static struct made_run *query_run(int64_t queries, const char *slo)
{
    struct made_run *m = made_run_new(0, 0, slo);

    m->scenario = SCENARIO_MULTI_STREAM;
    m->query_size = 4;
    m->requests = 4 * queries;
    for (int64_t i = 0; i < 4 * queries; i++)
        made_run_add(m, row_ok(i, i / 4 * 10, 1 + i % 4));
    m->end.due_end_ns = 10 * queries * MS;
    return m;
}

TEST(a_query_of_a_recording_is_its_slowest)
{
    struct read_run *r =
        made_run_sum_up(query_run(200, "query p90 < 5ms"), NULL);
    const struct spread *p = &r->s.spread[MEASURE_QUERY][VIEW_DUE];

    assert_int_equal(p->n, 200);
    assert_int_equal(r->s.spread[MEASURE_E2E][VIEW_DUE].n, 800);
    assert_in_range(p->quantile_ns[0], 4 * MS - 5000, 4 * MS + 5000);
    assert_int_equal(r->s.verdict, VERDICT_PASS);
    assert_int_equal(r->s.mlperf.proofs[0].n, 200);
    read_run_free(r);
}

/* The last of 50 queries had sent 4 and written 2; of another nothing is left
 * but that the client had taken it. */
TEST(queries_of_a_killed_run_are_open)
{
    struct made_run *m = query_run(50, "query p50 < 1ms");
    struct read_run *r;

    m->n -= 2;
    m->was_killed = true;
    m->seen[0] = (struct observation){.at = 510 * MS, .issued = 204};
    r = made_run_sum_up(m, NULL);
    assert_int_equal(r->s.scheduled, 204);
    assert_int_equal(r->s.outcome[OUTCOME_UNFINISHED], 6);
    assert_int_equal(r->s.spread[MEASURE_QUERY][VIEW_DUE].n, 51);
    assert_int_equal(r->s.spread[MEASURE_QUERY][VIEW_DUE].failed, 2);
    assert_int_equal(r->s.verdict, VERDICT_FAIL); /* the 49 are too slow */
    read_run_free(r);
}

/* In any scenario: fewer than were asked for, because the time was over. */
TEST(a_minimum_that_was_not_reached)
{
    static const struct {
        int64_t requests;
        int64_t min_requests;
        int64_t max_duration_ms;
        bool want;
    } cases[] = {
        {0, 0, 1000, false},  {0, 100, 1000, false}, {0, 101, 1000, true},
        {101, 0, 1000, true}, {100, 0, 1000, false}, {0, 101, 1001, false},
        {0, 101, 0, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct made_run *m = made_run_new(0, 0, "");
        struct read_run *r;

        m->requests = cases[i].requests;
        m->min_requests = cases[i].min_requests;
        m->max_duration_ms = cases[i].max_duration_ms;
        made_run_add_fast(m, 0, 100);
        m->end.due_end_ns = 1000 * MS;
        r = made_run_sum_up(m, NULL);
        assert_int_equal(r->s.cut_by_max_duration, cases[i].want);
        read_run_free(r);
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
