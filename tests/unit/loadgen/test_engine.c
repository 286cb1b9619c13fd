/* The engine on a clock that the test moves and a transport that the test
 * ends: what it sends when, what it gives up, and that it comes to an end. */
#include <stdbool.h>
#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/engine/engine.h"
#include "loadgen/engine/request.h"
#include "loadgen/schedule/source.h"
#include "tests/support/enginerig.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MS NS_PER_MS

/* ---- step by step ---- */

TEST(requests_go_out_when_they_are_due)
{
    const struct setup setup = {
        .load = rig_open_load(10, 3), .slots = 8, .timeout_ns = NS_PER_S};
    struct rig *rig = rig_new(&setup);

    rig_pass_at(rig, -1); /* before the start */
    assert_int_equal(rig->fake->started, 0);
    rig_pass_at(rig, 0);
    assert_int_equal(rig->fake->started, 1);
    rig_pass_at(rig, 100 * MS - 1);
    assert_int_equal(rig->fake->started, 1);
    rig_pass_at(rig, 100 * MS);
    assert_int_equal(rig->fake->started, 2);
    rig_pass_at(rig, 230 * MS);
    assert_int_equal(rig->fake->started, 3);
    assert_int_equal(engine_observe(rig->engine).lag_max, 30 * MS);
    assert_int_equal(engine_observe(rig->engine).lag_max, 0);
    rig_end_flight(rig, 2);
    rig_end_flight(rig, 0);
    assert_false(rig->has_ended);
    rig_end_flight(rig, 0); /* the last one's end ends the run */
    rig_close(rig);
    assert_int_equal(rig->rows[2].issued - rig->rows[2].due, 30 * MS);
    assert_int_equal(engine_end(rig->engine).due_end_ns, 300 * MS);
    rig_free(rig);
}

/* What the cap holds back goes out within the very end that makes room. */
TEST(the_end_of_one_lets_the_next_go)
{
    const struct setup setup = {
        .load = rig_open_load(100, 4), .slots = 2, .timeout_ns = NS_PER_S};
    struct rig *rig = rig_new(&setup);

    rig_pass_at(rig, 30 * MS); /* all four are due */
    assert_int_equal(rig->fake->started, 2);
    for (int i = 0; i < 3; i++)
        rig_pass(rig);
    assert_int_equal(rig->fake->started, 2);
    assert_int_equal(engine_observe(rig->engine).cap_waits, 0);
    rig->clk.at_ns = 40 * MS;
    rig_end_flight(rig, 0);
    assert_int_equal(rig->fake->started, 3);
    rig->clk.at_ns = 50 * MS;
    rig_end_flight(rig, 0);
    assert_int_equal(rig->fake->started, 4);
    assert_int_equal(engine_observe(rig->engine).cap_waits, 2);
    rig_end_flight(rig, 0);
    rig_end_flight(rig, 0);
    rig_pass(rig);
    rig_close(rig);
    assert_int_equal(rig->rows[2].issued, 40 * MS);
    assert_int_equal(rig->rows[3].issued, 50 * MS);
    rig_free(rig);
}

/* The deadline counts from due; who times out makes room. */
TEST(deadlines_pass_in_the_order_of_due)
{
    const struct setup setup = {
        .load = rig_open_load(100, 3), .slots = 2, .timeout_ns = 50 * MS};
    struct rig *rig = rig_new(&setup);

    rig_pass_at(rig, 0);
    rig_pass_at(rig, 20 * MS);
    assert_int_equal(rig->fake->started, 2);
    rig->fake->flights[1].request->facts.head = 20 * MS;
    rig_pass_at(rig, 50 * MS - 1);
    assert_int_equal(rig->fake->cancelled, 0);
    rig_pass_at(rig, 50 * MS);
    assert_int_equal(rig->fake->cancelled, 1);
    assert_int_equal(rig->fake->started,
                     3); /* due at 20 ms, held back until now */
    rig_pass_at(rig, 65 * MS);
    assert_int_equal(rig->fake->cancelled, 2);
    rig_end_flight(rig, 0);
    rig_pass(rig);
    rig_close(rig);
    assert_string_equal(engine_failures(rig->engine)->kinds[0].text,
                        "no answer within the timeout");
    assert_string_equal(engine_failures(rig->engine)->kinds[1].text,
                        "the answer was not complete within the timeout");
    assert_int_equal(rig->rows[0].outcome, OUTCOME_TIMEOUT);
    assert_int_equal(rig->rows[0].end, 50 * MS);
    assert_int_equal(rig->rows[1].outcome, OUTCOME_TIMEOUT);
    assert_int_equal(rig->rows[1].end, 65 * MS);
    assert_int_equal(rig->rows[2].outcome, OUTCOME_OK);
    assert_int_equal(rig->rows[2].issued, 50 * MS);
    rig_free(rig);
}

