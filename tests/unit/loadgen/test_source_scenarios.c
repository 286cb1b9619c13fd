/* Which request is due next: clients that think, one stream of requests or of
 * queries, all at once, and the schedule of LoadGen. */
#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/schedule/mlperf_schedule.h"
#include "tests/support/sourcerig.h"
#include "tests/support/test.h"

/* ---- clients that think ---- */

static char fixed[] = "fixed 100ns";
static char random_times[] = "exponential 100ns";

TEST(a_client_thinks_after_each_answer)
{
    const struct load_settings load = {.scenario = SCENARIO_CLOSED,
                                       .clients = 2,
                                       .requests = 5,
                                       .think = fixed};
    struct source s = source_make(&load);

    take_at(&s, 0, 0); /* no think time before the first */
    take_at(&s, 1, 0);
    assert_nothing_due(&s);
    end_at(&s, 0, 10);
    take_at(&s, 2, 110);
    end_at(&s, 0, 50);
    end_at(&s, 0, 120);
    take_at(&s, 3, 150);
    take_at(&s, 4, 220);
    assert_over(&s);
    end_at(&s, 0, 300);
    end_at(&s, 0, 310);
    assert_over(&s);
    assert_int_equal(s.ops->due_end_ns(s.self), 311);
    source_end(&s);
}

/* One that thinks beyond the end says nothing of those who still wait. */
TEST(a_long_thought_does_not_end_the_run)
{
    static char thoughts[] = "empirical 0:0ns 50:0ns 50.001:5000ns 100:5000ns";
    const struct load_settings load = {.scenario = SCENARIO_CLOSED,
                                       .clients = 2,
                                       .duration_ns = 1000,
                                       .think = thoughts,
                                       .seed = 1};
    struct source s = source_make(&load);
    bool has_waited = false;
    int64_t now_ns = 0;
    int64_t at_ns;

    take_at(&s, 0, 0);
    take_at(&s, 1, 0);
    /* One by one: a client that is free sends at once, or has its think time.
     */
    for (int in_flight = 2; in_flight > 0;) {
        end_at(&s, 0, now_ns += 10);
        in_flight--;
        at_ns = s.ops->peek_ns(s.self);
        if (at_ns == now_ns) {
            s.ops->take(s.self);
            in_flight++;
        } else if (in_flight > 0) {
            assert_true(at_ns == (now_ns < 1000 ? DUE_UNKNOWN : DUE_NEVER));
            has_waited = true;
        }
    }
    assert_true(has_waited);
    assert_over(&s);
    assert_int_equal(s.ops->due_end_ns(s.self), 1000);
    source_end(&s);
}

/* Answers come at once: 1000 requests are 999 thoughts apart. */
TEST(thoughts_are_drawn_from_the_seed)
{
    struct load_settings load = {.scenario = SCENARIO_CLOSED,
                                 .clients = 1,
                                 .requests = 1001,
                                 .think = random_times,
                                 .seed = 5};
    int64_t sum[3];

    for (int i = 0; i < 3; i++) {
        struct source s;

        load.seed = i < 2 ? 5 : 6;
        s = source_make(&load);
        sum[i] = 0;
        for (int n = 0; n < 1000; n++) {
            sum[i] = s.ops->take(s.self).at_ns;
            end_at(&s, n, sum[i]);
        }
        source_end(&s);
    }
    assert_int_equal(sum[0], sum[1]);
    assert_int_not_equal(sum[0], sum[2]);
    /* A mean of 100 ns, five standard errors of 100/sqrt(1000). */
    assert_in_range(sum[0], 999 * 84, 999 * 116);
}

TEST(a_thought_that_is_none_is_refused)
{
    static char bad[] = "hard";
    const struct load_settings load = {
        .scenario = SCENARIO_CLOSED, .clients = 1, .think = bad};
    struct source s = {.ops = source_for(&load)};
    struct err err = {0};

    s.self = xcalloc(1, s.ops->state_size);
    assert_int_equal(s.ops->init(s.self, &load,
                                 (struct lane){.worker = 0, .workers = 1},
                                 &err),
                     -1);
    assert_int_equal(err.code, ERR_CONFIG);
    source_end(&s);
}

