/* A run as MLPerf's rules look at it: each scenario's result, what proves it,
 * and every rule that can be broken. */
#include <stdbool.h>
#include <string.h>

#include "analyzer/tally/summary.h"
#include "analyzer/tally/tally.h"
#include "analyzer/verdict/mlperf.h"
#include "analyzer/verdict/mlperf_accuracy.h"
#include "common/base/clk.h"
#include "common/base/str.h"
#include "common/settings/settings.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"

#define MS       NS_PER_MS
#define OFFICIAL 16159082839903944936U

static const char accuracy[] =
    "there is no accuracy run with the same settings";

/* A run of 600 s that keeps every rule that can be seen. */
struct looked_at {
    struct settings settings;
    struct summary s;
    struct tally tally;
    struct mlperf m;
};

static void begin(struct looked_at *l, int scenario, const char *slo)
{
    *l = (struct looked_at){
        .settings.load = {.scenario = scenario,
                          .query_size = 8,
                          .seeds = scenario == SCENARIO_SERVER ? SEEDS_MLPERF
                                                               : SEEDS_OWN,
                          .schedule_seed = OFFICIAL},
        .s = {.window_length_s = 600,
              .throughput_rps = 77,
              .scheduled = 24576,
              .slo = slo_of(slo),
              .trust.valid = true},
    };
    l->s.settings = &l->settings;
    tally_init(&l->tally, (struct window){0, 600 * NS_PER_S}, &l->s.slo);
}

/* 1 ms, 2 ms, ... n ms, and a number of failures. */
static void add_latencies(struct looked_at *l, enum measure m, int64_t n,
                          int64_t failed)
{
    for (int64_t i = 1; i <= n; i++)
        hist_add(&l->tally.hist[m][VIEW_DUE], i * MS);
    hist_add_beyond(&l->tally.hist[m][VIEW_DUE], failed);
}

static void look(struct looked_at *l)
{
    mlperf_make(&l->m, &l->s, &l->tally);
    tally_fini(&l->tally);
}

/* Exactly these, the one that is always broken at the end. */
static void assert_breaks(const struct looked_at *l, const char *const *want,
                          size_t n)
{
    assert_int_equal(l->m.n_breaks, n + 1);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(l->m.breaks[i], want[i]);
    assert_string_equal(l->m.breaks[n], accuracy);
}

#define BREAKS(l, ...)                                                         \
    assert_breaks(l, (const char *const[]){__VA_ARGS__},                       \
                  COUNT(((const char *const[]){__VA_ARGS__})))

TEST(other_loops_are_none_of_theirs)
{
    struct looked_at l;

    begin(&l, SCENARIO_CLOSED, "");
    look(&l);
    assert_false(l.m.is_there);
    begin(&l, SCENARIO_SERVER, "");
    l.settings.load.seeds = SEEDS_OWN;
    look(&l);
    assert_false(l.m.is_there);
}

/* With 100 queries at p90 three may be over it, so that the fourth from the top
 * is the estimate. */
TEST(single_stream_estimates_p90)
{
    struct looked_at l;

    begin(&l, SCENARIO_SINGLE_STREAM, "");
    add_latencies(&l, MEASURE_E2E, 100, 0);
    look(&l);
    assert_true(l.m.is_there);
    assert_false(l.m.is_rate);
    assert_string_equal(l.m.metric, "p90 latency");
    assert_int_equal(l.m.n_proofs, 2); /* p99 as well, see below */
    assert_int_equal(l.m.proofs[0].measure, MEASURE_E2E);
    assert_true(l.m.proofs[0].percentile == 0.9);
    assert_true(l.m.proofs[0].is_proved);
    assert_int_equal(l.m.proofs[0].n, 100);
    assert_in_range(l.m.proofs[0].over, 2, 3);
    assert_in_range(l.m.proofs[0].estimate_ns, (100 - l.m.proofs[0].over) * MS,
                    (101 - l.m.proofs[0].over) * MS);
    assert_breaks(&l, NULL, 0);
}

