/* The engine on a clock that the test moves and a transport that the test
 * ends: what it sends when, what it gives up, and that it comes to an end. */
#include <event2/event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/recording/schema.h"
#include "common/rng.h"
#include "common/settings.h"
#include "common/xalloc.h"
#include "loadgen/engine.h"
#include "loadgen/recorder.h"
#include "loadgen/request.h"
#include "loadgen/source.h"
#include "loadgen/transport/transport.h"
#include "tests/support/tmpdir.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_FLIGHT   2048
#define MS           NS_PER_MS

/* ---- a transport without a network ---- */

struct flight {
    struct request *request;
    int64_t end_ns; /* of a run in virtual time */
};

struct fake {
    const struct transport_env *env;
    struct flight flights[MAX_FLIGHT]; /* in the order of their start */
    size_t len;
    bool ends_at_once;
    int64_t started;
    int64_t cancelled;
    int64_t service_mean_ns; /* drawn from 0 to twice this */
    struct rng rng;
};

static struct fake *fake; /* the engine's, while there is one */

static int fake_init(void *self, const struct transport_env *env,
                     struct err *err)
{
    (void)err;
    fake = self;
    fake->env = env;
    fake->rng = rng_stream(4, RNG_SERVICE);
    return 0;
}

static bool fake_has_room(void *self)
{
    const struct fake *f = self;

    return (int64_t)f->len < f->env->max_connections;
}

static void drop(struct fake *f, size_t i)
{
    f->len--;
    memmove(&f->flights[i], &f->flights[i + 1],
            (f->len - i) * sizeof(f->flights[0]));
}

static void end(struct request *r)
{
    int64_t now = transport_now(fake->env);

    r->facts.head = r->facts.first = r->facts.last = r->facts.end = now;
    r->facts.outcome = OUTCOME_OK;
    fake->env->ended(fake->env->arg, r);
}

/* The i-th in flight is answered now. */
static void end_flight(size_t i)
{
    struct request *r = fake->flights[i].request;

    assert_true(i < fake->len);
    drop(fake, i);
    end(r);
}

static void fake_start(void *self, struct request *r)
{
    struct fake *f = self;
    int64_t service_ns =
        (int64_t)(rng_uniform(&f->rng) * 2 * (double)f->service_mean_ns);

    f->started++;
    r->facts.sent = transport_now(f->env);
    if (f->ends_at_once) {
        end(r);
        return;
    }
    assert_true(f->len < MAX_FLIGHT);
    r->facts.bytes_out = service_ns; /* where the test finds it again */
    f->flights[f->len++] = (struct flight){r, r->facts.sent + service_ns};
}

static void fake_cancel(void *self, struct request *r)
{
    struct fake *f = self;
    size_t i = 0;

    while (f->flights[i].request != r)
        i++;
    drop(f, i);
    f->cancelled++;
}

static int64_t fake_connections(void *self)
{
    return (int64_t)((const struct fake *)self)->len;
}

static void fake_fini(void *self)
{
    assert_ptr_equal(fake, self);
    fake = NULL;
}

static const struct transport_ops transport_fake = {
    .name = "fake",
    .state_size = sizeof(struct fake),
    .init = fake_init,
    .has_room = fake_has_room,
    .start = fake_start,
    .cancel = fake_cancel,
    .connections = fake_connections,
    .fini = fake_fini,
};

/* ---- an engine, its clock and its recording ---- */

struct setup {
    struct load_settings load;
    int64_t slots;
    int64_t timeout_ns;
};

struct rig {
    struct settings settings;
    struct clk_fake clk;
    struct event_base *base;
    struct recorder *recorder;
    struct engine *engine;
    char *dir;
    bool has_ended;
    struct facts *rows; /* by seq, once it was closed */
    size_t n;
};

static struct load_settings open_load(double rate_rps, int64_t n)
{
    return (struct load_settings){.scenario = SCENARIO_SERVER,
                                  .arrival = ARRIVAL_CONSTANT,
                                  .rate_rps = rate_rps,
                                  .requests = n,
                                  .seed = 3};
}

