/* What is said of a run while it goes on, from what the recorder is handed. */
#include <math.h>
#include <stdbool.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/recording/schema.h"
#include "common/settings/settings.h"
#include "common/stats/hist.h"
#include "common/wire/api_names.h"
#include "loadgen/engine/progress.h"
#include "loadgen/schedule/window_limits.h"
#include "loadgen/trace/trace_survey.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"

/* 100/s for 10 s after 1 s of warm-up. */
static void make_settings(struct settings *s, const char *slo)
{
    settings_init(s);
    s->load.scenario = SCENARIO_SERVER;
    s->load.rate_rps = 100;
    s->load.warmup_ns = NS_PER_S;
    s->load.duration_ns = 10 * NS_PER_S;
    if (slo)
        strlist_add(&s->slo, slo);
}

static struct phases phases; /* of the run that is looked at */

static struct progress *make(const struct settings *s, int n_shards)
{
    struct progress *p = NULL;
    struct err err = {0};

    phases_init(&phases, &s->load, n_shards);
    assert_int_equal(progress_new(&p, s, &phases, n_shards, &err), 0);
    return p;
}

static struct run_progress read_at(struct progress *p, int64_t at_ms)
{
    struct run_progress now;

    progress_read(p, at_ms * NS_PER_MS, &now);
    return now;
}

static bool is_near_ms(int64_t ns, double ms)
{
    return fabs((double)ns / 1e6 - ms) <= ms / 1000;
}

TEST(nothing_yet)
{
    struct settings s;
    struct progress *p;
    struct run_progress now;

    make_settings(&s, NULL);
    p = make(&s, 2);
    now = read_at(p, -50);
    assert_true(now.elapsed_s == 0);
    assert_true(now.planned_s == 11);
    assert_true(now.asked_rps == 0);
    assert_int_equal(now.issued + now.in_flight + now.unsent + now.due, 0);
    assert_int_equal(now.e2e.p50_ns, HIST_EMPTY);
    assert_int_equal(now.lag.max_ns, HIST_EMPTY);
    assert_false(now.has_slo);
    progress_free(p);
    progress_free(NULL);
    settings_fini(&s);
}

/* The second is over when the shard says so; the next forgets it. */
TEST(a_second_is_shown_when_it_is_whole)
{
    struct facts rows[] = {row_ok(0, 100, 10), row_ok(1, 200, 20),
                           row_ok(2, 300, 30),
                           row_failed(3, 400, 40, OUTCOME_STATUS)};
    struct observation seen = {.at = NS_PER_S,
                               .issued = 6,
                               .done = 4,
                               .unsent = 1,
                               .lag_max = 7 * NS_PER_MS};
    struct settings s;
    struct progress *p;
    struct run_progress now;

    make_settings(&s, NULL);
    p = make(&s, 1);
    rows[0].issued = rows[0].due + 5 * NS_PER_MS;
    progress_add(p, 0, rows, 2, NULL);
    now = read_at(p, 900);
    assert_int_equal(now.outcome[OUTCOME_OK], 2); /* counts need not wait */
    assert_int_equal(now.e2e.p50_ns, HIST_EMPTY);
    progress_add(p, 0, rows + 2, 2, &seen);
    now = read_at(p, 1000);
    assert_true(is_near_ms(now.e2e.p50_ns, 20));
    assert_int_equal(now.e2e.p99_ns, HIST_BEYOND);
    assert_int_equal(now.lag.p50_ns, 0);
    assert_true(is_near_ms(now.lag.p99_ns, 5));
    assert_int_equal(now.lag.max_ns, 7 * NS_PER_MS);
    assert_int_equal(now.outcome[OUTCOME_STATUS], 1);
    assert_int_equal(now.issued, 6);
    assert_int_equal(now.in_flight, 2);
    assert_int_equal(now.unsent, 1);
    assert_true(now.sent_rps == 6);
    assert_true(now.done_rps == 4);
    seen.at += NS_PER_S / 2;
    seen.issued += 10;
    seen.done += 12;
    seen.lag_max = 0;
    progress_add(p, 0, NULL, 0, &seen);
    now = read_at(p, 1500);
    assert_int_equal(now.e2e.p50_ns, HIST_EMPTY);
    assert_int_equal(now.lag.max_ns, 0);
    assert_true(now.sent_rps == 20);
    assert_true(now.done_rps == 24);
    assert_int_equal(now.in_flight, 0);
    rows[1].issued = rows[1].due + 9 * NS_PER_MS; /* in a second before */
    seen.at += NS_PER_S;
    progress_add(p, 0, rows + 1, 1, &seen);
    now = read_at(p, 2500);
    assert_true(is_near_ms(now.lag.p99_ns, 9));
    assert_int_equal(now.lag.max_ns, 9 * NS_PER_MS);
    progress_free(p);
    settings_fini(&s);
}

