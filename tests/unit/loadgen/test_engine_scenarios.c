/* The engine in scenarios that are not an open loop: what is waited for, what
 * ends them, and that everything is accounted for. */
#include <stdbool.h>

#include "common/base/clk.h"
#include "common/settings/option.h"
#include "common/settings/settings.h"
#include "loadgen/engine/engine.h"
#include "loadgen/engine/request.h"
#include "tests/support/enginerig.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MS NS_PER_MS

static struct load_settings offline_load(int64_t n)
{
    return (struct load_settings){.scenario = SCENARIO_OFFLINE,
                                  .clients = 1,
                                  .requests = n,
                                  .drain_ns = OPT_AUTO};
}

static struct load_settings query_load(int64_t size, int64_t n)
{
    return (struct load_settings){.scenario = SCENARIO_MULTI_STREAM,
                                  .clients = 1,
                                  .query_size = size,
                                  .requests = n,
                                  .drain_ns = OPT_AUTO};
}

/* ---- the automatic cool-down ---- */

/* Every answer takes service_ms.  Moves the clock by a millisecond at a time
 * until the run has ended, and returns when. */
static int64_t run_with(struct rig *rig, int64_t service_ms)
{
    int64_t ms = 0;

    for (; !rig->has_ended; ms++) {
        assert_true(ms < 100000);
        rig->clk.at_ns = ms * MS;
        for (size_t i = 0; i < rig->fake->len;) {
            if (rig->fake->flights[i].request->facts.issued >
                (ms - service_ms) * MS)
                i++;
            else
                rig_end_flight(rig, i);
        }
        rig_pass(rig);
    }
    rig_close(rig);
    return ms - 1;
}

/* A window of 1 s.  Requests of the open loop are due every 1000 / rate ms from
 * 0 on. */
TEST(the_load_continues_for_long_answers)
{
    static const struct {
        double rate; /* 0: 4 clients */
        int64_t service_ms;
        int64_t cooldown_ns;
        int64_t drain_ns;
        int64_t sent;
        int64_t load_end_ms;
        int64_t ended_ms;
    } cases[] = {
        /* The last one, due at 990 ms, ends at 1090; the one due then is not
         * sent. */
        {100, 100, OPT_AUTO, OPT_AUTO, 109, 1090, 1180},
        {100, 100, 0, OPT_AUTO, 100, 1000, 1090},
        {100, 100, 300 * MS, OPT_AUTO, 130, 1300, 1390},
        /* at most half of the window, or the drain time, which ends the run */
        {100, 900, OPT_AUTO, OPT_AUTO, 150, 1500, 2390},
        {100, 900, OPT_AUTO, 200 * MS, 120, 1200, 1200},
        /* all, or all but one of 400, have ended by the end of the window */
        {100, 10, OPT_AUTO, OPT_AUTO, 100, 1000, 1000},
        {400, 4, OPT_AUTO, OPT_AUTO, 400, 1000, 1002},
        /* The last one of the window ends long before the next is due. */
        {4, 20, OPT_AUTO, OPT_AUTO, 4, 1000, 770},
        {4, 400, OPT_AUTO, OPT_AUTO, 5, 1150, 1400},
        /* 4 clients, whose answers come together, but one after the other: all
         * but the last one send again */
        {0, 300, OPT_AUTO, OPT_AUTO, 19, 1200, 1500},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct setup setup = {.load = cases[i].rate > 0
                                          ? rig_open_load(cases[i].rate, 0)
                                          : rig_closed_load(4, 0),
                              .slots = 200,
                              .timeout_ns = 50 * NS_PER_S};
        struct rig *rig;
        int64_t ended_ms;

        setup.load.duration_ns = NS_PER_S;
        setup.load.cooldown_ns = cases[i].cooldown_ns;
        setup.load.drain_ns = cases[i].drain_ns;
        rig = rig_new(&setup);
        ended_ms = run_with(rig, cases[i].service_ms);
        if (rig->fake->started != cases[i].sent ||
            ended_ms != cases[i].ended_ms ||
            engine_end(rig->engine).due_end_ns != cases[i].load_end_ms * MS)
            fail_msg("case %zu: %lld sent, load to %lld ms, ended at %lld ms",
                     i, (long long)rig->fake->started,
                     (long long)(engine_end(rig->engine).due_end_ns / MS),
                     (long long)ended_ms);
        assert_int_equal(engine_end(rig->engine).window_end_ns, NS_PER_S);
        rig_free(rig);
    }
}

