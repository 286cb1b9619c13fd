/* Which request is due next: the open loop by its window, the closed loop by
 * what its clients wait for. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/schedule/source.h"
#include "tests/support/sourcerig.h"
#include "tests/support/test.h"

/* ---- open loop ---- */

/* A metronome of 10/s: 0 s, 0.1 s, 0.2 s, ... */
TEST(open_window_ends_by_time_or_count)
{
    static const struct {
        int64_t warmup_ms;
        int64_t duration_ms;
        int64_t requests;
        int64_t want;       /* given out in all */
        int64_t due_end_ms; /* first instant that is not covered */
    } cases[] = {
        {0, 1000, 0, 10, 1000},   {0, 1050, 0, 11, 1050},
        {500, 1050, 0, 16, 1550}, {0, 0, 25, 25, 2500},
        {450, 0, 3, 8, 800},      {0, 1050, 4, 4, 400},
        {0, 1050, 400, 11, 1050}, {450, 1000, 400, 15, 1450},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct load_settings load = {
            .scenario = SCENARIO_SERVER,
            .arrival = ARRIVAL_CONSTANT,
            .rate_rps = 10,
            .warmup_ns = cases[i].warmup_ms * NS_PER_MS,
            .duration_ns = cases[i].duration_ms * NS_PER_MS,
            .requests = cases[i].requests,
        };
        struct source s = source_make(&load);

        for (int64_t seq = 0; seq < cases[i].want; seq++)
            take_at(&s, seq, seq * 100 * NS_PER_MS);
        assert_over(&s);
        assert_int_equal(s.ops->due_end_ns(s.self),
                         cases[i].due_end_ms * NS_PER_MS);
        source_end(&s);
    }
}

TEST(open_constant_does_not_drift)
{
    struct load_settings load = {.scenario = SCENARIO_SERVER,
                                 .arrival = ARRIVAL_CONSTANT,
                                 .rate_rps = 300000,
                                 .duration_ns = 10 * NS_PER_S};
    struct source s = source_make(&load);

    for (int64_t i = 0; i < 3000000; i++) {
        struct due due = s.ops->take(s.self);
        int64_t off_ns = due.at_ns - i * 10000 / 3;

        assert_true(off_ns >= -1 && off_ns <= 1);
    }
    source_end(&s);
}

/* FNV-1a over the stream; it must not go back in time on the way. */
static uint64_t digest(uint64_t seed, double rate_rps)
{
    struct load_settings load = {.scenario = SCENARIO_SERVER,
                                 .arrival = ARRIVAL_POISSON,
                                 .rate_rps = rate_rps,
                                 .requests = 100000,
                                 .seed = seed};
    struct source s = source_make(&load);
    uint64_t hash = 0xcbf29ce484222325U;
    int64_t last_ns = 0;

    for (int64_t i = 0; s.ops->peek_ns(s.self) != DUE_NEVER; i++) {
        struct due due = s.ops->take(s.self);

        assert_int_equal(due.seq, i);
        assert_true(due.at_ns >= last_ns);
        last_ns = due.at_ns;
        hash = (hash ^ (uint64_t)due.at_ns) * 0x100000001b3U;
    }
    assert_true(s.ops->due_end_ns(s.self) >= last_ns);
    source_end(&s);
    return hash;
}

TEST(open_seed_decides_the_stream)
{
    assert_true(digest(42, 1000) == digest(42, 1000));
    assert_true(digest(42, 1000) != digest(43, 1000));
    assert_true(digest(42, 1000) != digest(42, 1001));
    assert_true(digest(42, 1e9) == digest(42, 1e9)); /* several in one ns */
}

/* The second arrival would be due in 30,000 years. */
TEST(open_rate_near_zero_is_due_once)
{
    struct load_settings load = {.scenario = SCENARIO_SERVER,
                                 .arrival = ARRIVAL_CONSTANT,
                                 .rate_rps = 1e-12,
                                 .duration_ns = NS_PER_S};
    struct source s = source_make(&load);

    take_at(&s, 0, 0);
    assert_over(&s);
    assert_int_equal(s.ops->due_end_ns(s.self), NS_PER_S);
    source_end(&s);
}