/* Of streams the first token is shown too; who sends none has none. */
TEST(streams_have_their_first_token)
{
    struct facts rows[] = {row_ok(0, 100, 30), row_ok(1, 200, 30),
                           row_failed(2, 300, 40, OUTCOME_EMPTY)};
    struct observation seen = {.at = NS_PER_S, .issued = 3, .done = 3};
    struct settings s;
    struct progress *p;
    struct run_progress now;

    make_settings(&s, NULL);
    p = make(&s, 1);
    assert_false(read_at(p, 0).has_streams);
    progress_free(p);
    s.target.api = API_OPENAI_CHAT;
    p = make(&s, 1);
    progress_add(p, 0, rows, 1, NULL);
    rows[1].events = 4;
    rows[1].first = rows[1].due + 12 * NS_PER_MS;
    progress_add(p, 0, rows + 1, 2, &seen);
    now = read_at(p, 1000);
    assert_true(now.has_streams);
    assert_true(is_near_ms(now.ttft.p50_ns, 30));
    assert_int_equal(now.ttft.p99_ns, HIST_BEYOND);
    progress_add(p, 0, rows + 1, 1, NULL);
    seen.at += NS_PER_S;
    progress_add(p, 0, NULL, 0, &seen);
    now = read_at(p, 2000);
    assert_true(is_near_ms(now.ttft.p50_ns, 12));
    progress_free(p);
    settings_fini(&s);
}

/* Two shards make one second; when one of them has ended, the other's count. */
TEST(shards_are_summed_up)
{
    struct facts row = row_ok(0, 100, 10);
    struct observation seen = {.at = NS_PER_S, .issued = 5, .done = 3};
    struct settings s;
    struct progress *p;
    struct run_progress now;

    make_settings(&s, NULL);
    p = make(&s, 2);
    progress_add(p, 0, &row, 1, &seen);
    now = read_at(p, 1000);
    assert_int_equal(now.issued, 0); /* the other is yet to come */
    progress_add(p, 1, &row, 1, &seen);
    now = read_at(p, 1000);
    assert_int_equal(now.issued, 10);
    assert_int_equal(now.in_flight, 4);
    assert_true(now.sent_rps == 10);
    assert_true(is_near_ms(now.e2e.p99_ns, 10));
    for (int second = 2; second <= 3; second++) {
        seen.at += NS_PER_S;
        seen.issued += 5;
        progress_add(p, 1, NULL, 0, &seen);
    }
    now = read_at(p, 3000);
    assert_int_equal(now.issued, 15); /* as of the second before */
    assert_true(now.sent_rps == 5);
    progress_free(p);
    settings_fini(&s);
}

