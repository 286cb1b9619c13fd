/* What bounds the engine: the burst after a suspension, the requests in
 * flight, the time at the end; and what it says of itself. */
#include <stdbool.h>

#include "common/base/clk.h"
#include "common/settings/settings.h"
#include "loadgen/engine/engine.h"
#include "tests/support/enginerig.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MS NS_PER_MS

static void end_all(struct rig *rig)
{
    while (rig->fake->len > 0)
        rig_end_flight(rig, 0);
}

/* ---- a client that was suspended ---- */

/* 100/s until 500 ms, then nothing runs until 1500 ms: 101 are due by then.
 * The loop takes some turns to get through them, and somewhere in between it
 * observes, which it had to do at 1000 ms. */
TEST(after_a_suspension_the_burst_is_bounded)
{
    for (int observe_in = 0; observe_in < 4; observe_in++) {
        const struct setup setup = {.load = rig_open_load(100, 300),
                                    .slots = RIG_MAX_FLIGHT,
                                    .timeout_ns = 10 * NS_PER_S,
                                    .max_burst = 10};
        struct rig *rig = rig_new(&setup);
        int64_t suspended = 0;

        rig->fake->ends_at_once = true;
        engine_observe(rig->engine);
        for (int64_t ms = 0; ms <= 490; ms += 10)
            rig_pass_at(rig, ms * MS);
        assert_int_equal(rig->fake->started, 50);
        for (int turn = 0; turn < 4; turn++) {
            rig->clk.at_ns = 1500 * MS + turn;
            if (turn == observe_in)
                suspended = engine_observe(rig->engine).suspended_max;
            rig_pass(rig);
        }
        assert_int_equal(rig->fake->started, 60);
        assert_in_range(suspended, NS_PER_S, NS_PER_S + 3);
        assert_int_equal(engine_observe(rig->engine).suspended_max, 0);
        for (int64_t ms = 1510; !rig->has_ended; ms += 10)
            rig_pass_at(rig, ms * MS);
        rig_close(rig);
        assert_int_equal(rig_count(rig, OUTCOME_UNSENT), 91);
        assert_int_equal(rig_count(rig, OUTCOME_OK), 209);
        for (size_t i = 0; i < rig->n; i++)
            assert_int_equal(rig->rows[i].outcome == OUTCOME_UNSENT,
                             i >= 60 && i <= 150);
        rig_free(rig);
    }
}

/* It was away when the run began. */
TEST(a_client_can_miss_the_start)
{
    const struct setup setup = {.load = rig_open_load(100, 40),
                                .slots = RIG_MAX_FLIGHT,
                                .timeout_ns = 10 * NS_PER_S,
                                .max_burst = 10};
    struct rig *rig = rig_new(&setup);

    rig->fake->ends_at_once = true;
    rig_pass_at(rig, 300 * MS); /* 31 are due */
    assert_int_equal(rig->fake->started, 10);
    assert_int_equal(engine_observe(rig->engine).suspended_max, 300 * MS);
    rig_pass_at(rig, 390 * MS);
    rig_close(rig);
    assert_int_equal(rig_count(rig, OUTCOME_UNSENT), 21);
    assert_int_equal(rig_count(rig, OUTCOME_OK), 19);
    rig_free(rig);
}

/* The burst is that of the client, not of each of its workers. */
TEST(workers_share_the_burst)
{
    static const int64_t want[] = {4, 3, 3};

    for (int64_t w = 0; w < 3; w++) {
        const struct setup setup = {.load = rig_open_load(100, 90),
                                    .slots = RIG_MAX_FLIGHT,
                                    .timeout_ns = 10 * NS_PER_S,
                                    .max_burst = 10,
                                    .lane = {.worker = w, .workers = 3}};
        struct rig *rig = rig_new(&setup);

        rig->fake->ends_at_once = true;
        rig_pass_at(rig, -1);
        rig_pass_at(rig, NS_PER_S);
        rig_pass(rig);
        rig_close(rig);
        assert_int_equal(rig->n, 30);
        assert_int_equal(rig_count(rig, OUTCOME_OK), want[w]);
        rig_free(rig);
    }
}