/* ---- a run that is cut ---- */

TEST(a_cut_open_loop_accounts_for_those_that_wait)
{
    const struct setup setup = {
        .load = rig_open_load(10, 100), .slots = 1, .timeout_ns = NS_PER_S};
    struct rig *rig = rig_new(&setup);

    rig_pass_at(rig, 0);
    rig_cut_at(rig, 350 * MS);
    rig_close(rig);
    assert_int_equal(rig->n, 4); /* due at 0, 100, 200 and 300 ms */
    assert_int_equal(rig->rows[0].outcome, OUTCOME_UNFINISHED);
    assert_int_equal(rig->rows[0].end, 350 * MS);
    assert_int_equal(rig_count(rig, OUTCOME_UNSENT), 3);
    assert_int_equal(engine_end(rig->engine).due_end_ns, 350 * MS);
    rig_free(rig);
}

/* What fell due a moment before the cut was not left unsent: it belongs to what
 * comes after. */
TEST(a_cut_forgives_the_pacer_its_lag)
{
    static const struct {
        int64_t cut_ns;
        size_t n;
        int64_t due_end_ns;
    } cases[] = {{100 * MS + 1, 1, 100 * MS},
                 {102 * MS - 1, 1, 100 * MS},
                 {102 * MS, 2, 102 * MS}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct setup setup = {
            .load = rig_open_load(10, 100), .slots = 9, .timeout_ns = NS_PER_S};
        struct rig *rig = rig_new(&setup);

        rig_pass_at(rig, 0);
        rig_cut_at(rig, cases[i].cut_ns);
        rig_close(rig);
        assert_int_equal(rig->n, cases[i].n);
        assert_int_equal(engine_end(rig->engine).due_end_ns,
                         cases[i].due_end_ns);
        rig_free(rig);
    }
}

/* Nothing is sent any more, and what is in flight ends as usual.  A stop
 * followed by a cut ends where the load ended. */
TEST(a_stopped_run_waits_for_its_answers)
{
    for (int is_cut = 0; is_cut < 2; is_cut++) {
        const struct setup setup = {
            .load = rig_open_load(10, 100), .slots = 9, .timeout_ns = NS_PER_S};
        struct rig *rig = rig_new(&setup);

        for (int i = 0; i < 3; i++)
            rig_pass_at(rig, (int64_t)i * 100 * MS);
        rig->clk.at_ns = 250 * MS;
        engine_cut(rig->engine, true);
        engine_cut(rig->engine, true); /* once is enough */
        rig_pass_at(rig, 400 * MS);
        assert_int_equal(rig->fake->started, 3);
        rig_end_flight(rig, 0);
        rig_end_flight(rig, 0);
        assert_false(rig->has_ended);
        if (is_cut)
            rig_cut_at(rig, 600 * MS);
        else
            rig_end_flight(rig, 0);
        assert_true(rig->has_ended);
        rig_close(rig);
        assert_int_equal(rig->n, 3);
        assert_int_equal(rig_count(rig, OUTCOME_OK), is_cut ? 2 : 3);
        assert_int_equal(engine_end(rig->engine).due_end_ns, 250 * MS);
        assert_true(engine_end(rig->engine).was_cut);
        rig_free(rig);
    }
}

/* Five clients, two connections: three are due and wait. */
TEST(a_cut_closed_loop_accounts_for_those_that_wait)
{
    const struct setup setup = {
        .load = rig_closed_load(5, 0), .slots = 2, .timeout_ns = NS_PER_S};
    struct rig *rig = rig_new(&setup);

    rig_pass_at(rig, 0);
    assert_int_equal(rig->fake->started, 2);
    rig->clk.at_ns = 5 * MS;
    rig_end_flight(rig, 0); /* the third goes out, its client waits again */
    rig_cut_at(rig, 10 * MS);
    rig_close(rig);
    assert_int_equal(rig->n, 6);
    assert_int_equal(rig_count(rig, OUTCOME_OK), 1);
    assert_int_equal(rig_count(rig, OUTCOME_UNFINISHED), 2);
    assert_int_equal(rig_count(rig, OUTCOME_UNSENT), 3);
    assert_int_equal(rig->rows[5].due, 5 * MS);
    assert_int_equal(engine_end(rig->engine).due_end_ns, 10 * MS);
    rig_free(rig);
}

/* ---- many at once ---- */