/* Only what was due in the window counts, unsent requests among it. */
TEST(attainment_so_far)
{
    struct facts rows[] = {
        row_ok(0, 999, 10),  row_ok(1, 1000, 10),
        row_ok(2, 2000, 50), row_failed(3, 3000, 1, OUTCOME_RESET),
        row_unsent(4, 4000), row_ok(5, 10999, 49),
        row_ok(6, 11000, 1),
    };
    struct settings s;
    struct progress *p;
    struct run_progress now;

    make_settings(&s, "e2e p99 < 50ms");
    p = make(&s, 1);
    progress_add(p, 0, rows, COUNT(rows), NULL);
    now = read_at(p, 12000);
    assert_true(now.has_slo);
    assert_int_equal(now.due, 5);
    assert_int_equal(now.good, 2);
    assert_int_equal(now.outcome[OUTCOME_UNSENT], 1);
    progress_free(p);
    settings_fini(&s);
}

TEST(what_the_schedule_asks_for)
{
    static const struct {
        const char *stage; /* NULL: a constant rate of 100/s */
        int64_t at_ms;
        double want;
        bool is_auto; /* the cool-down */
    } cases[] = {
        {NULL, 500, 100, false},
        {NULL, 5000, 100, false},
        {NULL, 11000, 100, false},
        {NULL, 11500, 50, false}, /* half of that second was after the end */
        {NULL, 13000, 0, false},
        {NULL, 13000, 100, true},
        {NULL, 16500, 50, true},
        {"0..100/s 10s", 6000, 45, false},
        {"0..100/s 10s", 500, 0, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct settings s;
        struct progress *p;
        struct run_progress now;

        make_settings(&s, NULL);
        if (!cases[i].is_auto)
            s.load.cooldown_ns = 0;
        if (cases[i].stage)
            strlist_add(&s.load.stages, cases[i].stage);
        p = make(&s, 1);
        now = read_at(p, cases[i].at_ms);
        assert_true(now.is_open_loop);
        if (fabs(now.asked_rps - cases[i].want) > 1e-6)
            fail_msg("case %zu: %g", i, now.asked_rps);
        progress_free(p);
        settings_fini(&s);
    }
}

TEST(a_closed_loop_asks_for_no_rate)
{
    struct settings s;
    struct progress *p;
    struct run_progress now;

    settings_init(&s);
    s.load.scenario = SCENARIO_CLOSED;
    s.load.clients = 3;
    s.load.requests = 70;
    p = make(&s, 1);
    now = read_at(p, 1000);
    assert_false(now.is_open_loop);
    assert_true(now.planned_s == 0);
    assert_int_equal(now.planned_requests, 70);
    progress_free(p);
    settings_fini(&s);
}

/* Only where the clock alone ends it is known how long it takes. */
TEST(scenarios_plan_what_is_known)
{
    static const struct {
        struct load_settings load;
        double planned_s;
        bool is_offline;
    } cases[] = {
        {{.scenario = SCENARIO_CLOSED, .duration_ns = 5 * NS_PER_S}, 5, false},
        {{.scenario = SCENARIO_CLOSED,
          .duration_ns = 5 * NS_PER_S,
          .max_duration_ns = 3 * NS_PER_S,
          .warmup_ns = NS_PER_S},
         4,
         false},
        {{.scenario = SCENARIO_SINGLE_STREAM, .max_duration_ns = 3 * NS_PER_S},
         3,
         false},
        {{.scenario = SCENARIO_SINGLE_STREAM,
          .min_requests = 9,
          .max_duration_ns = 3 * NS_PER_S},
         0,
         false},
        {{.scenario = SCENARIO_MULTI_STREAM, .min_duration_ns = 3 * NS_PER_S},
         0,
         false},
        {{.scenario = SCENARIO_OFFLINE,
          .requests = 9,
          .max_duration_ns = 3 * NS_PER_S},
         0,
         true},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct settings s;
        struct progress *p;
        struct run_progress now;

        settings_init(&s);
        s.load = cases[i].load;
        p = make(&s, 1);
        now = read_at(p, 1000);
        assert_true(now.planned_s == cases[i].planned_s);
        assert_int_equal(now.is_offline, cases[i].is_offline);
        assert_int_equal(now.planned_requests, cases[i].load.requests);
        progress_free(p);
        settings_fini(&s);
    }
}

/* Warm-up of a number of requests: it is not known how long it takes, until it
 * is over. */
TEST(phases_by_count)
{
    static const struct {
        int64_t at_ms;
        enum phase phase;
    } cases[] = {
        {3999, PHASE_WARMUP},    {4000, PHASE_WINDOW},    {13999, PHASE_WINDOW},
        {14000, PHASE_COOLDOWN}, {15999, PHASE_COOLDOWN}, {16000, PHASE_DRAIN},
    };
    struct settings s;
    struct progress *p;

    make_settings(&s, NULL);
    s.load.warmup_ns = 0;
    s.load.warmup_requests = 400;
    s.load.cooldown_ns = 2 * NS_PER_S;
    p = make(&s, 1);
    assert_int_equal(read_at(p, 9000).phase, PHASE_WARMUP);
    assert_true(read_at(p, 9000).planned_s == 0);
    assert_true(read_at(p, 9000).has_phases);
    phases_begin(&phases, 4 * NS_PER_S);
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(read_at(p, cases[i].at_ms).phase, cases[i].phase);
    assert_true(read_at(p, 9000).planned_s == 16);
    assert_true(fabs(read_at(p, 15000).asked_rps - 100) < 1e-6);
    atomic_store(&phases.end_ns, 5 * NS_PER_S);
    assert_int_equal(read_at(p, 6000).phase, PHASE_COOLDOWN);
    progress_free(p);
    settings_fini(&s);
}

/* It is planned to the end of the window; the phase is named while it lasts. */
TEST(an_automatic_cool_down_ends_early)
{
    struct settings s;
    struct progress *p;

    make_settings(&s, NULL);
    s.load.warmup_ns = 0;
    p = make(&s, 1);
    assert_true(read_at(p, 9000).planned_s == 10);
    assert_false(read_at(p, 9000).has_phases);
    assert_int_equal(read_at(p, 11000).phase, PHASE_COOLDOWN);
    assert_true(read_at(p, 11000).has_phases);
    atomic_store(&phases.load_end_ns, 12 * NS_PER_S);
    assert_int_equal(read_at(p, 11999).phase, PHASE_COOLDOWN);
    assert_int_equal(read_at(p, 12000).phase, PHASE_DRAIN);
    assert_true(read_at(p, 13000).asked_rps == 0);
    progress_free(p);
    settings_fini(&s);
}

/* 3 rows in the first second, none in the second, 1 in the third. */
TEST(a_trace_asks)
{
    static const int64_t due_ms[] = {0, 100, 999, 2500};
    struct timeline t = {0};
    struct settings s;
    struct progress *p;

    for (size_t i = 0; i < COUNT(due_ms); i++)
        timeline_add(&t, due_ms[i] * NS_PER_MS);
    make_settings(&s, NULL);
    s.load.scenario = SCENARIO_TRACE;
    s.load.trace.timeline = &t;
    p = make(&s, 1);
    assert_true(read_at(p, 1000).is_open_loop);
    assert_true(read_at(p, 1000).asked_rps == 3);
    assert_true(read_at(p, 1500).asked_rps == 1.5);
    assert_true(read_at(p, 2000).asked_rps == 0);
    assert_true(read_at(p, 3000).asked_rps == 1);
    assert_true(read_at(p, 9000).asked_rps == 0);
    progress_free(p);
    settings_fini(&s);
    timeline_fini(&t);
}

TEST(an_slo_that_cannot_be_read)
{
    struct settings s;
    struct progress *p = NULL;
    struct err err = {0};

    make_settings(&s, "e2e p99 > 1s");
    assert_int_equal(progress_new(&p, &s, &phases, 1, &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
    assert_null(p);
    settings_fini(&s);
}
