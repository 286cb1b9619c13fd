/* Deadlines of tokens: streams reckoned by hand, alone and from a table on
 * disk. */
#include <math.h>

#include "analyzer/tally/stream.h"
#include "common/base/clk.h"
#include "tests/support/rows.h"
#include "tests/support/streams.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MAX_EVENTS 6

struct hand_event {
    int64_t at_ms;
    int64_t tokens; /* 0: no more events */
};

/* The first token within 100 ms, 10 ms for each more. */
static const struct {
    struct hand_event events[MAX_EVENTS];
    double met;
    double missed;
    double late;
} by_hand[] = {
    /* in time, each one by itself */
    {{{99, 1}, {109, 1}, {119, 1}}, 3, 0, 0},
    /* who was early may pause: deadlines 100, 110, 120, 130 */
    {{{20, 1}, {30, 1}, {119, 1}, {129, 1}}, 4, 0, 0},
    /* at the deadline is late, by nothing: one miss */
    {{{100, 1}}, 0, 1, 1},
    /* 35 ms late: four deadlines, then from 135 on: 145, 155 */
    {{{135, 1}, {144, 1}, {154, 1}}, 2, 4, 1},
    /* early, then a stall: deadlines 100, 110; 142 is 32 late: four; then the
     * next is at 152, and 153 is late again: one */
    {{{50, 1}, {142, 1}, {153, 1}}, 1, 5, 2},
    /* four at once are due one after the other: 100 110 120 130, then 140 */
    {{{99, 4}, {139, 1}}, 5, 0, 0},
    /* a late event: its first token misses, the others have until later; the
     * next is due at 105 + 4 * 10 */
    {{{105, 4}, {144, 1}}, 4, 1, 1},
    {{{0}}, 0, 0, 0},
};

TEST(streams_by_hand)
{
    const struct fluid_limits l = {100 * NS_PER_MS, 10 * NS_PER_MS};

    for (size_t i = 0; i < COUNT(by_hand); i++) {
        double all = by_hand[i].met + by_hand[i].missed;
        struct fluid_stream s;

        fluid_begin(&s, &l, 7 * NS_PER_MS);
        for (int k = 0; k < MAX_EVENTS && by_hand[i].events[k].tokens; k++)
            fluid_event(&s, &l,
                        (double)(by_hand[i].events[k].at_ms + 7) * NS_PER_MS,
                        by_hand[i].events[k].tokens);
        assert_true(s.met == by_hand[i].met);
        assert_true(s.missed == by_hand[i].missed);
        assert_true(s.late == by_hand[i].late);
        assert_true(fluid_index(&s) == (all > 0 ? by_hand[i].met / all : 0));
    }
}

TEST(limits_come_from_the_objective)
{
    static const struct {
        const char *slo;
        int64_t first_ms;
        int64_t next_ms;
    } cases[] = {
        {"ttft p99 < 200ms,tpot p99 < 50ms", 200, 50},
        {"ttft p50 < 100ms,ttft p99 < 200ms,tpot:30", 200, 30},
        {"ttft p99 < 200ms,gap p99 < 80ms,gap p50 < 20ms", 200, 80},
        {"ttft p99 < 200ms,itl p99 < 40ms", 200, 40},
        {"ttft p99 < 200ms,gap p99 < 80ms,tpot p90 < 50ms", 200, 50},
        {"ttft p99 < 200ms", 0, 0},
        {"tpot p99 < 50ms", 0, 0},
        {"e2e p99 < 1s,errors < 1%", 0, 0},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct slo slo = slo_of(cases[i].slo);
        struct fluid_limits l = fluid_limits_of(&slo);

        assert_int_equal(l.first_ns, cases[i].first_ms * NS_PER_MS);
        assert_int_equal(l.next_ns, cases[i].next_ms * NS_PER_MS);
    }
}

/* "TTFT 100 ms, then 4 events of 4 tokens each, 40 ms apart": at 100, 140, 180,
 * 220 and 260 ms, 17 tokens.
 * - 140 ms and 10.1 ms a token: deadlines of the events 140, 150.1, 190.5, ...
 * - 101 and 10.1: 101, then 111.1: 28.9 late, three misses, and from there
 * 180.4, 220.8 and 261.2, which are kept.  That a token comes with three others
 * does not help the first of them.
 * - 101 and 9: 101, then 110: 30 late, four misses, and from there 176, 216 and
 *   256, each by 4: one miss.
 * - 100 and 20: at the deadline, one miss; then 120: 20 late, two; then 220. */
TEST(the_worked_stream)
{
    static const struct {
        const char *slo;
        double mean;
        double in_time;
        int64_t fluid;
    } cases[] = {
        {"ttft p99 < 140ms,tpot p99 < 10.1ms", 1, 1, 1},
        {"ttft p99 < 101ms,tpot p99 < 10.1ms", 16.0 / (16 + 3), 16.0 / 17, 0},
        {"ttft p99 < 101ms,tpot p99 < 9ms", 13.0 / (13 + 4 + 3), 13.0 / 17, 0},
        {"ttft p99 < 100ms,tpot p99 < 20ms", 15.0 / (15 + 3), 15.0 / 17, 0},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct streams *m = streams_new(0, 1000, cases[i].slo);
        const struct fluid_summary *f;
        struct read_run *r;

        streams_add(m, &worked_stream);
        r = streams_sum_up(m);
        f = &r->s.fluid;
        assert_true(f->is_there);
        assert_int_equal(f->due, 1);
        assert_true(fabs(f->mean - cases[i].mean) < 1e-12);
        assert_true(fabs(f->tokens_in_time - cases[i].in_time) < 1e-12);
        assert_int_equal(f->fluid, cases[i].fluid);
        assert_true(f->fluid_rps == (double)cases[i].fluid);
        assert_false(f->is_assumed);
        read_run_free(r);
    }
}

/* Ten streams: two slow ones, one that failed half way and one without an
 * answer; and one in the warm-up, which is of none. */
TEST(failures_are_not_fluid)
{
    struct shape p = worked_stream;
    struct streams *m =
        streams_new(100, 1000, "ttft p50 < 150ms,tpot p50 < 15ms");
    const struct fluid_summary *f;
    struct read_run *r;

    p.due_ms = 50;
    streams_add(m, &p);
    for (int64_t i = 0; i < 9; i++) {
        p.due_ms = 100 + 50 * i;
        p.pause_ms = i < 2 ? 400 : 40;
        if (i == 8)
            streams_add(m, &p)->outcome = OUTCOME_TRUNCATED;
        else
            streams_add(m, &p);
    }
    streams_add_row(m, row_failed(10, 600, 5, OUTCOME_STATUS));
    r = streams_sum_up(m);
    f = &r->s.fluid;
    assert_int_equal(f->due, 10);
    assert_int_equal(f->failed, 2);
    assert_int_equal(f->unknown, 0);
    assert_int_equal(f->fluid, 6);
    assert_true(f->share == 0.6);
    assert_true(f->fluid_rps == 6);
    assert_true(f->p50 == 1);
    assert_true(f->p1 == 0);
    assert_true(f->mean > 0.6 && f->mean < 0.8);
    read_run_free(r);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