/* No request is due for long, but its heart has to beat. */
TEST(an_idle_client_can_be_suspended_too)
{
    const struct setup setup = {.load = rig_closed_load(1, 5),
                                .slots = 1,
                                .timeout_ns = 100 * NS_PER_S};
    struct rig *rig = rig_new(&setup);

    rig_pass_at(rig, 0);
    assert_int_equal(engine_observe(rig->engine).suspended_max, 0);
    rig_pass_at(rig, 100 * MS + 249 * MS);
    assert_int_equal(engine_observe(rig->engine).suspended_max, 0);
    rig_pass_at(rig, 449 * MS + 250 * MS);
    assert_int_equal(engine_observe(rig->engine).suspended_max, 250 * MS);
    rig_pass_at(rig, 3 * NS_PER_S);
    assert_int_equal(engine_observe(rig->engine).suspended_max, 2201 * MS);
    rig_cut_at(rig, 3 * NS_PER_S);
    rig_close(rig);
    rig_free(rig);
}

/* To be late because there was no room is not to be suspended. */
TEST(a_full_engine_is_not_suspended)
{
    const struct setup setup = {.load = rig_open_load(100, 50),
                                .slots = 1,
                                .timeout_ns = 10 * NS_PER_S,
                                .max_burst = 1};
    struct rig *rig = rig_new(&setup);

    rig_pass_at(rig, 0);
    rig_pass_at(rig, 10 * MS);
    for (int64_t ms = 100; ms <= 2000; ms += 100)
        rig_pass_at(rig, ms * MS);
    rig->fake->ends_at_once = true;
    rig_end_flight(rig, 0);
    rig_pass(rig);
    assert_int_equal(engine_observe(rig->engine).suspended_max, 0);
    rig_close(rig);
    assert_int_equal(rig_count(rig, OUTCOME_OK), 50);
    rig_free(rig);
}

/* ---- requests in flight ---- */

/* Whichever of the bounds is lower holds requests back, and lets them go. */
TEST(the_lower_bound_holds_requests_back)
{
    static const struct {
        int64_t slots;
        int64_t max_in_flight;
        int64_t want;
    } cases[] = {{8, 3, 3}, {3, 8, 3}, {4, 4, 4}, {1, 1, 1}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct setup setup = {.load = rig_open_load(1000, 10),
                                    .slots = cases[i].slots,
                                    .timeout_ns = NS_PER_S,
                                    .max_in_flight = cases[i].max_in_flight};
        struct rig *rig = rig_new(&setup);
        int64_t held = 10 - cases[i].want;

        rig_pass_at(rig, 9 * MS);
        rig_pass(rig);
        assert_int_equal(rig->fake->started, cases[i].want);
        rig_end_flight(rig, 0);
        assert_int_equal(rig->fake->started, cases[i].want + 1);
        end_all(rig);
        assert_int_equal(engine_observe(rig->engine).cap_waits, held);
        rig_close(rig);
        assert_int_equal(rig_count(rig, OUTCOME_OK), 10);
        rig_free(rig);
    }
}

/* ---- the end ---- */

/* 10/s for a second after 500 ms of warm-up, no server answers: 15 in flight at
 * the end of the window. */
