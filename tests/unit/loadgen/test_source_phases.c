/* A warm-up of a number of requests, a window and a cool-down: which requests
 * are in which, in every scenario and however many lanes share it. */
#include <stdbool.h>

#include "common/base/clk.h"
#include "common/settings/settings.h"
#include "loadgen/schedule/window_limits.h"
#include "tests/support/sourcerig.h"
#include "tests/support/test.h"

#define MAX_LANES 3
#define MAX_TAKEN 4000
#define MS        NS_PER_MS

/* What all lanes gave out. */
struct taken {
    struct due due[MAX_TAKEN];
    size_t n;
    int64_t start_ns; /* as all of them say in the end */
    int64_t end_ns;
};

struct counts {
    int64_t before;
    int64_t inside;
    int64_t after;
};

/* Lane i answers the one that it has had longest after service[i]. */
struct lane_run {
    struct source source;
    int64_t ends[MAX_TAKEN]; /* of those in flight */
    size_t n_ended;
    size_t n_taken;
    int64_t service_ns;
};

static int64_t next_end(const struct lane_run *l)
{
    return l->n_ended < l->n_taken ? l->ends[l->n_ended] : DUE_UNKNOWN;
}

/* What comes first in a lane: an answer, or a request. */
static int64_t next_ns(struct lane_run *l)
{
    int64_t due_ns = l->source.ops->peek_ns(l->source.self);
    int64_t end_ns = l->source.ops->ended ? next_end(l) : DUE_UNKNOWN;

    if (due_ns == DUE_NEVER)
        return DUE_NEVER;
    return end_ns < due_ns ? end_ns : due_ns;
}

static void step(struct lane_run *l, struct taken *out)
{
    const struct source_ops *ops = l->source.ops;
    int64_t due_ns = ops->peek_ns(l->source.self);

    if (ops->ended && next_end(l) < due_ns) {
        end_at(&l->source, 0, l->ends[l->n_ended++]);
        return;
    }
    assert_in_range(out->n, 0, MAX_TAKEN - 1);
    out->due[out->n] = ops->take(l->source.self);
    assert_int_equal(out->due[out->n].at_ns, due_ns);
    l->ends[l->n_taken++] = due_ns + l->service_ns;
    out->n++;
}

static void conclude(struct lane_run *l, struct taken *out)
{
    const struct window_limits *q = source_limits(l->source.self);

    if (out->start_ns >= 0)
        assert_int_equal(q->window_start_ns, out->start_ns);
    out->start_ns = q->window_start_ns;
    if (q->window_end_ns != DUE_UNKNOWN)
        out->end_ns = q->window_end_ns;
    source_end(&l->source);
}

/* The lanes as they would run, in the order of time. */
static void run(const struct load_settings *load, int64_t lanes,
                struct taken *out)
{
    static struct lane_run l[MAX_LANES];
    struct phases phases;

    *out = (struct taken){.start_ns = -1, .end_ns = DUE_UNKNOWN};
    phases_init(&phases, load, lanes);
    for (int64_t i = 0; i < lanes; i++) {
        l[i] = (struct lane_run){
            .source =
                lane_make(load, (struct lane){.worker = i, .workers = lanes}),
            .service_ns = (i + 1) * MS + 1};
        window_limits_publish(source_limits(l[i].source.self), &phases);
    }
    for (;;) {
        int64_t first = 0;

        for (int64_t i = 1; i < lanes; i++) {
            if (next_ns(&l[i]) < next_ns(&l[first]))
                first = i;
        }
        if (next_ns(&l[first]) >= DUE_NEVER)
            break;
        step(&l[first], out);
    }
    for (int64_t i = 0; i < lanes; i++)
        conclude(&l[i], out);
    assert_int_equal(phases_start_ns(&phases), out->start_ns);
}

static struct counts count(const struct taken *t)
{
    struct counts c = {0};

    for (size_t i = 0; i < t->n; i++) {
        c.before += t->due[i].at_ns < t->start_ns;
        c.after += t->due[i].at_ns >= t->end_ns;
    }
    c.inside = (int64_t)t->n - c.before - c.after;
    return c;
}

/* The first ones of the schedule, at least. */
static void assert_first_are_before(const struct taken *t, int64_t n)
{
    for (size_t i = 0; i < t->n; i++)
        assert_true(t->due[i].seq >= n || t->due[i].at_ns < t->start_ns);
}

static const struct {
    const char *stages[2];
    struct load_settings load;
    int64_t inside; /* -1: by chance */
    bool has_after;
} open_cases[] = {
    {{0}, {.rate_rps = 1000, .requests = 100}, 100, false},
    {{0},
     {.rate_rps = 1000, .requests = 100, .cooldown_ns = 200 * MS},
     100,
     true},
    {{0},
     {.rate_rps = 1000, .min_requests = 100, .cooldown_ns = 200 * MS},
     100,
     true},
    {{0},
     {.rate_rps = 1000,
      .arrival = ARRIVAL_CONSTANT,
      .duration_ns = 100 * MS,
      .cooldown_ns = 50 * MS},
     100,
     true},
    {{0},
     {.rate_rps = 1000,
      .exact = true,
      .duration_ns = 100 * MS,
      .cooldown_ns = 200 * MS},
     100,
     true},
    {{0},
     {.rate_rps = 1000,
      .seeds = SEEDS_MLPERF,
      .requests = 100,
      .cooldown_ns = 200 * MS},
     100,
     true},
    {{"1000/s..3000/s 100ms", "500/s 20ms"},
     {.arrival = ARRIVAL_CONSTANT,
      .rate_rps = 1750,
      .duration_ns = 120 * MS,
      .cooldown_ns = 100 * MS},
     210,
     true},
};

