/* What became of sessions, and first turns next to later ones. */

#include "analyzer/tally/sessions.h"
#include "common/base/clk.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"

#define MS NS_PER_MS

/* A window from 100 ms to 1100 ms. */
static const struct sessions empty = {.window = {100 * MS, 1100 * MS}};

static void add(struct sessions *s, struct facts row, int64_t session,
                int64_t turn, int64_t turns)
{
    row.session = session;
    row.turn = turn;
    row.turns = turns;
    sessions_add(s, &row);
}

TEST(every_session_is_accounted_for)
{
    struct sessions s = empty;
    struct session_summary sum;

    add(&s, row_ok(0, 50, 10), 0, 0, 2); /* in the warm-up */
    add(&s, row_ok(1, 150, 20), 0, 1, 2);
    add(&s, row_ok(2, 200, 30), 1, 0, 3); /* no more was due */
    add(&s, row_failed(3, 300, 40, OUTCOME_STATUS), 2, 0, 3);
    add(&s, row_unsent(4, 400), 3, 0, 3);
    add(&s, row_failed(5, 500, 10, OUTCOME_UNFINISHED), 4, 0, 1);
    sum = sessions_sum_up(&s);
    assert_true(sum.is_there);
    assert_int_equal(sum.begun, 5);
    assert_int_equal(sum.finished, 1);
    assert_int_equal(sum.broken, 2);
    assert_int_equal(sum.cut, 2);
    assert_true(sum.turns_mean == 6.0 / 5);
    assert_int_equal(sum.kinds[TURN_FIRST].n, 4);
    assert_int_equal(sum.kinds[TURN_LATER].n, 1);
    sessions_fini(&s);
}

TEST(requests_outside_of_sessions_are_none)
{
    struct sessions s = empty;
    struct facts row = row_ok(0, 200, 10);

    sessions_add(&s, &row);
    assert_false(sessions_sum_up(&s).is_there);
    sessions_fini(&s);
}

/* Of a run that was killed the beginning may be missing. */
TEST(lost_turns_do_not_break_the_identity)
{
    struct sessions s = empty;
    struct session_summary sum;

    add(&s, row_ok(1, 200, 10), 0, 1, 2);
    sum = sessions_sum_up(&s);
    assert_int_equal(sum.begun, sum.finished + sum.broken + sum.cut);
    assert_int_equal(sum.finished, 1);
    sessions_fini(&s);
}

TEST(turns_are_told_apart)
{
    struct sessions s = empty;
    struct session_summary sum;

    for (int64_t i = 0; i < 200; i++) {
        struct facts first = row_ok(2 * i, 200 + i, 40);
        struct facts later = row_ok(2 * i + 1, 300 + i, 10);

        first.prompt_tokens = later.prompt_tokens = 100;
        if (i % 4) /* else there is none, and it says nothing */
            later.cached_tokens = 80;
        add(&s, first, i, 0, 2);
        add(&s, later, i, 1, 2);
    }
    sum = sessions_sum_up(&s);
    assert_true(sum.kinds[TURN_FIRST].cached_share < 0);
    assert_true(sum.kinds[TURN_LATER].cached_share == 0.6);
    assert_true(sum.kinds[TURN_FIRST].e2e_ns[0] > 39 * MS);
    assert_true(sum.kinds[TURN_LATER].e2e_ns[0] < 11 * MS);
    sessions_fini(&s);
}