TEST(open_bad_rate_is_refused)
{
    struct load_settings load = {.scenario = SCENARIO_SERVER,
                                 .arrival = ARRIVAL_POISSON,
                                 .rate_rps = -5};
    struct source s = {.ops = source_for(&load)};
    struct err err = {0};

    s.self = xcalloc(1, s.ops->state_size);
    assert_int_equal(s.ops->init(s.self, &load,
                                 (struct lane){.worker = 0, .workers = 1},
                                 &err),
                     -1);
    assert_int_equal(err.code, ERR_CONFIG);
    assert_string_equal(err.msg, "rate must be above 0, not -5");
    source_end(&s);
}

/* Whatever the process and the seed, the window holds what was asked for, the
 * warm-up is left to chance, and nothing is due outside. */
TEST(an_exact_count_is_exact)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct load_settings load = {
            .scenario = SCENARIO_SERVER,
            .arrival = (int)(seed % ARRIVAL_COUNT),
            .rate_rps = 100,
            .cv = 3,
            .exact = true,
            .seed = seed,
            .warmup_ns = seed % 2 ? NS_PER_S : 0,
            .duration_ns = 5 * NS_PER_S,
        };
        struct source s = source_make(&load);
        int64_t inside = 0;
        int64_t last_ns = 0;
        int64_t at_ns;

        while ((at_ns = s.ops->peek_ns(s.self)) != DUE_NEVER) {
            assert_true(at_ns >= last_ns);
            last_ns = at_ns;
            inside += at_ns >= load.warmup_ns;
            s.ops->take(s.self);
        }
        assert_int_equal(inside, 500);
        assert_true(last_ns < load.warmup_ns + load.duration_ns);
        assert_int_equal(s.ops->due_end_ns(s.self),
                         load.warmup_ns + load.duration_ns);
        source_end(&s);
    }
}

/* A trillion gaps are not drawn to their end. */
TEST(an_exact_window_can_be_interrupted)
{
    const struct load_settings load = {
        .scenario = SCENARIO_SERVER,
        .arrival = ARRIVAL_POISSON,
        .rate_rps = 1000000,
        .exact = true,
        .duration_ns = INT64_C(1000000) * NS_PER_S,
    };
    void *self = xcalloc(1, source_open.state_size);
    struct err err = {0};

    atomic_store(&stop_signal, SIGINT);
    assert_int_equal(source_open.init(self, &load,
                                      (struct lane){.worker = 0, .workers = 1},
                                      &err),
                     -1);
    atomic_store(&stop_signal, 0);
    assert_int_equal(err.code, ERR_STOPPED);
    source_open.fini(self);
    free(self);
}

/* Given their number, independent arrivals are uniform: the mean of 500 times
 * in a window of length 1 has a standard error of sqrt(1/12/500); over 200
 * seeds, 5 sigma. */
TEST(an_exact_poisson_stream_is_uniform)
{
    double sum = 0;

    for (uint64_t seed = 0; seed < 200; seed++) {
        struct load_settings load = {.scenario = SCENARIO_SERVER,
                                     .rate_rps = 500,
                                     .exact = true,
                                     .seed = seed,
                                     .duration_ns = NS_PER_S};
        struct source s = source_make(&load);

        for (int i = 0; i < 500; i++)
            sum += (double)s.ops->take(s.self).at_ns / 1e9;
        source_end(&s);
    }
    assert_true(fabs(sum / 1e5 - 0.5) < 5 * sqrt(1.0 / 12 / 1e5));
}

/* ---- closed loop ---- */