static struct load_settings closed_load(int64_t clients, int64_t n)
{
    return (struct load_settings){.scenario = SCENARIO_CLOSED,
                                  .clients = clients,
                                  .requests = n,
                                  .duration_ns = n > 0 ? 0 : NS_PER_S};
}

/* A spin without end makes every timer fire at once, so that the fake clock
 * alone decides. */
static struct rig *rig_new(const struct setup *setup)
{
    static int number;
    struct rig *rig = xcalloc(1, sizeof(*rig));
    struct engine_env env = {.settings = &rig->settings,
                             .transport = &transport_fake,
                             .clk = &rig->clk.clk,
                             .max_connections = setup->slots};
    struct err err = {0};
    char name[16];

    rig->settings.load = setup->load;
    rig->settings.target.timeout_ns = setup->timeout_ns;
    rig->settings.client.spin_ns = INT64_C(1) << 60;
    rig->clk = clk_fake_at(0);
    rig->base = event_base_new();
    snprintf(name, sizeof(name), "run%d", number++);
    rig->dir = xstrdup(tmpdir_path(name));
    assert_int_equal(mkdir(rig->dir, 0777), 0);
    assert_int_equal(recorder_new(&rig->recorder, rig->dir, 1, &err), 0);
    assert_int_equal(engine_new(&rig->engine, &env, rig->base, &err), 0);
    engine_begin(rig->engine, recorder_shard(rig->recorder, 0), 0);
    return rig;
}

