/* Settings of the scenarios: what contradicts itself, what follows, and how the
 * load is described. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/settings/settings.h"
#include "tests/support/tmpdir.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A file of this text, and a target. */
static void load(struct settings *s, const char *text)
{
    struct err err = {0};

    settings_init(s);
    if (settings_load(s, tmpdir_write("s.yaml", text, strlen(text)), &err) ||
        settings_assign(s, "target.url=http://h", &err))
        fail_msg("%s", err.msg);
}

#define MLPERF                                                                 \
    "load.seeds: mlperf is a schedule of Poisson arrivals at one rate, "       \
    "without bursts or exact counts"

static const struct {
    const char *text;
    const char *want;
} contradictions[] = {
    {"load: {scenario: single-stream, rate: 5}",
     "load.rate: the single-stream scenario sends when answers came, not "
     "at a rate"},
    {"load: {scenario: offline, stages: [5/s 1s]}",
     "load.stages: the offline scenario sends when answers came, not at a "
     "rate"},
    {"load: {scenario: multi-stream, clients: 2}",
     "load.clients: the multi-stream scenario has one"},
    {"load: {scenario: single-stream, "
     "burst_on: 1s, burst_off: 1s}",
     "load.burst_on: the single-stream scenario has no arrivals of its "
     "own"},
    {"load: {rate: 5, think: fixed 1s}",
     "load.think: clients of a closed loop or of sessions think; the server "
     "scenario has none that do"},
    {"load: {scenario: single-stream, "
     "think: fixed 1s}",
     "load.think: clients of a closed loop or of sessions think; the "
     "single-stream scenario has none that do"},
    {"load: {clients: 2, turns: 3}",
     "load.turns: sessions arrive at a rate (--rate); the closed scenario has "
     "none"},
    {"load: {scenario: sessions, rate: 2}",
     "load.turns: the sessions scenario needs the turns of one "
     "(--session-turns)"},
    {"load: {scenario: sessions, turns: 3}",
     "load.rate: the sessions scenario needs a rate (--rate)"},
    {"load: {rate: 5, min_duration: 1s, "
     "duration: 1s}",
     "load.min_duration: instead of duration and requests, not beside "
     "them; max_duration may bound it"},
    {"load: {stages: [5/s 1s], min_requests: 9}",
     "load.min_requests: instead of duration and requests, not beside "
     "them; max_duration may bound it"},
    {"load: {rate: 5, min_requests: 5, "
     "requests: 9}",
     "load.min_requests: instead of duration and requests, not beside "
     "them; max_duration may bound it"},
    {"load: {rate: 5, min_duration: 2s, "
     "max_duration: 1s}",
     "load.max_duration: shorter than load.min_duration"},
    {"load: {scenario: offline}",
     "load.requests: the offline scenario sends all at once; say how many "
     "(-n)"},
    {"load: {scenario: offline, min_requests: 5}",
     "load.requests: the offline scenario sends all at once; say how many "
     "(-n)"},
    {"load: {scenario: offline, requests: 5, "
     "warmup: 1s}",
     "load.warmup: the offline scenario has none, all is due at the start"},
    {"load: {scenario: offline, requests: 5, warmup_requests: 1}",
     "load.warmup_requests: the offline scenario has none, all is due at the "
     "start"},
    {"load: {scenario: offline, requests: 5, cooldown: 1s}",
     "load.cooldown: the offline scenario has none, it ends with its last "
     "answer"},
    {"load: {rate: 5, warmup: 1s, warmup_requests: 1}",
     "load.warmup_requests: instead of load.warmup, not beside it"},
    {"load: {rate: 5}\nwarmup_data: {input_tokens: 9}",
     "warmup_data: there is no warm-up; give load.warmup or "
     "load.warmup_requests"},
    {"load: {rate: 5, warmup: 1s}\nwarmup_data: {limit: 9}",
     "warmup_data: data.limit: goes with data.file (--data)"},
    {"load: {rate: 5, warmup: 1s}\nwarmup_data: {input_tokens: 9}\n"
     "classes: [{name: a}]",
     "warmup_data: not beside classes, which warm up with their own"},
    {"load: {stages: [0..5/s 1s], warmup_requests: 1}",
     "load.warmup_requests: the first stage begins at 0/s, so that none would "
     "come; give load.warmup a time"},
    {"load: {scenario: offline, requests: 5, "
     "duration: 1s}",
     "load.duration: the offline scenario ends with its last answer; bound "
     "it with load.max_duration"},
    {"load: {scenario: offline, requests: 5, drain: 1s}",
     "load.drain: the offline scenario waits for every answer; bound it with "
     "load.max_duration"},
    {"load: {rate: 5, samples_per_query: 4}",
     "load.samples_per_query: goes with the multi-stream scenario"},
    {"load: {scenario: multi-stream, "
     "samples_per_query: 32769}",
     "load.samples_per_query: at most 32768"},
    {"load: {rate: 5, schedule_rng_seed: 7}",
     "load.schedule_rng_seed: goes with seeds mlperf; our own is "
     "load.seed"},
    {"load: {seeds: mlperf, stages: [5/s 1s]}", MLPERF},
    {"load: {seeds: mlperf, rate: 5, "
     "arrival: constant}",
     MLPERF},
    {"load: {seeds: mlperf, rate: 5, "
     "burst_on: 1s, burst_off: 1s}",
     MLPERF},
    {"load: {seeds: mlperf, rate: 5, "
     "exact: true}",
     MLPERF},
    {"load: {seeds: mlperf, clients: 5}", MLPERF},
    {"load: {rate: 5, qsl_rng_seed: 7}",
     "load.qsl_rng_seed: goes with seeds mlperf; our own is load.seed"},
    {"load: {rate: 5, sample_index_rng_seed: 7}",
     "load.sample_index_rng_seed: goes with seeds mlperf; our own is "
     "load.seed"},
    {"load: {seeds: mlperf, rate: 5, sample_index_rng_seed: 7}",
     "load.sample_index_rng_seed: draws samples of a data set (--data), and "
     "there is none"},
    {"load: {seeds: mlperf, scenario: single-stream}",
     "load.seeds: draws samples of a data set (--data), and there is none"},
    {"data: {file: f, select: order}\nload: {seeds: mlperf, rate: 5}",
     "load.seeds: LoadGen takes samples by permutation or with replacement "
     "(data.select), not in order"},
    {"data: {file: f}\nload: {seeds: mlperf, rate: 5, warmup: 1s}",
     "load.warmup: with seeds mlperf and a data set the first request has "
     "LoadGen's first sample"},
    {"data: {file: f}\nload: {seeds: mlperf, rate: 5, warmup_requests: 3}",
     "load.warmup_requests: with seeds mlperf and a data set the first request "
     "has LoadGen's first sample"},
    {"load: {rate: 5, shape: soak 5/s for 1h}",
     "load.shape: instead of rate, duration and bursts, not beside them"},
    {"load: {shape: soak 5/s for 1h, stages: [5/s 1s]}",
     "load.shape: one of stages, shape and rate_table, not several"},
    {"load: {rate: 5, table_speed: 2}",
     "load.table_speed: goes with load.rate_table"},
    {"load: {rate_table: /no/such}",
     "load.rate_table: /no/such: No such file or directory"},
    {"load: {shape: soak 0/s for 1h}", "load.shape: no load at all"},
    {"load: {stages: [1/s 40000d, 1/s 40000d]}",
     "load.stages: too long in all"},
    {"load: {scenario: single-stream, shape: soak 5/s for 1h}",
     "load.shape: the single-stream scenario sends when answers came, not at a "
     "rate"},
};