/* 662 queries are the fewest that give it; of fewer no rule is broken. */
TEST(single_stream_has_p99_beside_it)
{
    struct looked_at l;

    begin(&l, SCENARIO_SINGLE_STREAM, "");
    add_latencies(&l, MEASURE_E2E, 661, 0);
    look(&l);
    assert_true(l.m.proofs[1].is_beside);
    assert_true(l.m.proofs[1].percentile == 0.99);
    assert_false(l.m.proofs[1].is_proved);
    assert_breaks(&l, NULL, 0);
    begin(&l, SCENARIO_SINGLE_STREAM, "");
    add_latencies(&l, MEASURE_E2E, 662, 0);
    look(&l);
    assert_true(l.m.proofs[1].is_proved);
    assert_int_equal(l.m.proofs[1].over, 0); /* the largest is its bound */
    assert_in_range(l.m.proofs[1].estimate_ns, 661 * MS, 662 * MS);
    assert_false(l.m.proofs[0].is_beside);
}

TEST(too_few_prove_nothing)
{
    struct looked_at l;

    begin(&l, SCENARIO_SINGLE_STREAM, "");
    add_latencies(&l, MEASURE_E2E, 63, 0); /* 64 would do */
    look(&l);
    assert_false(l.m.proofs[0].is_proved);
    assert_int_equal(l.m.proofs[0].estimate_ns, HIST_TOO_FEW);
    BREAKS(&l, "too few queries to prove p90 of e2e");
    begin(&l, SCENARIO_SINGLE_STREAM, "");
    add_latencies(&l, MEASURE_E2E, 64, 0);
    look(&l);
    assert_true(l.m.proofs[0].is_proved);
}

/* Failures are slower than everything: an estimate among them is none. */
TEST(failures_are_no_latency)
{
    struct looked_at l;

    begin(&l, SCENARIO_SINGLE_STREAM, "");
    add_latencies(&l, MEASURE_E2E, 50, 50);
    l.s.failed = 50;
    look(&l);
    assert_false(l.m.proofs[0].is_proved);
    assert_int_equal(l.m.proofs[0].estimate_ns, HIST_BEYOND);
    BREAKS(&l, "failures or values above 1h decide p90 of e2e",
           "50 requests have no answer");
}

TEST(multi_stream_estimates_p99_of_queries)
{
    struct looked_at l;

    begin(&l, SCENARIO_MULTI_STREAM, "");
    add_latencies(&l, MEASURE_QUERY, 662, 0);
    look(&l);
    assert_string_equal(l.m.metric, "p99 query latency");
    assert_true(l.m.proofs[0].is_proved);
    assert_int_equal(l.m.proofs[0].measure, MEASURE_QUERY);
    assert_breaks(&l, NULL, 0);
    begin(&l, SCENARIO_MULTI_STREAM, "");
    l.settings.load.query_size = 4;
    add_latencies(&l, MEASURE_QUERY, 661, 0);
    look(&l);
    BREAKS(&l, "4 samples per query, not 8",
           "too few queries to prove p99 of query");
}

TEST(offline_is_a_rate)
{
    struct looked_at l;

    begin(&l, SCENARIO_OFFLINE, "");
    look(&l);
    assert_string_equal(l.m.metric, "samples/s");
    assert_true(l.m.is_rate);
    assert_true(l.m.rate_rps == 77);
    assert_int_equal(l.m.n_proofs, 0);
    assert_breaks(&l, NULL, 0);
    begin(&l, SCENARIO_OFFLINE, "");
    l.s.scheduled = 24575;
    l.s.unsent = 3;
    l.s.failed = 4;
    look(&l);
    BREAKS(&l, "24575 samples, fewer than 24576", "7 requests have no answer");
}

TEST(samples_of_other_seeds_break_a_rule)
{
    struct looked_at l;

    begin(&l, SCENARIO_OFFLINE, "");
    l.settings.data.file = (char *)"f";
    look(&l);
    BREAKS(&l, "the samples are not those of the official seeds");
    begin(&l, SCENARIO_OFFLINE, "");
    l.settings.data.file = (char *)"f";
    l.settings.load.seeds = SEEDS_MLPERF;
    l.settings.load.qsl_seed = 2085463073848966840U;
    l.settings.load.sample_index_seed = 2747215439041700203U;
    look(&l);
    assert_breaks(&l, NULL, 0);
}

/* ---- the server ---- */

static void add_term(struct looked_at *l, size_t i, int64_t keeps, int64_t over)
{
    l->tally.terms[i].n = keeps + over;
    l->tally.terms[i].keeps = keeps;
}