TEST(closed_clients_wait_for_their_answers)
{
    struct load_settings load = {
        .scenario = SCENARIO_CLOSED, .clients = 3, .duration_ns = 1000};
    struct source s = source_make(&load);

    for (int64_t seq = 0; seq < 3; seq++)
        take_at(&s, seq, 0);
    assert_nothing_due(&s);
    end_at(&s, 0, 10);
    take_at(&s, 3, 10);
    assert_nothing_due(&s);
    end_at(&s, 0, 20); /* who ended first is due first */
    end_at(&s, 0, 25);
    end_at(&s, 0, 25);
    take_at(&s, 4, 20);
    take_at(&s, 5, 25);
    end_at(&s, 0, 30); /* the ring wraps */
    take_at(&s, 6, 25);
    take_at(&s, 7, 30);
    assert_nothing_due(&s);
    source_end(&s);
}

TEST(closed_loop_ends_by_time)
{
    struct load_settings load = {.scenario = SCENARIO_CLOSED,
                                 .clients = 2,
                                 .warmup_ns = 100,
                                 .duration_ns = 1000};
    struct source s = source_make(&load);

    take_at(&s, 0, 0);
    take_at(&s, 1, 0);
    end_at(&s, 0, 1099);
    take_at(&s, 2, 1099);
    end_at(&s, 0, 1100);
    assert_over(&s);
    end_at(&s, 0, 5000);
    assert_over(&s);
    assert_int_equal(s.ops->due_end_ns(s.self), 1100);
    source_end(&s);
}

TEST(closed_loop_ends_by_count)
{
    struct load_settings load = {.scenario = SCENARIO_CLOSED,
                                 .clients = 2,
                                 .warmup_ns = 100,
                                 .requests = 3};
    struct source s = source_make(&load);

    take_at(&s, 0, 0); /* those of the warm-up do not count */
    take_at(&s, 1, 0);
    end_at(&s, 0, 99);
    take_at(&s, 2, 99);
    end_at(&s, 0, 100);
    take_at(&s, 3, 100);
    end_at(&s, 0, 150);
    take_at(&s, 4, 150);
    end_at(&s, 0, 160);
    take_at(&s, 5, 160);
    assert_over(&s);
    end_at(&s, 0, 170);
    assert_over(&s);
    end_at(&s, 0, 180);
    assert_over(&s);
    assert_int_equal(s.ops->due_end_ns(s.self), 181); /* just after it */
    source_end(&s);
}

/* ---- lanes ---- */

static const int64_t lane_counts[] = {1, 2, 3, 7};

