/* The pacer's decisions; what the engine makes of them is in test_engine.c. */
#include <stdbool.h>

#include "loadgen/engine/pacer.h"
#include "loadgen/schedule/source.h"
#include "tests/support/test.h"

TEST(decisions)
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

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct pacer p = pacer_make(cases[i].timeout, 0);

        assert_int_equal(
            pacer_decide(&p, cases[i].now, cases[i].due, cases[i].has_room),
            cases[i].want);
    }
}

/* ---- a client that was suspended ---- */

#define AWAY PACER_SUSPENDED_NS

TEST(who_does_not_run_for_long_was_suspended)
{
    static const struct {
        int64_t now;
        int64_t wake;
        int64_t want;
    } cases[] = {
        {100, 100, 0},
        {100, 2000, 0}, /* early */
        {AWAY - 1, 0, 0},
        {AWAY, 0, AWAY},
        {5 * AWAY + 7, 7, 5 * AWAY},
        {-AWAY, -2 * AWAY, AWAY},
        {1000, INT64_MAX, 0}, /* it had not to run at all */
        {-AWAY, INT64_MAX, 0},
        {INT64_MAX - 1, 0, INT64_MAX - 1},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct pacer p = pacer_make(INT64_MAX, 5);
        bool was_away = cases[i].want > 0;

        assert_int_equal(pacer_wake(&p, cases[i].now, cases[i].wake),
                         cases[i].want);
        assert_int_equal(p.burst_left, was_away ? 5 : 0);
        assert_int_equal(p.resumed_ns, was_away ? cases[i].now : INT64_MIN);
    }
}

/* One every 10 ns was due until now; how many of them go out? */
static int64_t send_backlog(struct pacer *p, int64_t now, int64_t len)
{
    int64_t sent = 0;

    for (int64_t i = 0; i < len; i++) {
        enum pace pace = pacer_decide(p, now, now - 10 * (len - 1 - i), true);

        assert_int_equal(pace, sent < p->max_burst ? PACE_ISSUE : PACE_UNSENT);
        sent += pace == PACE_ISSUE;
    }
    return sent;
}

TEST(a_burst_is_bounded)
{
    static const struct {
        int64_t max_burst;
        int64_t backlog;
        int64_t want;
    } cases[] = {
        {10, 9, 9}, {10, 10, 10}, {10, 100, 10}, {1, 100, 1}, {0, 100, 0}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct pacer p = pacer_make(INT64_MAX, cases[i].max_burst);

        pacer_wake(&p, 2 * AWAY, 0);
        assert_int_equal(send_backlog(&p, 2 * AWAY, cases[i].backlog),
                         cases[i].want);
        /* The next suspension has a burst of its own. */
        pacer_wake(&p, 4 * AWAY, 3 * AWAY);
        assert_int_equal(send_backlog(&p, 4 * AWAY, cases[i].backlog),
                         cases[i].want);
    }
}

/* Who waits for room keeps its place in the burst; who is due later, or falls
 * behind without a suspension, needs none. */
TEST(only_the_backlog_is_bounded)
{
    const int64_t back = 2 * AWAY;
    struct pacer p = pacer_make(AWAY + 1, 1);

    pacer_wake(&p, back, 0);
    assert_int_equal(pacer_decide(&p, back, 0, true), PACE_UNSENT); /* late */
    assert_int_equal(pacer_decide(&p, back, back - 9, false), PACE_FULL);
    assert_int_equal(pacer_decide(&p, back + 5, back - 9, true), PACE_ISSUE);
    assert_int_equal(pacer_decide(&p, back + 5, back - 8, false), PACE_UNSENT);
    assert_int_equal(pacer_decide(&p, back + 5, back, true), PACE_UNSENT);
    assert_int_equal(pacer_decide(&p, back, back + 1, true), PACE_WAIT);
    for (int64_t due = back + 1; due < back + 20; due++)
        assert_int_equal(pacer_decide(&p, back + 20, due, true), PACE_ISSUE);
    assert_int_equal(pacer_decide(&p, back, DUE_UNKNOWN, true), PACE_IDLE);
    assert_int_equal(pacer_decide(&p, back, DUE_NEVER, true), PACE_OVER);
}
