/* Settings of the scenarios: what contradicts itself, what follows, and how the
 * load is described. */
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/settings/settings.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* A file of this text, and a target. */
static void load(struct settings *s, const char *text)
{
    struct err err = {0};

    settings_init(s);
    if (settings_load(s, tmpdir_write("s.yaml", text, strlen(text)), &err) ||
        settings_assign(s, "target.url=http://h", &err))
        fail_msg("%s", err.msg);
}

#define MLPERF "load.seeds: mlperf "

static const struct {
    const char *text;
    const char *want;
} contradictions[] = {
    {"load: {scenario: single-stream, rate: 5}",
     "load.rate requires load.scenario: server or sessions, not single-stream"},
    {"load: {scenario: offline, stages: [5/s 1s]}",
     "load.stages requires load.scenario: server or sessions, not offline"},
    {"load: {scenario: multi-stream, clients: 2}",
     "load.clients requires load.scenario: closed, not multi-stream"},
    {"load: {scenario: single-stream, "
     "burst_on: 1s, burst_off: 1s}",
     "load.burst_on requires load.scenario: server or sessions, not "
     "single-stream"},
    {"load: {rate: 5, think: fixed 1s}",
     "load.think requires load.scenario: closed or sessions; with load.rate "
     "the scenario is server"},
    {"load: {scenario: single-stream, "
     "think: fixed 1s}",
     "load.think requires load.scenario: closed or sessions, not "
     "single-stream"},
    {"load: {clients: 2, turns: 3}",
     "load.turns requires load.scenario: sessions; without load.rate the "
     "scenario is closed"},
    {"load: {scenario: sessions, rate: 2}",
     "load.scenario: sessions requires load.turns (--session-turns) or "
     "data.turns: session"},
    {"load: {scenario: sessions, turns: 3}",
     "load.scenario: sessions requires load.rate (--rate)"},
    {"load: {rate: 5, min_duration: 1s, "
     "duration: 1s}",
     "load.min_duration cannot be combined with load.duration"},
    {"load: {stages: [5/s 1s], min_requests: 9}",
     "load.stages cannot be combined with load.min_requests"},
    {"load: {rate: 5, min_requests: 5, "
     "requests: 9}",
     "load.min_requests cannot be combined with load.requests"},
    {"load: {rate: 5, min_duration: 2s, "
     "max_duration: 1s}",
     "load.max_duration is shorter than load.min_duration"},
    {"load: {scenario: offline}",
     "load.scenario: offline requires load.requests or data.accuracy"},
    {"load: {scenario: offline, min_requests: 5}",
     "load.scenario: offline requires load.requests or data.accuracy"},
    {"load: {scenario: offline, requests: 5, "
     "warmup: 1s}",
     "load.warmup cannot be combined with load.scenario: offline"},
    {"load: {scenario: offline, requests: 5, warmup_requests: 1}",
     "load.warmup_requests cannot be combined with load.scenario: offline"},
    {"load: {scenario: offline, requests: 5, cooldown: 1s}",
     "load.cooldown cannot be combined with load.scenario: offline"},
    {"load: {rate: 5, warmup: 1s, warmup_requests: 1}",
     "load.warmup_requests cannot be combined with load.warmup"},
    {"load: {rate: 5}\nwarmup_data: {input_tokens: 9}",
     "warmup_data requires load.warmup or load.warmup_requests"},
    {"load: {rate: 5, warmup: 1s}\nwarmup_data: {limit: 9}",
     "warmup_data: data.limit requires data.file (--data)"},
    {"load: {rate: 5, warmup: 1s}\nwarmup_data: {input_tokens: 9}\n"
     "classes: [{name: a}]",
     "warmup_data cannot be combined with classes"},
    {"load: {stages: [0..5/s 1s], warmup_requests: 1}",
     "load.warmup_requests requires a first stage above 0/s; use load.warmup "
     "instead"},
    {"load: {scenario: offline, requests: 5, "
     "duration: 1s}",
     "load.duration cannot be combined with load.scenario: offline"},
    {"load: {scenario: offline, requests: 5, drain: 1s}",
     "load.drain cannot be combined with load.scenario: offline"},
    {"load: {rate: 5, samples_per_query: 4}",
     "load.samples_per_query requires load.scenario: multi-stream; with "
     "load.rate the scenario is server"},
    {"load: {rate: 5, schedule_rng_seed: 7}",
     "load.schedule_rng_seed requires load.seeds: mlperf"},
    {"load: {seeds: mlperf, stages: [5/s 1s]}",
     MLPERF "cannot be combined with load.stages (--stage)"},
    {"load: {seeds: mlperf, rate: 5, "
     "arrival: constant}",
     MLPERF "requires load.arrival: poisson"},
    {"load: {seeds: mlperf, rate: 5, "
     "burst_on: 1s, burst_off: 1s}",
     MLPERF "cannot be combined with load.burst_on"},
    {"load: {seeds: mlperf, rate: 5, "
     "exact: true}",
     MLPERF "cannot be combined with load.exact"},
    {"load: {seeds: mlperf, clients: 5}",
     MLPERF "requires load.scenario: server, single-stream, multi-stream or "
            "offline; without load.rate the scenario is closed"},
    {"load: {rate: 5, qsl_rng_seed: 7}",
     "load.qsl_rng_seed requires load.seeds: mlperf"},
    {"load: {rate: 5, sample_index_rng_seed: 7}",
     "load.sample_index_rng_seed requires load.seeds: mlperf"},
    {"load: {seeds: mlperf, rate: 5, sample_index_rng_seed: 7}",
     "load.sample_index_rng_seed requires data.file (--data)"},
    {"load: {seeds: mlperf, scenario: single-stream}",
     "load.seeds: mlperf requires data.file (--data) if load.scenario is "
     "single-stream"},
    {"data: {file: f, select: order}\nload: {seeds: mlperf, rate: 5}",
     "load.seeds: mlperf cannot be combined with data.select: order"},
    {"data: {file: f}\nload: {seeds: mlperf, rate: 5, warmup: 1s}",
     "load.seeds: mlperf with data.file cannot be combined with load.warmup: "
     "LoadGen's first sample goes into the first request"},
    {"data: {file: f}\nload: {seeds: mlperf, rate: 5, warmup_requests: 3}",
     "load.seeds: mlperf with data.file cannot be combined with "
     "load.warmup_requests: LoadGen's first sample goes into the first "
     "request"},
    {"load: {rate: 5, shape: soak 5/s for 1h}",
     "load.shape cannot be combined with load.rate"},
    {"load: {shape: soak 5/s for 1h, stages: [5/s 1s]}",
     "load.stages cannot be combined with load.shape"},
    {"load: {rate: 5, table_speed: 2}",
     "load.table_speed requires load.rate_table"},
    {"load: {rate_table: /no/such}",
     "load.rate_table: /no/such: No such file or directory"},
    {"load: {shape: soak 0/s for 1h}",
     "load.shape: the rate is 0 all the time"},
    {"load: {stages: [1/s 40000d, 1/s 40000d]}",
     "load.stages: the stages are too long in total"},
    {"load: {scenario: single-stream, shape: soak 5/s for 1h}",
     "load.shape requires load.scenario: server or sessions, not "
     "single-stream"},
};

TEST(contradictions_are_refused)
{
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
TEST(queries_are_asked_for_whole)
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

TEST(the_load_is_described)
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

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