/* Every timer that is set fires once. */
static void pass(struct rig *rig)
{
    event_base_loop(rig->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    rig->has_ended = rig->has_ended || event_base_got_break(rig->base);
}

static void pass_at(struct rig *rig, int64_t at_ns)
{
    rig->clk.at_ns = at_ns;
    pass(rig);
}

static void cut_at(struct rig *rig, int64_t at_ns)
{
    rig->clk.at_ns = at_ns;
    engine_cut(rig->engine);
    rig->has_ended = event_base_got_break(rig->base);
}

static void read_rows(struct rig *rig)
{
    char *path = xasprintf("%s/requests.tgr", rig->dir);
    struct engine_counts c = engine_counts(rig->engine);
    struct tgr_reader *reader;
    struct err err = {0};
    const void *rows;
    size_t len;

    rig->rows = xcalloc((size_t)(c.issued + c.unsent) + 1, sizeof(*rig->rows));
    assert_int_equal(tgr_open(&reader, path, &schema_requests, &err), 0);
    while (tgr_next(reader, &rows, &len, &err) > 0) {
        for (size_t i = 0; i < len; i++) {
            const struct facts *f = (const struct facts *)rows + i;

            assert_in_range(f->seq, 0, c.issued + c.unsent - 1);
            rig->rows[f->seq] = *f;
        }
        rig->n += len;
    }
    tgr_close(reader);
    free(path);
}

/* The run is over: every request that was taken is in the recording, once. */
static void close_run(struct rig *rig)
{
    struct engine_counts c = engine_counts(rig->engine);
    struct err err = {0};

    assert_true(rig->has_ended);
    assert_int_equal(fake->len, 0);
    assert_int_equal(c.done, c.issued);
    assert_int_equal(fake->started, c.issued);
    shard_flush(recorder_shard(rig->recorder, 0));
    assert_int_equal(recorder_finish(rig->recorder, &err), 0);
    read_rows(rig);
    assert_int_equal(rig->n, c.issued + c.unsent);
    for (size_t i = 0; i < rig->n; i++)
        assert_int_equal(rig->rows[i].seq, i);
}

static void rig_free(struct rig *rig)
{
    engine_free(rig->engine);
    event_base_free(rig->base);
    free(rig->rows);
    free(rig->dir);
    free(rig);
}

static int64_t count_outcome(const struct rig *rig, enum outcome outcome)
{
    int64_t n = 0;

    for (size_t i = 0; i < rig->n; i++)
        n += rig->rows[i].outcome == outcome;
    return n;
}

/* ---- step by step ---- */

static void requests_go_out_when_they_are_due(void **state)
{
    const struct setup setup = {open_load(10, 3), 8, NS_PER_S};
    struct rig *rig = rig_new(&setup);

    (void)state;
    pass_at(rig, -1); /* before the start */
    assert_int_equal(fake->started, 0);
    pass_at(rig, 0);
    assert_int_equal(fake->started, 1);
    pass_at(rig, 100 * MS - 1);
    assert_int_equal(fake->started, 1);
    pass_at(rig, 100 * MS);
    assert_int_equal(fake->started, 2);
    pass_at(rig, 230 * MS);
    assert_int_equal(fake->started, 3);
    assert_int_equal(engine_observe(rig->engine).lag_max, 30 * MS);
    assert_int_equal(engine_observe(rig->engine).lag_max, 0);
    end_flight(2);
    end_flight(0);
    assert_false(rig->has_ended);
    end_flight(0); /* the last one's end ends the run */
    rig->has_ended = event_base_got_break(rig->base);
    close_run(rig);
    assert_int_equal(rig->rows[2].issued - rig->rows[2].due, 30 * MS);
    assert_int_equal(engine_due_end_ns(rig->engine), 300 * MS);
    rig_free(rig);
}

/* What the cap holds back goes out within the very end that makes room. */
static void the_end_of_one_lets_the_next_go(void **state)
{
    const struct setup setup = {open_load(100, 4), 2, NS_PER_S};
    struct rig *rig = rig_new(&setup);

    (void)state;
    pass_at(rig, 30 * MS); /* all four are due */
    assert_int_equal(fake->started, 2);
    for (int i = 0; i < 3; i++)
        pass(rig);
    assert_int_equal(fake->started, 2);
    assert_int_equal(engine_observe(rig->engine).cap_waits, 1);
    rig->clk.at_ns = 40 * MS;
    end_flight(0);
    assert_int_equal(fake->started, 3);
    rig->clk.at_ns = 50 * MS;
    end_flight(0);
    assert_int_equal(fake->started, 4);
    assert_int_equal(engine_observe(rig->engine).cap_waits, 2);
    end_flight(0);
    end_flight(0);
    pass(rig);
    close_run(rig);
    assert_int_equal(rig->rows[2].issued, 40 * MS);
    assert_int_equal(rig->rows[3].issued, 50 * MS);
    rig_free(rig);
}

/* The deadline counts from due; who times out makes room. */
static void deadlines_pass_in_the_order_of_due(void **state)
{
    const struct setup setup = {open_load(100, 3), 2, 50 * MS};
    struct rig *rig = rig_new(&setup);

    (void)state;
    pass_at(rig, 0);
    pass_at(rig, 20 * MS);
    assert_int_equal(fake->started, 2);
    pass_at(rig, 50 * MS - 1);
    assert_int_equal(fake->cancelled, 0);
    pass_at(rig, 50 * MS);
    assert_int_equal(fake->cancelled, 1);
    assert_int_equal(fake->started, 3); /* due at 20 ms, held back until now */
    pass_at(rig, 65 * MS);
    assert_int_equal(fake->cancelled, 2);
    end_flight(0);
    pass(rig);
    close_run(rig);
    assert_int_equal(rig->rows[0].outcome, OUTCOME_TIMEOUT);
    assert_int_equal(rig->rows[0].end, 50 * MS);
    assert_int_equal(rig->rows[1].outcome, OUTCOME_TIMEOUT);
    assert_int_equal(rig->rows[1].end, 65 * MS);
    assert_int_equal(rig->rows[2].outcome, OUTCOME_OK);
    assert_int_equal(rig->rows[2].issued, 50 * MS);
    rig_free(rig);
}

/* ---- a run that is cut ---- */

static void a_cut_open_loop_accounts_for_those_that_wait(void **state)
{
    const struct setup setup = {open_load(10, 100), 1, NS_PER_S};
    struct rig *rig = rig_new(&setup);

    (void)state;
    pass_at(rig, 0);
    cut_at(rig, 350 * MS);
    close_run(rig);
    assert_int_equal(rig->n, 4); /* due at 0, 100, 200 and 300 ms */
    assert_int_equal(rig->rows[0].outcome, OUTCOME_UNFINISHED);
    assert_int_equal(rig->rows[0].end, 350 * MS);
    assert_int_equal(count_outcome(rig, OUTCOME_UNSENT), 3);
    assert_int_equal(engine_due_end_ns(rig->engine), 350 * MS);
    rig_free(rig);
}

/* Five clients, two connections: three are due and wait. */
static void a_cut_closed_loop_accounts_for_those_that_wait(void **state)
{
    const struct setup setup = {closed_load(5, 0), 2, NS_PER_S};
    struct rig *rig = rig_new(&setup);

    (void)state;
    pass_at(rig, 0);
    assert_int_equal(fake->started, 2);
    rig->clk.at_ns = 5 * MS;
    end_flight(0); /* the third goes out, its client waits again */
    cut_at(rig, 10 * MS);
    close_run(rig);
    assert_int_equal(rig->n, 6);
    assert_int_equal(count_outcome(rig, OUTCOME_OK), 1);
    assert_int_equal(count_outcome(rig, OUTCOME_UNFINISHED), 2);
    assert_int_equal(count_outcome(rig, OUTCOME_UNSENT), 3);
    assert_int_equal(rig->rows[5].due, 5 * MS);
    assert_int_equal(engine_due_end_ns(rig->engine), 10 * MS);
    rig_free(rig);
}

/* ---- many at once ---- */

static void responses_get_their_turn_after_64_sends(void **state)
{
    const struct setup setup = {open_load(1e6, 1000), MAX_FLIGHT, NS_PER_S};
    struct rig *rig = rig_new(&setup);

    (void)state;
    for (int64_t i = 1; i <= 3; i++) {
        pass_at(rig, 10 * MS);
        assert_int_equal(fake->started, 64 * i);
    }
    for (int i = 0; i < 20; i++)
        pass(rig);
    assert_int_equal(fake->started, 1000);
    while (fake->len > 0)
        end_flight(fake->len / 2);
    pass(rig);
    close_run(rig);
    rig_free(rig);
}

/* ended() inside start(): no recursion, no request lost, the same end. */
static void answers_may_come_before_start_returns(void **state)
{
    const struct setup setups[] = {
        {open_load(1e6, 1000), 1, NS_PER_S},
        {closed_load(1, 1000), 1, NS_PER_S},
        {closed_load(70, 1000), 3, NS_PER_S},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(setups); i++) {
        struct rig *rig = rig_new(&setups[i]);

        fake->ends_at_once = true;
        for (int k = 0; k < 30 && !rig->has_ended; k++)
            pass_at(rig, (10 + k) * MS);
        close_run(rig);
        assert_int_equal(count_outcome(rig, OUTCOME_OK), 1000);
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

    assert_int_equal(ops->init(self, load, &err), 0);
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
    for (size_t i = 0; i < fake->len; i++) {
        const struct flight *f = &fake->flights[i];

        take_least(&next, f->end_ns, now);
        take_least(&next,
                   f->request->facts.due + rig->settings.target.timeout_ns,
                   now);
    }
    return next;
}

static void end_what_is_over(const struct rig *rig)
{
    for (size_t i = 0; i < fake->len;) {
        if (fake->flights[i].end_ns <= rig->clk.at_ns) {
            end_flight(i);
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

    fake->service_mean_ns = sim->service_mean_ns;
    pass(rig);
    while (!rig->has_ended) {
        int64_t next = next_event(rig, due);

        if (next != INT64_MAX)
            rig->clk.at_ns = next;
        if (!has_frozen && rig->clk.at_ns >= sim->freeze_at_ns) {
            rig->clk.at_ns += sim->freeze_ns;
            has_frozen = true;
        }
        end_what_is_over(rig);
        pass(rig);
        pass(rig);
    }
    free(due);
    close_run(rig);
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
    struct load_settings load = open_load(rate_rps, n);

    load.arrival = ARRIVAL_POISSON;
    return load;
}

static void nothing_waits_where_there_is_room(void **state)
{
    const struct sim sim = {{poisson_load(1000, 5000), 64, NS_PER_S},
                            .service_mean_ns = 5 * MS}; /* 5 are used */
    struct rig *rig = simulate(&sim);

    (void)state;
    assert_int_equal(check_queue(rig, 64), 0);
    rig_free(rig);
}

/* The cap holds some back: the wait is charged to the client as lag, exactly
 * as long as a queue with k servers makes it. */
static void a_full_cap_is_charged_as_lag(void **state)
{
    static const int64_t slots[] = {1, 2, 5};

    (void)state;
    for (size_t i = 0; i < COUNT(slots); i++) {
        const struct sim sim = {{poisson_load(100 * (double)slots[i], 5000),
                                 slots[i], 3600 * NS_PER_S},
                                .service_mean_ns = 8 * MS}; /* load 0.8 */
        struct rig *rig = simulate(&sim);

        assert_in_range(check_queue(rig, slots[i]), 250, 4750);
        rig_free(rig);
    }
}

/* Four times what the slots can take.  A slot is free at the latest when the
 * deadline of the request in it has passed, which is before that of the next
 * one in line: nobody is left unsent, everybody is late. */
static void overload_is_charged_up_to_the_deadline(void **state)
{
    const struct sim sim = {{poisson_load(800, 5000), 2, 500 * MS},
                            .service_mean_ns = 10 * MS};
    struct rig *rig = simulate(&sim);
    int64_t lag_max = 0;
    int64_t late = 0;

    (void)state;
    for (size_t i = 0; i < rig->n; i++) {
        int64_t lag = rig->rows[i].issued - rig->rows[i].due;

        assert_true(lag >= 0 && lag < 500 * MS);
        late += lag > 0;
        if (lag > lag_max)
            lag_max = lag;
    }
    assert_int_equal(count_outcome(rig, OUTCOME_UNSENT), 0);
    assert_true(count_outcome(rig, OUTCOME_TIMEOUT) > 1000);
    assert_true(late > 4900);
    assert_true(lag_max > 450 * MS);
    rig_free(rig);
}

/* 10/s, and the client is away for a second from when the request of 2.0 s has
 * ended, within 50 ms, with a timeout of 500 ms: those of 2.1 to 2.5 s have
 * expired, those of 2.6 to 3.0 s are late. */
static void what_expired_while_the_client_was_away_is_unsent(void **state)
{
    const struct sim sim = {{open_load(10, 100), 64, 500 * MS},
                            .service_mean_ns = 25 * MS,
                            .freeze_at_ns = 2000 * MS + 1,
                            .freeze_ns = NS_PER_S};
    struct rig *rig = simulate(&sim);
    int64_t late = 0;

    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_go_out_when_they_are_due),
        cmocka_unit_test(the_end_of_one_lets_the_next_go),
        cmocka_unit_test(deadlines_pass_in_the_order_of_due),
        cmocka_unit_test(a_cut_open_loop_accounts_for_those_that_wait),
        cmocka_unit_test(a_cut_closed_loop_accounts_for_those_that_wait),
        cmocka_unit_test(responses_get_their_turn_after_64_sends),
        cmocka_unit_test(answers_may_come_before_start_returns),
        cmocka_unit_test(nothing_waits_where_there_is_room),
        cmocka_unit_test(a_full_cap_is_charged_as_lag),
        cmocka_unit_test(overload_is_charged_up_to_the_deadline),
        cmocka_unit_test(what_expired_while_the_client_was_away_is_unsent),
    };

    return cmocka_run_group_tests_name("engine", tests, tmpdir_setup,
                                       tmpdir_teardown);
}