TEST(the_server_proves_its_limits)
{
    struct looked_at l;

    begin(&l, SCENARIO_SERVER,
          "ttft p99 < 2s,tpot p99 < 200ms,errors < 1%,gap p99 < 1s");
    add_term(&l, 0, 1302, 5);
    add_term(&l, 1, 1301, 5);
    l.s.verdict = VERDICT_PASS;
    look(&l);
    assert_string_equal(l.m.metric, "completed samples/s");
    assert_true(l.m.is_rate);
    assert_int_equal(l.m.n_proofs, 2); /* no counts, nothing that is pooled */
    assert_int_equal(l.m.proofs[0].limit_ns, 2 * NS_PER_S);
    assert_int_equal(l.m.proofs[0].n, 1307);
    assert_int_equal(l.m.proofs[0].over, 5);
    assert_true(l.m.proofs[0].is_proved);
    assert_int_equal(l.m.proofs[0].more_needed, 0);
    assert_false(l.m.proofs[1].is_proved);
    assert_int_equal(l.m.proofs[1].more_needed, 1);
    BREAKS(&l, "too few queries to prove p99 of tpot");
}

TEST(what_a_server_run_can_break)
{
    struct looked_at l;

    begin(&l, SCENARIO_SERVER, "");
    look(&l);
    BREAKS(&l, "no limit on a latency");

    begin(&l, SCENARIO_SERVER, "e2e p90 < 1s");
    add_term(&l, 0, 1000, 0);
    l.settings.load.schedule_seed = 1;
    l.s.verdict = VERDICT_FAIL;
    look(&l);
    BREAKS(&l, "a limit at p90, not p99",
           "the schedule is not that of the official seed",
           "the limits are missed, so no rate counts");
}

TEST(what_every_run_can_break)
{
    struct looked_at l;

    begin(&l, SCENARIO_OFFLINE, "");
    l.s.window_length_s = 599.5;
    l.s.trust.valid = false;
    look(&l);
    BREAKS(&l, "lasted 599.5 s, less than 600 s",
           "the measurement is not trusted");
}

/* As many as there can be: none is left out. */
TEST(all_breaks_fit)
{
    struct looked_at l;

    begin(&l, SCENARIO_SERVER,
          "e2e p90 < 1s,ttft p90 < 1s,ttfb p90 < 1s,tpot p90 < 1s,"
          "stall p90 < 1s");
    l.settings.load.schedule_seed = 1;
    l.s.verdict = VERDICT_FAIL;
    l.s.window_length_s = 1;
    l.s.failed = 1;
    l.s.trust.valid = false;
    look(&l);
    assert_int_equal(l.m.n_proofs, 5);
    assert_int_equal(l.m.n_breaks, 5 + 1 + 1 + 1 + 5 + 1 + 1 + 1);
    assert_string_equal(l.m.breaks[l.m.n_breaks - 1], accuracy);
}

/* ---- the accuracy run ---- */

TEST(the_hash_is_that_of_the_system)
{
    static const struct {
        const char *key;
        const char *value;
        bool is_same;
    } cases[] = {
        {"load.rate", "7/s", true},
        {"load.duration", "1h", true},
        {"data.accuracy", "true", true},
        {"data.select", "order", true},
        {"slo", "quality >= 0.99", true},
        {"checks", "label", true},
        {"target.url", "http://other/", true},
        {"clock.utc", "now", true},
        {"load.scenario", "offline", false},
        {"target.model", "other", false},
        {"conditions.precision", "fp8", false},
        {"data.sha256", "abc", false},
    };
    struct strmap base = {0};
    char want[MLPERF_HASH];

    strmap_put(&base, "load.scenario", "server");
    strmap_put(&base, "target.model", "m");
    strmap_put(&base, "conditions.precision", "fp16");
    mlperf_settings_hash(&base, want);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct strmap other = {0};
        char hash[MLPERF_HASH];

        strmap_put(&other, "load.scenario", "server");
        strmap_put(&other, "target.model", "m");
        strmap_put(&other, "conditions.precision", "fp16");
        strmap_put(&other, cases[i].key, cases[i].value);
        mlperf_settings_hash(&other, hash);
        if ((strcmp(hash, want) == 0) != cases[i].is_same)
            fail_msg("%s", cases[i].key);
        strmap_fini(&other);
    }
    strmap_fini(&base);
}

TEST(an_accuracy_run_has_none_of_its_own)
{
    struct looked_at l;

    begin(&l, SCENARIO_OFFLINE, "");
    l.settings.data.accuracy = true;
    look(&l);
    assert_int_equal(l.m.n_breaks, 1);
    assert_string_equal(l.m.breaks[0],
                        "it is an accuracy run, not a performance run");
}