/* ---- one stream ---- */

TEST(single_stream_has_one_in_flight)
{
    const struct load_settings load = {.scenario = SCENARIO_SINGLE_STREAM,
                                       .clients = 1,
                                       .min_duration_ns = 100,
                                       .min_requests = 3};
    struct source s = source_make(&load);

    take_at(&s, 0, 0);
    assert_nothing_due(&s);
    end_at(&s, 0, 60);
    take_at(&s, 1, 60);
    assert_nothing_due(&s);
    end_at(&s, 0, 99);
    take_at(&s, 2, 99); /* enough of them, not long enough */
    end_at(&s, 0, 130);
    take_at(&s, 3, 130);
    assert_over(&s);
    end_at(&s, 0, 140);
    assert_over(&s);
    assert_int_equal(s.ops->due_end_ns(s.self), 141);
    source_end(&s);
}

static void take_query(struct source *s, int64_t first, int64_t at_ns)
{
    for (int64_t i = 0; i < 4; i++)
        take_at(s, first + i, at_ns);
}

static void end_query(struct source *s, int64_t first_ns)
{
    for (int64_t i = 0; i < 3; i++) {
        end_at(s, 0, first_ns + i);
        assert_nothing_due(s);
    }
    end_at(s, 0, first_ns + 3);
}

TEST(a_query_goes_out_whole_and_is_waited_for)
{
    const struct load_settings load = {.scenario = SCENARIO_MULTI_STREAM,
                                       .clients = 1,
                                       .query_size = 4,
                                       .duration_ns = 100};
    struct source s = source_make(&load);

    take_query(&s, 0, 0);
    assert_nothing_due(&s);
    end_query(&s, 50);
    take_query(&s, 4, 53);
    end_query(&s, 90);
    take_query(&s, 8, 93);
    assert_nothing_due(&s);
    for (int64_t i = 0; i < 4; i++)
        end_at(&s, 0, 100 + i);
    assert_over(&s);
    assert_int_equal(s.ops->due_end_ns(s.self), 100);
    source_end(&s);
}

/* A failure may end while others of its query are still to be sent. */
TEST(ends_within_a_query_that_is_being_sent)
{
    const struct load_settings load = {.scenario = SCENARIO_MULTI_STREAM,
                                       .clients = 1,
                                       .query_size = 3,
                                       .min_requests = 4};
    struct source s = source_make(&load);

    take_at(&s, 0, 0);
    end_at(&s, 0, 5);
    take_at(&s, 1, 0);
    take_at(&s, 2, 0);
    assert_nothing_due(&s);
    end_at(&s, 0, 6);
    assert_nothing_due(&s);
    end_at(&s, 0, 7);
    take_at(&s, 3, 7); /* the fourth is enough, and its query goes out whole */
    take_at(&s, 4, 7);
    take_at(&s, 5, 7);
    assert_over(&s);
    for (int64_t i = 0; i < 3; i++)
        end_at(&s, 0, 10 + i);
    assert_over(&s);
    assert_int_equal(s.ops->due_end_ns(s.self), 13);
    source_end(&s);
}

/* ---- all at once ---- */

TEST(offline_everything_is_due_at_the_start)
{
    static const int64_t workers[] = {1, 2, 3, 7};

    for (size_t k = 0; k < COUNT(workers); k++) {
        const struct load_settings load = {
            .scenario = SCENARIO_OFFLINE, .clients = 1, .requests = 5};
        int64_t sum = 0;

        for (int64_t w = 0; w < workers[k]; w++) {
            const struct lane lane = {.worker = w, .workers = workers[k]};
            struct source s = lane_make(&load, lane);
            int64_t share = lane_share(5, lane);

            for (int64_t i = 0; i < share; i++)
                take_at(&s, w + i * workers[k], 0);
            assert_over(&s);
            end_at(&s, 0, 80);
            end_at(&s, 0, 70); /* a little late to tell */
            assert_int_equal(s.ops->due_end_ns(s.self), 81);
            source_end(&s);
            sum += share;
        }
        assert_int_equal(sum, 5);
    }
}