/* Whatever the number of lanes, the same requests. */
TEST(open_loops_count_exactly)
{
    static struct taken t;

    for (size_t i = 0; i < COUNT(open_cases); i++) {
        struct load_settings load = open_cases[i].load;
        struct counts first = {0};

        load.scenario = SCENARIO_SERVER;
        load.warmup_requests = 50;
        load.seed = 3;
        for (size_t k = 0; k < 2 && open_cases[i].stages[k]; k++)
            strlist_add(&load.stages, open_cases[i].stages[k]);
        for (int64_t lanes = 1; lanes <= MAX_LANES; lanes++) {
            struct counts c;

            run(&load, lanes, &t);
            c = count(&t);
            assert_int_equal(c.before, 50);
            assert_int_equal(c.inside, open_cases[i].inside);
            assert_int_equal(c.after > 0, open_cases[i].has_after);
            assert_first_are_before(&t, 50);
            if (lanes == 1)
                first = c;
            assert_int_equal(c.after, first.after);
        }
        strlist_fini(&load.stages);
    }
}

/* After the last stage the load goes on as that one ended: at 500/s, for 100 ms
 * of cool-down. */
TEST(the_last_stage_goes_on)
{
    static struct taken t;
    struct load_settings load = {.scenario = SCENARIO_SERVER,
                                 .arrival = ARRIVAL_CONSTANT,
                                 .rate_rps = 750,
                                 .duration_ns = 40 * MS,
                                 .warmup_ns = 10 * MS,
                                 .cooldown_ns = 100 * MS};

    strlist_add(&load.stages, "1000/s 20ms");
    strlist_add(&load.stages, "500/s 20ms");
    run(&load, 1, &t);
    assert_in_range(count(&t).after, 49, 51);
    assert_int_equal(t.end_ns, 50 * MS);
    strlist_fini(&load.stages);
}

/* Of several lanes the fast ones go on until the last has had its part: there
 * may be more before the window, never fewer; in it there are as many as were
 * asked for. */
TEST(closed_loops_count_exactly)
{
    static struct taken t;

    for (int64_t lanes = 1; lanes <= MAX_LANES; lanes++) {
        for (int64_t warmup = 1; warmup <= 50; warmup++) {
            struct load_settings load = {.scenario = SCENARIO_CLOSED,
                                         .clients = 7,
                                         .warmup_requests = warmup,
                                         .requests = 100};

            run(&load, lanes, &t);
            assert_int_equal(count(&t).inside, 100);
            assert_true(count(&t).before >= warmup);
            assert_first_are_before(&t, warmup);
        }
    }
}

/* Lanes that are to have none of the window's requests warm up all the same. */
TEST(closed_lanes_without_a_share)
{
    static struct taken t;
    struct load_settings load = {.scenario = SCENARIO_CLOSED,
                                 .clients = 3,
                                 .warmup_requests = 30,
                                 .requests = 1};

    run(&load, 3, &t);
    assert_int_equal(count(&t).inside, 1);
    assert_true(count(&t).before >= 30);
}

/* The window of all lanes is the same, and as long as was asked for. */
TEST(closed_windows_by_time)
{
    static struct taken t;

    for (int64_t lanes = 1; lanes <= MAX_LANES; lanes++) {
        struct load_settings load = {.scenario = SCENARIO_CLOSED,
                                     .clients = 6,
                                     .warmup_requests = 20,
                                     .duration_ns = 50 * MS,
                                     .cooldown_ns = 20 * MS};

        run(&load, lanes, &t);
        assert_int_equal(t.end_ns - t.start_ns, 50 * MS);
        assert_true(count(&t).before >= 20);
        assert_true(count(&t).inside > 0);
        assert_true(count(&t).after > 0);
        for (size_t i = 0; i < t.n; i++)
            assert_true(t.due[i].at_ns < t.end_ns + 20 * MS);
    }
}

/* One at a time, or a whole query: exactly as many, and the window begins with
 * the first of its own. */
TEST(streams_count_exactly)
{
    static struct taken t;
    static const struct {
        int scenario;
        int64_t query_size;
        int64_t warmup;
        int64_t requests;
    } cases[] = {
        {SCENARIO_SINGLE_STREAM, 8, 5, 10},
        {SCENARIO_MULTI_STREAM, 4, 8, 12},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct load_settings load = {.scenario = cases[i].scenario,
                                     .clients = 1,
                                     .query_size = cases[i].query_size,
                                     .warmup_requests = cases[i].warmup,
                                     .requests = cases[i].requests,
                                     .cooldown_ns = 10 * MS};

        run(&load, 1, &t);
        assert_int_equal(count(&t).before, cases[i].warmup);
        assert_int_equal(count(&t).inside, cases[i].requests);
        assert_true(count(&t).after > 0);
        assert_int_equal(t.due[cases[i].warmup].at_ns, t.start_ns);
        assert_int_equal(t.due[cases[i].warmup + cases[i].requests].at_ns,
                         t.end_ns);
    }
}

/* Without clients to spare: those that are due together with the last of the
 * warm-up cannot be told from it. */
TEST(what_is_due_at_once_is_warm_up)
{
    static struct taken t;
    struct load_settings load = {.scenario = SCENARIO_CLOSED,
                                 .clients = 8,
                                 .warmup_requests = 3,
                                 .requests = 16};

    run(&load, 1, &t);
    assert_int_equal(count(&t).before, 8);
    assert_int_equal(count(&t).inside, 16);
}