static void contradictions_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(contradictions); i++) {
        struct settings s;
        struct err err = {0};

        load(&s, contradictions[i].text);
        assert_int_equal(settings_resolve(&s, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, contradictions[i].want);
        settings_fini(&s);
    }
}

/* A query goes out whole, so there is no part of one to ask for. */
static void queries_are_asked_for_whole(void **state)
{
    static const struct {
        const char *text;
        int64_t requests;
        int64_t min_requests;
    } cases[] = {
        {"load: {scenario: multi-stream, requests: 1}", 8, 0},
        {"load: {scenario: multi-stream, requests: 8}", 8, 0},
        {"load: {scenario: multi-stream, requests: 9}", 16, 0},
        {"load: {scenario: multi-stream, min_requests: 10, "
         "samples_per_query: 3}",
         0, 12},
        {"load: {scenario: single-stream, requests: 9}", 9, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct settings s;
        struct err err = {0};

        load(&s, cases[i].text);
        assert_int_equal(settings_resolve(&s, &err), 0);
        assert_int_equal(s.load.requests, cases[i].requests);
        assert_int_equal(s.load.min_requests, cases[i].min_requests);
        settings_fini(&s);
    }
}

static void the_load_is_described(void **state)
{
    static const struct {
        const char *text;
        const char *want;
    } cases[] = {
        {"load: {clients: 3, think: exponential 2s, requests: 9}",
         "closed loop, 3 clients that think (exponential 2s), 9 requests, "
         "seed 1\n"},
        {"load: {scenario: single-stream, min_duration: 10m, "
         "min_requests: 64}",
         "single-stream, one request at a time, at least 64 requests, at least "
         "10m, seed 1\n"},
        {"load: {scenario: multi-stream, requests: 80, max_duration: 1m, "
         "warmup: 5s}",
         "multi-stream, one query of 8 requests at a time, 80 requests, at "
         "most 1m after 5s of warm-up, seed 1\n"},
        {"load: {scenario: offline, requests: 24576}",
         "offline, all at once, 24576 requests, seed 1\n"},
        {"load: {rate: 5, duration: 1s, seeds: mlperf, schedule_rng_seed: 7}",
         "open loop, poisson 5/s, LoadGen's schedule of seed 7, window 1s, "
         "seed 1\n"},
        {"load: {shape: spike 5/s 50/s at 1m for 10s}",
         "open loop, poisson spike 5/s 50/s at 1m for 10s, window 130s, seed "
         "1\n"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct settings s;
        struct err err = {0};
        struct buf out;

        load(&s, cases[i].text);
        assert_int_equal(settings_resolve(&s, &err), 0);
        buf_init(&out, 1000);
        settings_describe_load(&s.load, &out);
        assert_string_equal(buf_text(&out), cases[i].want);
        buf_fini(&out);
        settings_fini(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(queries_are_asked_for_whole),
        cmocka_unit_test(the_load_is_described),
    };

    return cmocka_run_group_tests_name("settings_scenarios", tests,
                                       tmpdir_setup, tmpdir_teardown);
}