/* ---- offline ---- */

/* Those that wait for room wait for each other, not for the server. */
TEST(offline_deadlines_count_from_issued)
{
    const struct setup setup = {
        .load = offline_load(4), .slots = 2, .timeout_ns = 50 * MS};
    struct rig *rig = rig_new(&setup);

    rig_pass_at(rig, 0);
    assert_int_equal(rig->fake->started, 2);
    rig->clk.at_ns = 40 * MS;
    rig_end_flight(rig, 0);
    rig_pass(rig);
    assert_int_equal(rig->fake->started, 3);
    rig_pass_at(rig, 50 * MS); /* the second's time is over, since 0 */
    assert_int_equal(rig->fake->cancelled, 1);
    assert_int_equal(rig->fake->started, 4);
    rig_pass_at(rig, 90 * MS - 1);
    assert_int_equal(rig->fake->cancelled, 1);
    rig_pass_at(rig, 90 * MS); /* the third's, since 40 ms */
    assert_int_equal(rig->fake->cancelled, 2);
    rig->clk.at_ns = 95 * MS;
    rig_end_flight(rig, 0);
    rig_pass(rig);
    rig_close(rig);
    assert_int_equal(rig_count(rig, OUTCOME_OK), 2);
    assert_int_equal(rig_count(rig, OUTCOME_TIMEOUT), 2);
    assert_int_equal(engine_end(rig->engine).due_end_ns, 95 * MS + 1);
    assert_false(engine_end(rig->engine).was_cut);
    rig_free(rig);
}

/* However late: nothing is unsent, also after a suspension, in which nothing
 * fell due that was not due before. */
TEST(offline_sends_everything)
{
    const struct setup setup = {.load = offline_load(200),
                                .slots = 2,
                                .timeout_ns = 50 * MS,
                                .max_burst = 5};
    struct rig *rig = rig_new(&setup);

    rig_pass_at(rig, 0);
    rig_pass_at(rig, 10 * NS_PER_S);
    for (int64_t ms = 10000; !rig->has_ended; ms += 10) {
        rig->clk.at_ns = ms * MS;
        if (rig->fake->len > 0)
            rig_end_flight(rig, 0);
        rig_pass(rig);
    }
    rig_close(rig);
    assert_int_equal(rig->n, 200);
    assert_int_equal(rig_count(rig, OUTCOME_UNSENT), 0);
    assert_int_equal(rig_count(rig, OUTCOME_TIMEOUT), 2);
    rig_free(rig);
}

TEST(offline_ends_with_max_duration)
{
    struct setup setup = {
        .load = offline_load(10), .slots = 3, .timeout_ns = 50 * NS_PER_S};
    struct rig *rig;

    setup.load.max_duration_ns = 200 * MS;
    rig = rig_new(&setup);
    rig_pass_at(rig, 0);
    rig->clk.at_ns = 100 * MS;
    rig_end_flight(rig, 0);
    rig_pass_at(rig, 200 * MS - 1);
    assert_false(rig->has_ended);
    rig_pass_at(rig, 200 * MS);
    rig_close(rig);
    assert_int_equal(rig->n, 10);
    assert_int_equal(rig_count(rig, OUTCOME_OK), 1);
    assert_int_equal(rig_count(rig, OUTCOME_UNFINISHED), 3);
    assert_int_equal(rig_count(rig, OUTCOME_UNSENT), 6);
    assert_int_equal(engine_end(rig->engine).due_end_ns, 200 * MS);
    assert_true(engine_end(rig->engine).was_cut);
    rig_free(rig);
}

/* ---- queries ---- */

