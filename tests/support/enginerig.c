#include "tests/support/enginerig.h"

#include <event2/event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "loadgen/engine/request.h"
#include "loadgen/record/recorder.h"
#include "loadgen/transport/transport.h"
#include "tests/support/keep.h"
#include "tests/support/table.h"
#include "tests/support/tmpdir.h"

#define MAX_TIMERS 8

/* ---- the transport ---- */

static struct fake *newest; /* the last that was made */

static int fake_init(void *self, const struct transport_env *env,
                     struct err *err)
{
    struct fake *f = self;

    (void)err;
    f->env = env;
    f->rng = rng_stream(4, RNG_SERVICE);
    newest = f;
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

static void end(struct fake *f, struct request *r)
{
    int64_t now = transport_now(f->env);

    r->facts.head = r->facts.first = r->facts.last = r->facts.end = now;
    r->facts.outcome = OUTCOME_OK;
    f->env->ended(f->env->arg, r);
}

static void fake_start(void *self, struct request *r)
{
    struct fake *f = self;
    int64_t service_ns =
        (int64_t)(rng_uniform(&f->rng) * 2 * (double)f->service_mean_ns);

    f->started++;
    r->facts.sent = transport_now(f->env);
    if (f->ends_at_once) {
        end(f, r);
        return;
    }
    assert_true(f->len < RIG_MAX_FLIGHT);
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
    (void)self;
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

/* ---- the engine ---- */

struct load_settings rig_open_load(double rate_rps, int64_t n)
{
    return (struct load_settings){.scenario = SCENARIO_SERVER,
                                  .arrival = ARRIVAL_CONSTANT,
                                  .rate_rps = rate_rps,
                                  .requests = n,
                                  .drain_ns = OPT_AUTO,
                                  .seed = 3};
}

struct load_settings rig_closed_load(int64_t clients, int64_t n)
{
    return (struct load_settings){.scenario = SCENARIO_CLOSED,
                                  .clients = clients,
                                  .requests = n,
                                  .drain_ns = OPT_AUTO,
                                  .duration_ns = n > 0 ? 0 : NS_PER_S};
}

static int64_t bound(int64_t asked)
{
    return asked > 0 ? asked : RIG_MAX_FLIGHT;
}

static void apply(struct settings *s, const struct setup *setup)
{
    s->load = setup->load;
    s->target.timeout_ns = setup->timeout_ns;
    s->client.spin_ns = setup->spin_ns;
    s->client.max_burst = bound(setup->max_burst);
}

struct rig *rig_new(const struct setup *setup)
{
    static int number;
    struct rig *rig = xcalloc(1, sizeof(*rig));
    struct engine_env env = {.settings = &rig->settings,
                             .workload = &rig->workload,
                             .transport = &transport_fake,
                             .clk = &rig->clk.clk,
                             .lane = setup->lane,
                             .max_connections = setup->slots,
                             .max_in_flight = bound(setup->max_in_flight)};
    struct err err = {0};
    char name[16];

    if (env.lane.workers == 0)
        env.lane.workers = 1;
    rig->lane = env.lane;
    apply(&rig->settings, setup);
    workload_of_one(&rig->workload, NULL, NULL, &rig->settings.target);
    rig->clk = clk_fake_at(0);
    rig->base = event_base_new();
    snprintf(name, sizeof(name), "run%d", number++);
    rig->dir = xstrdup(tmpdir_path(name));
    assert_int_equal(mkdir(rig->dir, 0777), 0);
    assert_int_equal(recorder_new(&rig->recorder, rig->dir, 1, false, &err), 0);
    assert_int_equal(engine_new(&rig->engine, &env, rig->base, &err), 0);
    rig->fake = newest;
    engine_begin(rig->engine, recorder_shard(rig->recorder, 0), 0);
    return rig;
}

void rig_free(struct rig *rig)
{
    engine_free(rig->engine);
    event_base_free(rig->base);
    free(rig->rows);
    free(rig->dir);
    free(rig);
}

/* ---- its timers ---- */

struct timers {
    struct event *set[MAX_TIMERS];
    size_t len;
};

static int take_timer(const struct event_base *base, const struct event *e,
                      void *arg)
{
    struct timers *timers = arg;

    (void)base;
    assert_true(timers->len < MAX_TIMERS);
    timers->set[timers->len++] = (struct event *)(uintptr_t)e;
    return 0;
}

void rig_pass(struct rig *rig)
{
    struct timers timers = {.len = 0};

    event_base_foreach_event(rig->base, take_timer, &timers);
    for (size_t i = 0; i < timers.len; i++)
        event_active(timers.set[i], EV_TIMEOUT, 0);
    event_base_loop(rig->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    rig->has_ended = rig->has_ended || event_base_got_break(rig->base);
}

void rig_pass_at(struct rig *rig, int64_t at_ns)
{
    rig->clk.at_ns = at_ns;
    rig_pass(rig);
}

void rig_end_flight(struct rig *rig, size_t i)
{
    struct request *r = rig->fake->flights[i].request;

    assert_true(i < rig->fake->len);
    drop(rig->fake, i);
    end(rig->fake, r);
    rig->has_ended = rig->has_ended || event_base_got_break(rig->base);
}

void rig_cut_at(struct rig *rig, int64_t at_ns)
{
    rig->clk.at_ns = at_ns;
    engine_cut(rig->engine, false);
    rig->has_ended = event_base_got_break(rig->base);
}

/* ---- its recording ---- */

/* As they are on the disk. */
static struct facts *read_table(const struct rig *rig, size_t *n)
{
    char *path = keepf("%s/requests.tgr", rig->dir);
    struct facts *read = table_read(path, &schema_requests, n);

    return read;
}

/* Every request of a range by itself. */
static void read_rows(struct rig *rig)
{
    struct facts *read = read_table(rig, &rig->n);
    size_t len = rig->n;

    for (size_t i = 0; i < len; i++)
        rig->n += (size_t)read[i].more;
    rig->rows = xcalloc(rig->n + 1, sizeof(*rig->rows));
    for (size_t i = 0; i < len; i++) {
        struct facts f = read[i];

        for (int64_t k = 0; k <= read[i].more; k++) {
            int64_t place = f.seq / rig->lane.workers;

            assert_true(place >= 0 && place < (int64_t)rig->n);
            rig->rows[place] = f;
            f.seq += rig->lane.workers;
        }
    }
}

static struct engine_counts finish(struct rig *rig)
{
    struct engine_counts c = engine_counts(rig->engine);
    struct err err = {0};

    assert_true(rig->has_ended);
    assert_int_equal(rig->fake->len, 0);
    assert_int_equal(c.done, c.issued);
    assert_int_equal(rig->fake->started, c.issued);
    shard_flush(recorder_shard(rig->recorder, 0));
    assert_int_equal(recorder_finish(rig->recorder, &err), 0);
    return c;
}

void rig_close_whole(struct rig *rig)
{
    struct engine_counts c = finish(rig);
    int64_t n = 0;

    rig->rows = read_table(rig, &rig->n);
    for (size_t i = 0; i < rig->n; i++)
        n += facts_n(&rig->rows[i]);
    assert_int_equal(n, c.issued + c.unsent);
}

void rig_close(struct rig *rig)
{
    struct engine_counts c = finish(rig);

    read_rows(rig);
    assert_int_equal(rig->n, c.issued + c.unsent);
    for (size_t i = 0; i < rig->n; i++)
        assert_int_equal(rig->rows[i].seq,
                         rig->lane.worker + (int64_t)i * rig->lane.workers);
}

int64_t rig_count(const struct rig *rig, enum outcome outcome)
{
    int64_t n = 0;

    for (size_t i = 0; i < rig->n; i++)
        n += rig->rows[i].outcome == outcome;
    return n;
}