TEST(responses_get_their_turn_after_64_sends)
{
    const struct setup setup = {.load = rig_open_load(1e6, 1000),
                                .slots = RIG_MAX_FLIGHT,
                                .timeout_ns = NS_PER_S};
    struct rig *rig = rig_new(&setup);

    for (int64_t i = 1; i <= 3; i++) {
        rig_pass_at(rig, 10 * MS);
        assert_int_equal(rig->fake->started, 64 * i);
    }
    for (int i = 0; i < 20; i++)
        rig_pass(rig);
    assert_int_equal(rig->fake->started, 1000);
    while (rig->fake->len > 0)
        rig_end_flight(rig, rig->fake->len / 2);
    rig_pass(rig);
    rig_close(rig);
    rig_free(rig);
}

/* ended() inside start(): no recursion, no request lost, the same end. */
TEST(answers_may_come_before_start_returns)
{
    const struct setup setups[] = {
        {.load = rig_open_load(1e6, 1000), .slots = 1, .timeout_ns = NS_PER_S},
        {.load = rig_closed_load(1, 1000), .slots = 1, .timeout_ns = NS_PER_S},
        {.load = rig_closed_load(70, 1000), .slots = 3, .timeout_ns = NS_PER_S},
    };

    for (size_t i = 0; i < COUNT(setups); i++) {
        struct rig *rig = rig_new(&setups[i]);

        rig->fake->ends_at_once = true;
        for (int k = 0; k < 30 && !rig->has_ended; k++)
            rig_pass_at(rig, (10 + k) * MS);
        rig_close(rig);
        assert_int_equal(rig_count(rig, OUTCOME_OK), 1000);
        rig_free(rig);
    }
}

/* ---- whole runs in virtual time: a server of k slots ---- */

struct sim {
    struct setup setup;
    int64_t service_mean_ns;
    int64_t freeze_at_ns; /* then the client stands still for freeze_ns */
    int64_t freeze_ns;
};

/* The same schedule once more, to know when something will be due. */
static int64_t *draw_schedule(const struct load_settings *load)
{
    const struct source_ops *ops = source_for(load);
    int64_t *due = xcalloc((size_t)load->requests, sizeof(*due));
    void *self = xcalloc(1, ops->state_size);
    struct err err = {0};

    assert_int_equal(
        ops->init(self, load, (struct lane){.worker = 0, .workers = 1}, &err),
        0);
    for (int64_t i = 0; i < load->requests; i++)
        due[i] = ops->take(self).at_ns;
    ops->fini(self);
    free(self);
    return due;
}

static void take_least(int64_t *least, int64_t at_ns, int64_t now_ns)
{
    if (at_ns > now_ns && at_ns < *least)
        *least = at_ns;
}

/* When anything can happen next: an arrival, an end, a deadline. */
static int64_t next_event(const struct rig *rig, const int64_t *due)
{
    struct engine_counts c = engine_counts(rig->engine);
    int64_t now = rig->clk.at_ns;
    int64_t next = INT64_MAX;

    if (c.issued + c.unsent < rig->settings.load.requests)
        take_least(&next, due[c.issued + c.unsent], now);
    for (size_t i = 0; i < rig->fake->len; i++) {
        const struct flight *f = &rig->fake->flights[i];

        take_least(&next, f->end_ns, now);
        take_least(&next,
                   f->request->facts.due + rig->settings.target.timeout_ns,
                   now);
    }
    return next;
}

static void end_what_is_over(struct rig *rig)
{
    for (size_t i = 0; i < rig->fake->len;) {
        if (rig->fake->flights[i].end_ns <= rig->clk.at_ns) {
            rig_end_flight(rig, i);
            i = 0;
        } else {
            i++;
        }
    }
}

static struct rig *simulate(const struct sim *sim)
{
    struct rig *rig = rig_new(&sim->setup);
    int64_t *due = draw_schedule(&sim->setup.load);
    bool has_frozen = sim->freeze_ns == 0;

    rig->fake->service_mean_ns = sim->service_mean_ns;
    rig_pass(rig);
    while (!rig->has_ended) {
        int64_t next = next_event(rig, due);

        if (next != INT64_MAX)
            rig->clk.at_ns = next;
        if (!has_frozen && rig->clk.at_ns >= sim->freeze_at_ns) {
            rig->clk.at_ns += sim->freeze_ns;
            has_frozen = true;
        }
        end_what_is_over(rig);
        rig_pass(rig);
        rig_pass(rig);
    }
    free(due);
    rig_close(rig);
    assert_int_equal(rig->n, sim->setup.load.requests);
    return rig;
}