TEST(a_query_is_waited_for_whole)
{
    const struct setup setup = {
        .load = query_load(3, 6), .slots = 8, .timeout_ns = 50 * MS};
    struct rig *rig = rig_new(&setup);

    rig_pass_at(rig, 0);
    assert_int_equal(rig->fake->started, 3);
    rig->clk.at_ns = 10 * MS;
    rig_end_flight(rig, 1);
    rig_pass(rig);
    rig->clk.at_ns = 20 * MS;
    rig_end_flight(rig, 0);
    rig_pass(rig);
    assert_int_equal(rig->fake->started, 3);
    rig_pass_at(rig, 50 * MS); /* the last one times out, and is over */
    assert_int_equal(rig->fake->cancelled, 1);
    assert_int_equal(rig->fake->started, 6);
    rig->clk.at_ns = 60 * MS;
    for (int i = 0; i < 3; i++)
        rig_end_flight(rig, 0);
    rig_pass(rig);
    rig_close(rig);
    assert_int_equal(rig_count(rig, OUTCOME_OK), 5);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(rig->rows[i].due, i < 3 ? 0 : 50 * MS);
    rig_free(rig);
}

/* Fewer connections than it has requests: the rest waits for room. */
TEST(a_query_that_is_cut_is_accounted_for)
{
    const struct setup setup = {
        .load = query_load(5, 50), .slots = 2, .timeout_ns = NS_PER_S};
    struct rig *rig = rig_new(&setup);

    rig_pass_at(rig, 0);
    rig->clk.at_ns = 10 * MS;
    rig_end_flight(rig, 0);
    rig_pass(rig);
    assert_int_equal(rig->fake->started, 3);
    rig_cut_at(rig, 30 * MS);
    rig_close(rig);
    assert_int_equal(rig->n, 5);
    assert_int_equal(rig_count(rig, OUTCOME_OK), 1);
    assert_int_equal(rig_count(rig, OUTCOME_UNFINISHED), 2);
    assert_int_equal(rig_count(rig, OUTCOME_UNSENT), 2);
    rig_free(rig);
}

/* ---- clients that think ---- */

/* Who need not think sends at once, though the timer waits for one that does;
 * no timer is helped along here. */
TEST(a_thinker_holds_nobody_back)
{
    static char thoughts[] = "empirical 0:0ms 50:0ms 50.001:5s 100:5s";
    struct setup setup = {.load = rig_closed_load(2, 1000),
                          .slots = 8,
                          .timeout_ns = 100 * NS_PER_S};
    int64_t sent_beside = 0;
    struct rig *rig;

    setup.load.think = thoughts;
    setup.load.seed = 8;
    rig = rig_new(&setup);
    rig_pass_at(rig, 0);
    for (int64_t ms = 1; rig->fake->len > 0; ms++) {
        size_t in_flight = rig->fake->len;

        rig->clk.at_ns = ms * MS;
        rig_end_flight(rig, 0);
        sent_beside += in_flight == 1 && rig->fake->len == 1;
    }
    assert_true(sent_beside > 0);
    rig_cut_at(rig, 4 * NS_PER_S);
    rig_close(rig);
    for (size_t i = 0; i < rig->n; i++)
        assert_int_equal(rig->rows[i].issued, rig->rows[i].due);
    rig_free(rig);
}

/* ---- what bounds every scenario ---- */

/* What is in flight when max_duration is over gets the drain, from then on. */
TEST(the_drain_counts_from_max_duration)
{
    static const bool is_closed[] = {false, true};

    for (size_t i = 0; i < 2; i++) {
        struct setup setup = {.load = is_closed[i] ? rig_closed_load(2, 0)
                                                   : rig_open_load(10, 0),
                              .slots = RIG_MAX_FLIGHT,
                              .timeout_ns = 100 * NS_PER_S};
        struct rig *rig;

        setup.load.duration_ns = 0;
        setup.load.min_duration_ns = i ? 50 * MS : 0;
        setup.load.max_duration_ns = 150 * MS;
        setup.load.drain_ns = 50 * MS;
        rig = rig_new(&setup);
        for (int64_t ms = 0; ms <= 160; ms += 40)
            rig_pass_at(rig, ms * MS);
        assert_int_equal(rig->fake->started, 2);
        rig_pass_at(rig, 200 * MS - 1);
        assert_false(rig->has_ended);
        rig_pass_at(rig, 200 * MS);
        rig_close(rig);
        assert_int_equal(rig_count(rig, OUTCOME_UNFINISHED), 2);
        assert_int_equal(engine_end(rig->engine).due_end_ns, 150 * MS);
        rig_free(rig);
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
