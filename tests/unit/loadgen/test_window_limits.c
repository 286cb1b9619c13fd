/* What a run may send: by time, by count, at least, at most. */

#include "common/settings/settings.h"
#include "loadgen/schedule/window_limits.h"
#include "tests/support/test.h"

/* One is due every 10 ns from 0 on: how many are taken, the warm-up's too? */
static int64_t taken_of(struct window_limits q)
{
    int64_t n = 0;

    while (!window_limits_is_spent(&q, 10 * n)) {
        window_limits_take(&q, 10 * n);
        n++;
    }
    return n;
}

#define AUTO .cooldown_ns = OPT_AUTO

/* Of a minimum of time the last is due when it is over or later, as LoadGen's
 * is. */
TEST(whichever_comes_first_or_last)
{
    static const struct {
        struct load_settings load;
        int64_t want;
    } cases[] = {
        {{.duration_ns = 100}, 10},
        {{.duration_ns = 101}, 11},
        {{.requests = 7}, 7},
        {{.requests = 7, .duration_ns = 50}, 5},
        {{.requests = 7, .duration_ns = 500}, 7},
        {{.warmup_ns = 30, .requests = 7}, 10},
        {{.warmup_ns = 30, .duration_ns = 100}, 13},
        {{.max_duration_ns = 100}, 10},
        {{.max_duration_ns = 100, .duration_ns = 50}, 5},
        {{.max_duration_ns = 100, .duration_ns = 500}, 10},
        {{.max_duration_ns = 100, .requests = 50}, 10},
        {{.max_duration_ns = 100, .requests = 5}, 5},
        {{.max_duration_ns = 100, .warmup_ns = 50}, 15},
        {{.min_requests = 7}, 7},
        {{.min_requests = 7, .warmup_ns = 30}, 10},
        {{.min_duration_ns = 100}, 11},
        {{.min_duration_ns = 95}, 11},
        {{.min_duration_ns = 101}, 12},
        {{.min_duration_ns = 100, .warmup_ns = 50}, 16},
        {{.min_duration_ns = 100, .min_requests = 7}, 11},
        {{.min_duration_ns = 100, .min_requests = 11}, 11},
        {{.min_duration_ns = 100, .min_requests = 30}, 30},
        {{.min_requests = 30, .max_duration_ns = 100}, 10},
        {{.min_requests = 3, .max_duration_ns = 100}, 3},
        {{.min_duration_ns = 50, .min_requests = 30, .max_duration_ns = 80}, 8},
        {{.min_duration_ns = 100, .max_duration_ns = 100}, 10},
        {{.warmup_requests = 3, .requests = 7}, 10},
        {{.warmup_requests = 3, .min_requests = 7}, 10},
        {{.warmup_requests = 3, .duration_ns = 100}, 13},
        {{.warmup_requests = 3, .min_duration_ns = 99}, 13},
        {{.warmup_requests = 3, .min_duration_ns = 100}, 14},
        {{.duration_ns = 100, .cooldown_ns = 30}, 13},
        {{.requests = 7, .cooldown_ns = 30}, 10},
        {{.requests = 7, .cooldown_ns = 31}, 11},
        {{.requests = 7, .max_duration_ns = 50, .cooldown_ns = 30}, 8},
        {{.min_duration_ns = 100, .cooldown_ns = 20}, 13},
        {{.warmup_requests = 3, .requests = 7, .cooldown_ns = 30}, 13},
        /* automatic: half of the window, or the drain time */
        {{.duration_ns = 100, AUTO, .drain_ns = OPT_AUTO}, 15},
        {{.max_duration_ns = 100, AUTO, .drain_ns = OPT_AUTO}, 15},
        {{.duration_ns = 100, AUTO, .drain_ns = 20}, 12},
        {{.duration_ns = 100, AUTO, .drain_ns = 0}, 10},
        {{.requests = 7, AUTO, .drain_ns = OPT_AUTO}, 7},
        {{.requests = 7, .duration_ns = 500, AUTO, .drain_ns = OPT_AUTO}, 7},
        {{.min_requests = 7, AUTO, .drain_ns = OPT_AUTO}, 7},
        {{.min_duration_ns = 100, AUTO, .drain_ns = OPT_AUTO}, 11},
        {{.duration_ns = 100,
          AUTO,
          .drain_ns = OPT_AUTO,
          .scenario = SCENARIO_TRACE},
         10},
        {{.duration_ns = 100,
          AUTO,
          .drain_ns = OPT_AUTO,
          .seeds = SEEDS_MLPERF},
         10},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(taken_of(window_limits_of(&cases[i].load)),
                         cases[i].want);
}

static int64_t taken_by_lanes(const struct load_settings *load, int64_t workers)
{
    int64_t sum = 0;

    for (int64_t w = 0; w < workers; w++) {
        struct window_limits q = window_limits_of(load);

        window_limits_share(&q, (struct lane){.worker = w, .workers = workers});
        sum += taken_of(q);
    }
    return sum;
}

TEST(counts_are_shared_out)
{
    static const struct {
        struct load_settings load;
        int64_t want[3]; /* of 1, 2 and 5 lanes */
    } cases[] = {
        {{.requests = 7}, {7, 7, 7}},
        {{.requests = 3}, {3, 3, 3}},
        {{.min_requests = 7}, {7, 7, 7}},
        {{.min_requests = 3}, {3, 3, 3}},
        {{.min_duration_ns = 100}, {11, 22, 55}}, /* each for that long */
        {{.min_duration_ns = 100, .min_requests = 3}, {11, 22, 55}},
        {{.min_duration_ns = 20, .min_requests = 10}, {10, 10, 15}},
    };
    static const int64_t lanes[] = {1, 2, 5};

    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t k = 0; k < COUNT(lanes); k++)
            assert_int_equal(taken_by_lanes(&cases[i].load, lanes[k]),
                             cases[i].want[k]);
    }
}

/* One in 200 may be in flight.  The last of two lanes ends the load for
 * both, not before the end of the window. */
TEST(lanes_end_an_automatic_cool_down_together)
{
    static const struct {
        int64_t open;   /* of 500, in the second lane */
        int64_t now_ns; /* then, in the second lane */
        int64_t end_ns; /* of the load */
        bool is_settled;
    } cases[] = {
        {3, 1100, 1500, false},
        {2, 1100, 1100, true},
        {0, 980, 1000, true},
        {0, 1600, 1500, true},
    };
    const struct load_settings load = {
        .duration_ns = 1000, AUTO, .drain_ns = OPT_AUTO};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct window_limits a = window_limits_of(&load);
        struct window_limits b = window_limits_of(&load);
        struct window_limits alone = window_limits_of(&load);
        struct phases p;

        phases_init(&p, &load, 2);
        window_limits_publish(&a, &p);
        window_limits_publish(&b, &p);
        window_limits_settle(&a, 0, 10, 990);
        assert_true(a.is_auto && a.end_ns == 1500); /* the other is open */
        window_limits_settle(&b, cases[i].open, 500, cases[i].now_ns);
        assert_int_equal(phases_load_end_ns(&p), cases[i].end_ns);
        assert_int_equal(b.end_ns, cases[i].end_ns);
        assert_int_equal(b.is_auto, !cases[i].is_settled);
        window_limits_settle(&a, 3, 10, 1700);
        assert_int_equal(a.end_ns, cases[i].end_ns);
        assert_int_equal(a.is_auto, !cases[i].is_settled);
        window_limits_settle(&alone, cases[i].open, 500, cases[i].now_ns);
        assert_int_equal(alone.end_ns, cases[i].end_ns);
    }
}
