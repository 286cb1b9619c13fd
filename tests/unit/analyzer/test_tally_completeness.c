/* Requests that are missing from a recording: whose they were, and when due. */

#include "analyzer/tally/tally.h"
#include "common/base/clk.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"

/* Measured is what is due from 100 ms to 200 ms. */
static const struct window window = {.start_ns = 100 * NS_PER_MS,
                                     .end_ns = 200 * NS_PER_MS};

static void add(struct tally *t, struct facts f)
{
    tally_add(t, &f);
}

TEST(lost_requests_are_unfinished)
{
    struct slo slo = slo_of("e2e p99 < 20ms");
    struct tally t;

    tally_init(&t, window, &slo);
    tally_add_lost(&t, 3);
    assert_int_equal(t.due, 3);
    assert_int_equal(t.outcome[OUTCOME_UNFINISHED], 3);
    assert_int_equal(t.terms[0].open, 3);
    assert_int_equal(t.hist[MEASURE_E2E][VIEW_DUE].beyond, 3);
    assert_int_equal(t.hist[MEASURE_LAG][VIEW_DUE].n, 0);
    assert_int_equal(t.rows, 0);
    tally_fini(&t);
}

/* Places grow with due: what is missing before the last seen of the warm-up was
 * of it; at the edge of the window it is not known. */
TEST(lost_requests_of_the_warm_up_are_not_charged)
{
    static const struct {
        int64_t before[3]; /* places seen; -1: none */
        int64_t inside[2];
        int64_t lost;
        int64_t early; /* of those */
    } cases[] = {
        {{0, 1, 2}, {3, 5}, 1, 0},   {{0, 1, 4}, {5, 6}, 2, 2},
        {{0, 1, -1}, {4, 9}, 6, 0},  {{-1, -1, -1}, {7, 8}, 7, 0},
        {{0, 3, 5}, {-1, -1}, 9, 3}, {{-1, -1, -1}, {-1, -1}, 4, 0},
        {{0, 1, -1}, {8, 4}, 2, 0},
    };
    struct slo slo = slo_of("");

    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t before = 0;
        int64_t inside = 0;
        struct tally t;

        tally_init(&t, window, &slo);
        for (size_t k = 0; k < 2; k++) { /* in no order */
            if (cases[i].inside[k] < 0)
                continue;
            add(&t, row_ok(cases[i].inside[k], 150, 5));
            inside++;
        }
        for (size_t k = 0; k < 3; k++) {
            if (cases[i].before[k] < 0)
                continue;
            add(&t, row_ok(cases[i].before[k], 50, 5));
            before++;
        }
        tally_add_lost(&t, cases[i].lost);
        assert_int_equal(t.before, before + cases[i].early);
        assert_int_equal(t.due, inside + cases[i].lost - cases[i].early);
        tally_fini(&t);
    }
}

/* In a closed loop of three workers the numbers of each have no gaps; those of
 * all together may. */
TEST(lanes_are_numbered_apart)
{
    static const struct {
        int64_t lanes;
        int64_t before[4]; /* seq; -1: none */
        int64_t inside[4];
        int64_t places; /* that there must have been */
        int64_t early;  /* lost before the window, of all that are lost */
    } cases[] = {
        /* lane 0: 0 3 6, lane 1: 1 4, lane 2: 2 */
        {3, {0, 1, 2, 3}, {6, 4, -1, -1}, 6, 0},
        {1, {0, 1, 2, 3}, {6, 4, -1, -1}, 7, 0},
        /* lane 1 is far ahead, and nothing of lane 2 was seen */
        {3, {0, 1, 4, 7}, {10, 3, -1, -1}, 6, 0},
        {1, {0, 1, 4, 7}, {10, 13, -1, -1}, 14, 4},
        /* lane 0 lacks 3 at the edge of the window, lane 1 lacks 4 and 7
         * after it */
        {3, {0, 2, -1, -1}, {6, 1, 10, 5}, 3 + 4 + 2, 0},
        /* lane 0 lacks 0 and lane 1 lacks 1 before those of the warm-up */
        {3, {3, 4, 2, -1}, {-1, -1, -1, -1}, 2 + 2 + 1, 2},
        /* too many lanes are one */
        {1025, {0, 1, -1, -1}, {1025, -1, -1, -1}, 1026, 0},
        {1024, {0, 1, -1, -1}, {1025, -1, -1, -1}, 3, 0},
    };
    struct slo slo = slo_of("");

    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t places = 0;
        int64_t before;
        struct tally t;

        tally_init(&t, window, &slo);
        tally_set_sequences(&t, cases[i].lanes);
        for (size_t k = 0; k < 4; k++) {
            if (cases[i].inside[k] >= 0)
                add(&t, row_ok(cases[i].inside[k], 150, 5));
            if (cases[i].before[k] >= 0)
                add(&t, row_ok(cases[i].before[k], 50, 5));
        }
        before = t.before;
        for (int k = 0; k < t.n_sequences; k++)
            places += tally_places(&t, k);
        assert_int_equal(places, cases[i].places);
        tally_add_lost(&t, places - t.rows);
        if (t.before - before != cases[i].early)
            print_error("case %zu: %lld\n", i, (long long)(t.before - before));
        assert_int_equal(t.before, before + cases[i].early);
        assert_int_equal(t.due + t.before, places);
        tally_fini(&t);
    }
}

/* Places 0 to 9 before, 10 to 19 in the window, 20 to 29 after it: what is
 * missing behind the first one seen after it is not the window's. */
TEST(lost_requests_of_the_cool_down_are_not_charged)
{
    static const struct slo none;
    struct tally t;

    tally_init(&t, window, &none);
    for (int64_t seq = 0; seq < 30; seq++) {
        if (seq != 15 && seq != 25)
            add(&t, row_ok(seq, 10 * seq, 1));
    }
    tally_add_lost(&t, 5); /* those two, and three at the end */
    assert_int_equal(t.before, 10);
    assert_int_equal(t.due, 10);
    assert_int_equal(t.outcome[OUTCOME_UNFINISHED], 1);
    assert_int_equal(t.after, 13);
    tally_fini(&t);
}