TEST(what_is_in_flight_gets_the_drain)
{
    static const int64_t drains_ms[] = {0, 1, 700};

    for (size_t i = 0; i < COUNT(drains_ms); i++) {
        struct setup setup = {.load = rig_open_load(10, 0),
                              .slots = RIG_MAX_FLIGHT,
                              .timeout_ns = 100 * NS_PER_S};
        int64_t end_ns = (1500 + drains_ms[i]) * MS;
        struct rig *rig;

        setup.load.warmup_ns = 500 * MS;
        setup.load.duration_ns = NS_PER_S;
        setup.load.drain_ns = drains_ms[i] * MS;
        rig = rig_new(&setup);
        for (int64_t ms = 0; ms <= 1400; ms += 100)
            rig_pass_at(rig, ms * MS);
        assert_int_equal(rig->fake->started, 15);
        rig_end_flight(rig, 3);
        rig_pass_at(rig, end_ns - 1);
        assert_false(rig->has_ended);
        rig_pass_at(rig, end_ns);
        rig_close(rig);
        assert_int_equal(rig->n, 15);
        assert_int_equal(rig_count(rig, OUTCOME_UNFINISHED), 14);
        assert_int_equal(rig->rows[14].end, end_ns);
        assert_int_equal(engine_end(rig->engine).due_end_ns, 1500 * MS);
        rig_free(rig);
    }
}

/* The window's last request is waited for even where the drain is 0. */
TEST(a_drain_of_0_leaves_the_window_whole)
{
    struct setup setup = {.load = rig_open_load(10, 0),
                          .slots = RIG_MAX_FLIGHT,
                          .timeout_ns = 100 * NS_PER_S};
    struct rig *rig;

    setup.load.duration_ns = 100 * MS + 1;
    setup.load.drain_ns = 0;
    rig = rig_new(&setup);
    rig_pass_at(rig, 0);
    rig_pass_at(rig, 100 * MS - 500); /* within the timer's grain */
    assert_int_equal(rig->fake->started, 1);
    assert_false(rig->has_ended);
    rig_pass_at(rig, 100 * MS + 1);
    rig_pass_at(rig, 100 * MS + 1);
    rig_close(rig);
    assert_int_equal(rig->n, 2);
    assert_int_equal(engine_end(rig->engine).due_end_ns, 100 * MS + 1);
    rig_free(rig);
}

/* Ended by its count, whether or not there is a clock that would end it later:
 * the drain counts from when the last request was taken. */
TEST(a_count_drains_from_its_last_request)
{
    static const struct {
        bool is_closed;
        int64_t duration_ns;
    } cases[] = {{false, 0},
                 {false, 3600 * NS_PER_S},
                 {true, 0},
                 {true, 3600 * NS_PER_S}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct setup setup = {.load = cases[i].is_closed ? rig_closed_load(1, 3)
                                                         : rig_open_load(10, 3),
                              .slots = RIG_MAX_FLIGHT,
                              .timeout_ns = 100 * NS_PER_S};
        struct rig *rig;

        setup.load.duration_ns = cases[i].duration_ns;
        setup.load.drain_ns = 50 * MS;
        rig = rig_new(&setup);
        for (int64_t ms = 0; ms <= 200; ms += 100) {
            rig->clk.at_ns = ms * MS;
            if (rig->fake->len > 0)
                rig_end_flight(rig, 0);
            rig_pass(rig);
        }
        assert_int_equal(rig->fake->started, 3);
        rig_pass_at(rig, 250 * MS - 1);
        assert_false(rig->has_ended);
        rig_pass_at(rig, 250 * MS);
        rig_close(rig);
        assert_int_equal(rig->rows[2].outcome, OUTCOME_UNFINISHED);
        assert_int_equal(rig->rows[2].end, 250 * MS);
        assert_int_equal(rig_count(rig, OUTCOME_OK), 2);
        rig_free(rig);
    }
}