/* Every request stands in the lane of its place, and nowhere else. */
static void check_lanes(const struct load_settings *load, int64_t workers)
{
    int64_t n;
    int64_t due_end_ns;
    int64_t *due = source_draw_all(load, &n, &due_end_ns);

    assert_true(n >= 25);
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

TEST(open_lanes_share_one_schedule)
{
    static const struct {
        struct load_settings load;
        const char *stages[2];
    } cases[] = {
        {{.arrival = ARRIVAL_POISSON, .duration_ns = 3 * NS_PER_S}, {NULL}},
        {{.arrival = ARRIVAL_CONSTANT, .duration_ns = 3 * NS_PER_S}, {NULL}},
        {{.arrival = ARRIVAL_GAMMA, .cv = 3, .duration_ns = 3 * NS_PER_S},
         {NULL}},
        {{.arrival = ARRIVAL_POISSON,
          .warmup_ns = NS_PER_S,
          .duration_ns = 3 * NS_PER_S},
         {NULL}},
        {{.exact = true, .duration_ns = 3 * NS_PER_S}, {NULL}},
        {{.exact = true,
          .arrival = ARRIVAL_GAMMA,
          .cv = 2,
          .warmup_ns = NS_PER_S,
          .duration_ns = 3 * NS_PER_S},
         {NULL}},
        {{.requests = 101}, {NULL}},
        {{.requests = 101, .warmup_ns = NS_PER_S}, {NULL}},
        {{.requests = 101, .duration_ns = 700 * NS_PER_MS}, {NULL}},
        {{.burst_on_ns = NS_PER_S / 10,
          .burst_off_ns = NS_PER_S / 5,
          .duration_ns = 3 * NS_PER_S},
         {NULL}},
        {{.duration_ns = 4 * NS_PER_S, .warmup_ns = NS_PER_S},
         {"10/s..100/s 2s", "0 2s"}},
        {{.duration_ns = 4 * NS_PER_S, .exact = true},
         {"50/s 2s", "100/s..10/s 2s"}},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct load_settings load = cases[i].load;

        load.scenario = SCENARIO_SERVER;
        load.rate_rps = 50;
        load.seed = 7 + i;
        for (size_t k = 0; k < 2 && cases[i].stages[k]; k++)
            strlist_add(&load.stages, cases[i].stages[k]);
        for (size_t k = 0; k < COUNT(lane_counts); k++)
            check_lanes(&load, lane_counts[k]);
        strlist_fini(&load.stages);
    }
}

/* More lanes than requests: those that get none are over from the start. */
TEST(an_open_lane_may_have_nothing)
{
    struct load_settings load = {
        .scenario = SCENARIO_SERVER, .rate_rps = 50, .requests = 3, .seed = 1};
    int64_t n;
    int64_t due_end_ns;
    int64_t *due = source_draw_all(&load, &n, &due_end_ns);

    assert_int_equal(n, 3);
    for (int64_t w = 0; w < 7; w++) {
        struct source s =
            lane_make(&load, (struct lane){.worker = w, .workers = 7});

        if (w < 3)
            take_at(&s, w, due[w]);
        assert_over(&s);
        assert_int_equal(s.ops->due_end_ns(s.self), due_end_ns);
        source_end(&s);
    }
    free(due);
}

static void check_shares(int64_t total, int64_t workers)
{
    int64_t sum = 0;

    for (int64_t w = 0; w < workers; w++) {
        int64_t share =
            lane_share(total, (struct lane){.worker = w, .workers = workers});

        assert_in_range(share, total / workers, total / workers + 1);
        sum += share;
    }
    assert_int_equal(sum, total);
}

TEST(shares_are_even_and_complete)
{
    for (int64_t total = 0; total < 30; total++) {
        for (int64_t workers = 1; workers < 12; workers++)
            check_shares(total, workers);
    }
}

/* All clients of a lane send at once, their answers come every 10 ns; returns
 * how many requests the lane had. */
static int64_t run_closed_lane(const struct load_settings *load,
                               struct lane lane)
{
    struct source s = lane_make(load, lane);
    int64_t clients = lane_share(load->clients, lane);
    int64_t at_ns = 0;
    int64_t taken = 0;
    int64_t in_flight = 0;

    while (s.ops->peek_ns(s.self) != DUE_NEVER) {
        if (s.ops->peek_ns(s.self) == DUE_UNKNOWN) {
            assert_int_equal(in_flight, clients);
            end_at(&s, 0, at_ns += 10);
            in_flight--;
        }
        take_at(&s, lane.worker + lane.workers * taken++, at_ns);
        in_flight++;
        assert_true(in_flight <= clients);
    }
    source_end(&s);
    return taken;
}

TEST(closed_lanes_share_clients_and_requests)
{
    static const struct {
        int64_t clients;
        int64_t requests;
    } cases[] = {{7, 100}, {20, 101}, {20, 7}, {20, 3}, {20, 1}, {7, 7}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct load_settings load = {.scenario = SCENARIO_CLOSED,
                                     .clients = cases[i].clients,
                                     .requests = cases[i].requests};

        for (size_t k = 0; k < COUNT(lane_counts); k++) {
            int64_t sum = 0;

            for (int64_t w = 0; w < lane_counts[k]; w++)
                sum += run_closed_lane(
                    &load,
                    (struct lane){.worker = w, .workers = lane_counts[k]});
            assert_int_equal(sum, cases[i].requests);
        }
    }
}