/* ---- LoadGen's schedule ---- */

#define SEED 16159082839903944936U

/* Of the official seed of 6.1, at 1000/s. */
static const int64_t golden_gaps[] = {1843654, 457923, 1285862,
                                      712994,  386406, 2248341};

static struct load_settings official(int64_t warmup_ns)
{
    return (struct load_settings){.scenario = SCENARIO_SERVER,
                                  .arrival = ARRIVAL_POISSON,
                                  .rate_rps = 1000,
                                  .seed = 3,
                                  .seeds = SEEDS_MLPERF,
                                  .schedule_seed = SEED,
                                  .warmup_ns = warmup_ns,
                                  .requests = 500};
}

/* The warm-up goes before it, by our own seed, and moves it as a whole. */
TEST(the_window_has_the_official_schedule)
{
    static const int64_t warmups[] = {0, 1, 100 * NS_PER_MS};

    for (size_t k = 0; k < COUNT(warmups); k++) {
        const struct load_settings load = official(warmups[k]);
        int64_t n;
        int64_t due_end_ns;
        int64_t *due = source_draw_all(&load, &n, &due_end_ns);
        int64_t *window = due;

        while (*window < warmups[k])
            window++;
        assert_int_equal(due + n - window, 500);
        assert_true(warmups[k] < NS_PER_MS ? window == due : window > due + 50);
        assert_int_equal(window[0], warmups[k]);
        for (size_t i = 0; i < COUNT(golden_gaps); i++)
            assert_int_equal(window[i + 1] - window[i], golden_gaps[i]);
        free(due);
    }
}

/* How many there are follows from it too: the first that is due at the end of
 * the minimum, or later, is the last. */
TEST(the_official_schedule_ends_as_loadgens)
{
    struct load_settings load = official(0);
    struct mlperf_schedule s = mlperf_schedule_make(SEED, 1000);
    int64_t n;
    int64_t due_end_ns;
    int64_t *due;
    int64_t last = 0;

    load.requests = 0;
    load.min_duration_ns = 300 * NS_PER_MS;
    load.min_requests = 10;
    due = source_draw_all(&load, &n, &due_end_ns);
    for (int64_t i = 0; i < n; i++) {
        assert_true(last < 300 * NS_PER_MS);
        last = mlperf_schedule_next_ns(&s);
        assert_int_equal(due[i], last);
    }
    assert_true(last >= 300 * NS_PER_MS);
    assert_int_equal(due_end_ns, mlperf_schedule_next_ns(&s));
    free(due);
}

static void check_official_lanes(const struct load_settings *load,
                                 int64_t workers)
{
    int64_t n;
    int64_t due_end_ns;
    int64_t *due = source_draw_all(load, &n, &due_end_ns);

    for (int64_t w = 0; w < workers; w++) {
        struct source s =
            lane_make(load, (struct lane){.worker = w, .workers = workers});

        for (int64_t seq = w; seq < n; seq += workers)
            take_at(&s, seq, due[seq]);
        assert_over(&s);
        assert_int_equal(s.ops->due_end_ns(s.self), due_end_ns);
        source_end(&s);
    }
    free(due);
}

TEST(the_official_schedule_is_that_of_all_lanes)
{
    for (int64_t workers = 1; workers <= 3; workers++) {
        struct load_settings load = official(0);

        check_official_lanes(&load, workers);
        load = official(50 * NS_PER_MS);
        check_official_lanes(&load, workers);
        load.requests = 0;
        load.min_duration_ns = 200 * NS_PER_MS;
        check_official_lanes(&load, workers);
    }
}