/* Without a limit the timeout is what ends them. */
TEST(without_a_drain_the_timeout_ends_them)
{
    struct setup setup = {.load = rig_open_load(10, 0),
                          .slots = RIG_MAX_FLIGHT,
                          .timeout_ns = 5 * NS_PER_S};
    struct rig *rig;

    setup.load.duration_ns = 100 * MS;
    rig = rig_new(&setup);
    rig_pass_at(rig, 0);
    rig_pass_at(rig, 5 * NS_PER_S - 1);
    assert_false(rig->has_ended);
    rig_pass_at(rig, 5 * NS_PER_S);
    rig_pass(rig);
    rig_close(rig);
    assert_int_equal(rig->rows[0].outcome, OUTCOME_TIMEOUT);
    assert_false(engine_end(rig->engine).was_cut);
    rig_free(rig);
}

/* Cut by the end of the drain, those that waited for room are unsent. */
TEST(who_waits_for_room_is_unsent_in_the_end)
{
    struct setup setup = {
        .load = rig_open_load(10, 0), .slots = 2, .timeout_ns = 100 * NS_PER_S};
    struct rig *rig;

    setup.load.duration_ns = 500 * MS;
    setup.load.drain_ns = 100 * MS;
    rig = rig_new(&setup);
    for (int64_t ms = 0; ms <= 600; ms += 100)
        rig_pass_at(rig, ms * MS);
    rig_close(rig);
    assert_int_equal(rig_count(rig, OUTCOME_UNFINISHED), 2);
    assert_int_equal(rig_count(rig, OUTCOME_UNSENT), 3);
    assert_int_equal(engine_end(rig->engine).due_end_ns, 500 * MS);
    assert_true(engine_end(rig->engine).was_cut);
    rig_free(rig);
}

/* ---- spinning ---- */

/* 10/s and 20 ms of spin: what it polls in the first and the last 20 ms of each
 * wait is spun, unless something came of it; of the wait for the start, only in
 * the last. */
TEST(only_fruitless_polling_is_spun)
{
    static const struct {
        int64_t at_ms;
        int64_t want_ms; /* spun until then */
        bool ends;       /* the one in flight, first */
    } cases[] = {
        {-60, 0, false},  {-40, 0, false},  {0, 0, false},    {10, 10, false},
        {20, 20, false},  {50, 20, false},  {80, 20, false},  {81, 21, false},
        {90, 30, false},  {95, 30, true},   {99, 34, false},  {100, 35, false},
        {120, 55, false}, {150, 55, false}, {185, 55, false}, {200, 70, false},
    };
    const struct setup setup = {.load = rig_open_load(10, 4),
                                .slots = 4,
                                .timeout_ns = 10 * NS_PER_S,
                                .spin_ns = 20 * MS};
    struct rig *rig = rig_new(&setup);

    for (size_t i = 0; i < COUNT(cases); i++) {
        rig->clk.at_ns = cases[i].at_ms * MS;
        if (cases[i].ends)
            rig_end_flight(rig, 0);
        rig_pass(rig);
        assert_int_equal(engine_observe(rig->engine).spun,
                         cases[i].want_ms * MS);
    }
    rig_cut_at(rig, 200 * MS);
    rig_close(rig);
    rig_free(rig);
}

/* ---- what is left unsent at a cut ---- */

static struct load_settings offline_load(int64_t n)
{
    struct load_settings load = rig_open_load(1, n);

    load.scenario = SCENARIO_OFFLINE;
    return load;
}

static int64_t unsent_of_class(const struct rig *rig, int64_t class)
{
    int64_t n = 0;

    for (size_t i = 0; i < rig->n; i++) {
        if (rig->rows[i].outcome == OUTCOME_UNSENT &&
            rig->rows[i].class == class)
            n += facts_n(&rig->rows[i]);
    }
    return n;
}