static size_t index_of_least(const int64_t *values, int64_t len)
{
    size_t best = 0;

    for (size_t i = 1; i < (size_t)len; i++) {
        if (values[i] < values[best])
            best = i;
    }
    return best;
}

/* In a queue with k servers a customer starts when it has come and one server
 * is free: that, and not a tick later, is when it must be issued.  Returns how
 * many had to wait. */
static int64_t check_queue(const struct rig *rig, int64_t slots)
{
    int64_t *free_at = xcalloc((size_t)slots, sizeof(*free_at));
    int64_t waited = 0;

    for (size_t i = 0; i < rig->n; i++) {
        const struct facts *f = &rig->rows[i];
        size_t s = index_of_least(free_at, slots);
        int64_t start = f->due > free_at[s] ? f->due : free_at[s];

        assert_int_equal(f->outcome, OUTCOME_OK);
        assert_int_equal(f->issued, start);
        free_at[s] = start + f->bytes_out;
        waited += start > f->due;
    }
    free(free_at);
    return waited;
}

static struct load_settings poisson_load(double rate_rps, int64_t n)
{
    struct load_settings load = rig_open_load(rate_rps, n);

    load.arrival = ARRIVAL_POISSON;
    return load;
}

TEST(nothing_waits_where_there_is_room)
{
    const struct sim sim = {.setup = {.load = poisson_load(1000, 5000),
                                      .slots = 64,
                                      .timeout_ns = NS_PER_S},
                            .service_mean_ns = 5 * MS}; /* 5 are used */
    struct rig *rig = simulate(&sim);

    assert_int_equal(check_queue(rig, 64), 0);
    rig_free(rig);
}

/* The cap holds some back: the wait is charged to the client as lag, exactly
 * as long as a queue with k servers makes it. */
TEST(a_full_cap_is_charged_as_lag)
{
    static const int64_t slots[] = {1, 2, 5};

    for (size_t i = 0; i < COUNT(slots); i++) {
        const struct sim sim = {
            .setup = {.load = poisson_load(100 * (double)slots[i], 5000),
                      .slots = slots[i],
                      .timeout_ns = 3600 * NS_PER_S},
            .service_mean_ns = 8 * MS}; /* load 0.8 */
        struct rig *rig = simulate(&sim);

        assert_in_range(check_queue(rig, slots[i]), 250, 4750);
        rig_free(rig);
    }
}

/* Four times what the slots can take.  A slot is free at the latest when the
 * deadline of the request in it has passed, which is before that of the next
 * one in line: none is left unsent, all are late. */
TEST(overload_is_charged_up_to_the_deadline)
{
    const struct sim sim = {.setup = {.load = poisson_load(800, 5000),
                                      .slots = 2,
                                      .timeout_ns = 500 * MS},
                            .service_mean_ns = 10 * MS};
    struct rig *rig = simulate(&sim);
    int64_t lag_max = 0;
    int64_t late = 0;

    for (size_t i = 0; i < rig->n; i++) {
        int64_t lag = rig->rows[i].issued - rig->rows[i].due;

        assert_true(lag >= 0 && lag < 500 * MS);
        late += lag > 0;
        if (lag > lag_max)
            lag_max = lag;
    }
    assert_int_equal(rig_count(rig, OUTCOME_UNSENT), 0);
    assert_true(rig_count(rig, OUTCOME_TIMEOUT) > 1000);
    assert_true(late > 4900);
    assert_true(lag_max > 450 * MS);
    rig_free(rig);
}

/* 10/s, and the client is away for a second from when the request of 2.0 s has
 * ended, within 50 ms, with a timeout of 500 ms: those of 2.1 to 2.5 s have
 * expired, those of 2.6 to 3.0 s are late. */
TEST(what_expired_while_the_client_was_away_is_unsent)
{
    const struct sim sim = {.setup = {.load = rig_open_load(10, 100),
                                      .slots = 64,
                                      .timeout_ns = 500 * MS},
                            .service_mean_ns = 25 * MS,
                            .freeze_at_ns = 2000 * MS + 1,
                            .freeze_ns = NS_PER_S};
    struct rig *rig = simulate(&sim);
    int64_t late = 0;

    for (size_t i = 0; i < rig->n; i++) {
        const struct facts *f = &rig->rows[i];

        assert_int_equal(f->outcome == OUTCOME_UNSENT, i >= 21 && i <= 25);
        late += f->issued > f->due;
    }
    assert_int_equal(late, 5);
    assert_in_range(rig->rows[26].issued - rig->rows[26].due, 400 * MS,
                    450 * MS);
    rig_free(rig);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