/* Work and rows do not grow with what is left. */
TEST(a_cut_records_what_is_left_as_a_range)
{
    static const int64_t billion = 1000000000;
    const struct setup setup = {.load = offline_load(billion),
                                .slots = 3,
                                .timeout_ns = NS_PER_S,
                                .lane = {.worker = 1, .workers = 4}};
    struct rig *rig = rig_new(&setup);
    const struct facts *range;

    rig_pass_at(rig, 0);
    assert_int_equal(rig->fake->len, 3);
    rig_cut_at(rig, 100 * MS);
    rig_close_whole(rig);
    assert_int_equal(rig->n, 4);
    range = &rig->rows[0];
    assert_int_equal(range->outcome, OUTCOME_UNSENT);
    assert_int_equal(range->seq, 1 + 3 * 4);
    assert_int_equal(facts_n(range), billion / 4 - 3);
    assert_int_equal(range->last_seq, 1 + (billion / 4 - 1) * 4);
    assert_int_equal(rig_count(rig, OUTCOME_UNFINISHED), 3);
    assert_int_equal(engine_counts(rig->engine).unsent, billion / 4 - 3);
    assert_int_equal(engine_end(rig->engine).due_end_ns, 100 * MS);
    rig_free(rig);
}

/* One range per class, by weight if no class was drawn. */
TEST(ranges_are_of_one_class)
{
    const struct setup setup = {
        .load = offline_load(10000000), .slots = 1, .timeout_ns = NS_PER_S};
    struct class_settings weights[2] = {{.weight = 3}, {.weight = 1}};
    const struct classes classes = {weights, 2};
    struct rig *rig = rig_new(&setup);
    const struct class two[2] = {rig->workload.one, rig->workload.one};

    rig->workload.classes = two;
    rig->workload.is_drawn = true;
    rig->workload.drawn = &classes;
    rig_pass_at(rig, 0);
    rig_cut_at(rig, 100 * MS);
    rig_close_whole(rig);
    assert_int_equal(rig->n, 3);
    assert_int_equal(unsent_of_class(rig, 0) + unsent_of_class(rig, 1),
                     9999999);
    assert_in_range(unsent_of_class(rig, 0), 7499000, 7501000);
    rig_free(rig);
}

/* 10 in each millisecond, of which a row has those; the window begins within
 * one. */
TEST(ranges_end_where_the_window_begins)
{
    struct setup setup = {.load = rig_open_load(10000, 100000),
                          .slots = 1,
                          .timeout_ns = 60 * NS_PER_S};
    struct rig *rig;
    int64_t before = 0;

    setup.load.warmup_ns = 500 * MS + MS / 2;
    rig = rig_new(&setup);
    rig_pass_at(rig, 0);
    rig_cut_at(rig, 1000 * MS - MS / 2);
    rig_close_whole(rig);
    assert_in_range(rig->n, 1000, 1010);
    for (size_t i = 0; i < rig->n; i++) {
        assert_in_range(facts_n(&rig->rows[i]), 1, 10);
        if (rig->rows[i].due < setup.load.warmup_ns)
            before += facts_n(&rig->rows[i]);
    }
    assert_int_equal(before, 5005);
    rig_free(rig);
}

/* Each look at the clock takes this long. */
static int64_t slow_now(const struct clk *clk)
{
    struct clk_fake *fake = (struct clk_fake *)(uintptr_t)clk;

    return fake->at_ns += 600 * MS;
}

/* A schedule that takes long to follow is followed for a second; the recording
 * says up to when. */
TEST(a_cut_follows_the_schedule_for_a_second)
{
    const struct setup setup = {.load = rig_open_load(1000000, 1000000000),
                                .slots = 1,
                                .timeout_ns = 1000 * NS_PER_S};
    struct rig *rig = rig_new(&setup);
    int64_t due_end_ns;

    rig_pass_at(rig, 0);
    rig->clk.clk.now_ns = slow_now;
    rig_cut_at(rig, 100 * NS_PER_S);
    rig_close_whole(rig);
    due_end_ns = engine_end(rig->engine).due_end_ns;
    assert_int_equal(due_end_ns,
                     engine_counts(rig->engine).unsent * 1000 + 1000);
    assert_in_range(due_end_ns, 10 * MS, 100 * MS);
    rig_free(rig);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
