/* What "auto" becomes, and what this machine cannot do. */
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"
#include "common/settings/settings.h"
#include "loadgen/engine/run_limits.h"
#include "tests/support/test.h"

#define AUTO OPT_AUTO

static struct settings settings_of(const struct load_settings *load,
                                   const struct client_settings *client)
{
    return (struct settings){.load = *load, .client = *client};
}

static const struct client_settings all_auto = {
    .connections = AUTO, .max_in_flight = AUTO, .threads = AUTO};

/* ---- threads ---- */

static const struct {
    struct load_settings load;
    const char *stages[2];
    int64_t cores;
    int64_t want;
} threads[] = {
    {{.scenario = SCENARIO_SERVER, .rate_rps = 1}, {NULL}, 8, 1},
    {{.scenario = SCENARIO_SERVER, .rate_rps = 50000}, {NULL}, 8, 1},
    {{.scenario = SCENARIO_SERVER, .rate_rps = 50001}, {NULL}, 8, 2},
    {{.scenario = SCENARIO_SERVER, .rate_rps = 100000}, {NULL}, 8, 2},
    {{.scenario = SCENARIO_SERVER, .rate_rps = 100000},
     {NULL},
     2,
     1}, /* one core is for others */
    {{.scenario = SCENARIO_SERVER, .rate_rps = 100000}, {NULL}, 1, 1},
    {{.scenario = SCENARIO_SERVER, .rate_rps = 1e6}, {NULL}, 8, 7},
    {{.scenario = SCENARIO_SERVER, .rate_rps = 1e6}, {NULL}, 64, 20},
    {{.scenario = SCENARIO_SERVER, .rate_rps = 1e7},
     {NULL},
     1000,
     RECORDING_MAX_WORKERS},
    /* The rate within a burst, not its mean. */
    {{.scenario = SCENARIO_SERVER,
      .rate_rps = 50000,
      .burst_on_ns = 1,
      .burst_off_ns = 3},
     {NULL},
     8,
     4},
    {{.scenario = SCENARIO_SERVER,
      .rate_rps = 10,
      .burst_on_ns = 1,
      .burst_off_ns = 9},
     {NULL},
     8,
     1},
    /* The highest of the stages, at either end. */
    {{.scenario = SCENARIO_SERVER, .rate_rps = 10},
     {"10/s 1s", "150k/s 1ms"},
     8,
     3},
    {{.scenario = SCENARIO_SERVER, .rate_rps = 10},
     {"0..200k/s 1s", "10/s 1s"},
     8,
     4},
    {{.scenario = SCENARIO_SERVER, .rate_rps = 10},
     {"200k/s..0 1s", "10/s 1s"},
     8,
     4},
    {{.scenario = SCENARIO_TRACE, .trace = {.peak_rps = 120000}}, {NULL}, 8, 3},
    {{.scenario = SCENARIO_CLOSED, .clients = 1}, {NULL}, 8, 1},
    {{.scenario = SCENARIO_CLOSED, .clients = 256}, {NULL}, 8, 1},
    {{.scenario = SCENARIO_CLOSED, .clients = 257}, {NULL}, 8, 2},
    {{.scenario = SCENARIO_CLOSED, .clients = 10000}, {NULL}, 8, 4},
    {{.scenario = SCENARIO_CLOSED, .clients = 10000}, {NULL}, 3, 1},
    {{.scenario = SCENARIO_CLOSED, .clients = 10000}, {NULL}, 1, 1},
};

TEST(threads_follow_from_load_and_cores)
{
    for (size_t i = 0; i < COUNT(threads); i++) {
        struct settings s = settings_of(&threads[i].load, &all_auto);
        struct machine machine = {.cores = threads[i].cores, .files = 1000000};
        struct err err = {0};

        for (size_t k = 0; k < 2 && threads[i].stages[k]; k++)
            strlist_add(&s.load.stages, threads[i].stages[k]);
        assert_int_equal(plan_client(&s, machine, &err), 0);
        assert_int_equal(s.client.threads, threads[i].want);
        strlist_fini(&s.load.stages);
    }
}

/* ---- bounds ---- */

static const struct {
    struct client_settings client;
    int64_t clients; /* 0: an open loop that would like 4 threads */
    int64_t files;
    int64_t want_threads;
    int64_t want_in_flight;
} bounds[] = {
    /* Nothing asked: the bound, or what the files give. */
    {{.connections = AUTO, .max_in_flight = AUTO, .threads = AUTO},
     0,
     100000,
     4,
     PLAN_MAX_IN_FLIGHT},
    {{.connections = AUTO, .max_in_flight = AUTO, .threads = AUTO},
     0,
     1024,
     4,
     1024 - 64 - 4 * 8},
    {{.connections = AUTO, .max_in_flight = AUTO, .threads = 10},
     0,
     1024,
     10,
     1024 - 64 - 10 * 8},
    {{.connections = AUTO, .max_in_flight = AUTO, .threads = AUTO},
     0,
     100,
     4,
     4}, /* hardly any: each thread has one */
    {{.connections = AUTO,
      .max_in_flight = AUTO,
      .threads = 2,
      .preconnect = 40000},
     0,
     100000,
     2,
     40000},
    /* The lowest of what was asked. */
    {{.connections = 100, .max_in_flight = AUTO, .threads = AUTO},
     0,
     1024,
     4,
     100},
    {{.connections = AUTO, .max_in_flight = 100, .threads = AUTO},
     0,
     1024,
     4,
     100},
    {{.connections = 50, .max_in_flight = 100, .threads = AUTO},
     0,
     1024,
     4,
     50},
    {{.connections = AUTO, .max_in_flight = 50000, .threads = AUTO},
     0,
     100000,
     4,
     50000},
    {{.connections = AUTO, .max_in_flight = AUTO, .threads = 3},
     700,
     1024,
     3,
     700},
    {{.connections = 10, .max_in_flight = AUTO, .threads = AUTO},
     700,
     1024,
     3,
     10},
    {{.connections = 10,
      .max_in_flight = AUTO,
      .threads = AUTO,
      .preconnect = 10},
     700,
     1024,
     3,
     10},
    /* No thread without a connection. */
    {{.connections = 2, .max_in_flight = AUTO, .threads = AUTO}, 0, 1024, 2, 2},
    {{.connections = AUTO, .max_in_flight = 1, .threads = 8}, 0, 1024, 1, 1},
    {{.connections = AUTO, .max_in_flight = AUTO, .threads = 8}, 5, 1024, 5, 5},
    {{.connections = AUTO,
      .max_in_flight = AUTO,
      .threads = RECORDING_MAX_WORKERS},
     0,
     100000,
     RECORDING_MAX_WORKERS,
     PLAN_MAX_IN_FLIGHT},
    /* As many as there can be: 1024 files less those for everything else. */
    {{.connections = 952, .max_in_flight = AUTO, .threads = 1},
     0,
     1024,
     1,
     952},
};

static struct load_settings load_of(int64_t clients)
{
    return (struct load_settings){.scenario = clients > 0 ? SCENARIO_CLOSED
                                                          : SCENARIO_SERVER,
                                  .clients = clients,
                                  .rate_rps = clients > 0 ? 0 : 200000};
}

TEST(the_lowest_bound_holds)
{
    for (size_t i = 0; i < COUNT(bounds); i++) {
        struct load_settings load = load_of(bounds[i].clients);
        struct settings s = settings_of(&load, &bounds[i].client);
        struct machine machine = {.cores = 8, .files = bounds[i].files};
        struct err err = {0};

        assert_int_equal(plan_client(&s, machine, &err), 0);
        assert_int_equal(s.client.threads, bounds[i].want_threads);
        assert_int_equal(s.client.max_in_flight, bounds[i].want_in_flight);
    }
}

/* ---- what cannot be ---- */

static const struct {
    struct client_settings client;
    int64_t clients;
    enum err_code code;
    const char *want;
} refusals[] = {
    {{.connections = 953, .max_in_flight = AUTO, .threads = 1},
     0,
     ERR_IO,
     "953 connections need 1025 open files; the limit is 1024 (ulimit -Hn)"},
    {{.connections = AUTO, .max_in_flight = 2000, .threads = 2},
     0,
     ERR_IO,
     "2000 connections need 2080 open files; the limit is 1024 (ulimit -Hn)"},
    {{.connections = AUTO,
      .max_in_flight = AUTO,
      .threads = 1,
      .preconnect = 953},
     0,
     ERR_IO,
     "953 connections need 1025 open files; the limit is 1024 (ulimit -Hn)"},
    {{.connections = AUTO, .max_in_flight = AUTO, .threads = AUTO},
     5000,
     ERR_IO,
     "5000 connections need 5096 open files; the limit is 1024 (ulimit -Hn)"},
    {{.connections = 10, .max_in_flight = AUTO, .threads = 1, .preconnect = 11},
     0,
     ERR_CONFIG,
     "client.preconnect: 11 is above the limit of 10 connections"},
    {{.connections = AUTO, .max_in_flight = 9, .threads = 1, .preconnect = 10},
     0,
     ERR_CONFIG,
     "client.preconnect: 10 is above the limit of 9 connections"},
    {{.connections = AUTO,
      .max_in_flight = AUTO,
      .threads = 1,
      .preconnect = 6},
     5,
     ERR_CONFIG,
     "client.preconnect: 6 is above the limit of 5 connections"},
    {{.connections = AUTO, .max_in_flight = AUTO, .threads = 65},
     0,
     ERR_CONFIG,
     "client.threads: 65 is above the maximum of 64"},
};

TEST(what_cannot_be_is_refused)
{
    for (size_t i = 0; i < COUNT(refusals); i++) {
        struct load_settings load = load_of(refusals[i].clients);
        struct settings s = settings_of(&load, &refusals[i].client);
        struct err err = {0};

        assert_int_equal(
            plan_client(&s, (struct machine){.cores = 8, .files = 1024}, &err),
            -1);
        assert_int_equal(err.code, refusals[i].code);
        assert_string_equal(err.msg, refusals[i].want);
    }
}

/* A recording has at most 1024 workers. */
TEST(threads_of_many_shards_fit_into_one_recording)
{
    static const struct {
        const char *shard;
        int64_t threads;
        int64_t want; /* 0: refused */
    } cases[] = {
        {"0/100", AUTO, 10}, {"1023/1024", AUTO, 1}, {"0/256", AUTO, 4},
        {"3/512", AUTO, 2},  {"0/16", 64, 64},       {"0/17", 64, 0},
        {"1023/1024", 2, 0},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct load_settings load = load_of(10000000);
        struct settings s = settings_of(&load, &all_auto);
        struct err err = {0};
        int rc;

        s.client.shard = xstrdup(cases[i].shard);
        s.client.threads = cases[i].threads;
        rc = plan_client(&s, (struct machine){.cores = 200, .files = 100000},
                         &err);
        assert_int_equal(rc, cases[i].want > 0 ? 0 : -1);
        if (cases[i].want > 0)
            assert_int_equal(s.client.threads, cases[i].want);
        else
            assert_non_null(strstr(err.msg, "above the maximum of 1024"));
        free(s.client.shard);
    }
}

TEST(a_rate_that_nobody_sends_is_refused)
{
    struct load_settings load = {.scenario = SCENARIO_SERVER, .rate_rps = 2e6};
    struct settings s = settings_of(&load, &all_auto);
    struct err err = {0};

    assert_int_equal(
        plan_client(&s, (struct machine){.cores = 8, .files = 1024}, &err), 0);
    s.load.burst_on_ns = 1;
    s.load.burst_off_ns = 9;
    assert_int_equal(
        plan_client(&s, (struct machine){.cores = 8, .files = 1024}, &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
    assert_string_equal(err.msg, "load.rate: a rate of 2e+07/s is above the "
                                 "maximum of 1e+07/s");
}

TEST(each_thread_needs_a_connection)
{
    struct load_settings load = load_of(0);
    struct settings s = settings_of(&load, &all_auto);
    struct err err = {0};

    assert_int_equal(
        plan_client(&s, (struct machine){.cores = 8, .files = 99}, &err), -1);
    assert_string_equal(
        err.msg,
        "4 connections need 100 open files; the limit is 99 (ulimit -Hn)");
}

/* One query has one sender.  What is sent at once offline is as much as there
 * can be, and no less because files are short. */
static const struct {
    struct load_settings load;
    struct client_settings client;
    int64_t files;
    int64_t want_threads;
    int64_t want_in_flight;
} needs[] = {
    {{.scenario = SCENARIO_SINGLE_STREAM, .clients = 1},
     {.connections = 4, .threads = 3},
     1024,
     1,
     1},
    {{.scenario = SCENARIO_MULTI_STREAM, .clients = 1, .query_size = 8},
     {.connections = AUTO, .threads = 3},
     1024,
     1,
     8},
    {{.scenario = SCENARIO_MULTI_STREAM, .clients = 1, .query_size = 8},
     {.connections = 2, .threads = AUTO},
     1024,
     1,
     2},
    {{.scenario = SCENARIO_OFFLINE, .clients = 1, .requests = 100},
     {.connections = AUTO, .threads = AUTO},
     1024,
     1,
     100},
    {{.scenario = SCENARIO_OFFLINE, .clients = 1, .requests = 3},
     {.connections = AUTO, .threads = 8},
     1024,
     3,
     3},
    {{.scenario = SCENARIO_OFFLINE, .clients = 1, .requests = 24576},
     {.connections = AUTO, .threads = AUTO},
     1024,
     4,
     1024 - 64 - 4 * 8},
    {{.scenario = SCENARIO_OFFLINE, .clients = 1, .requests = 100000},
     {.connections = AUTO, .threads = AUTO},
     1000000,
     4,
     PLAN_MAX_IN_FLIGHT},
    {{.scenario = SCENARIO_OFFLINE, .clients = 1, .requests = 24576},
     {.connections = 64, .threads = AUTO},
     1024,
     4,
     64},
};

TEST(scenarios_have_what_they_need)
{
    for (size_t i = 0; i < COUNT(needs); i++) {
        struct settings s = settings_of(&needs[i].load, &needs[i].client);
        struct machine machine = {.cores = 8, .files = needs[i].files};
        struct err err = {0};

        s.client.max_in_flight = AUTO;
        assert_int_equal(plan_client(&s, machine, &err), 0);
        assert_int_equal(s.client.threads, needs[i].want_threads);
        assert_int_equal(s.client.max_in_flight, needs[i].want_in_flight);
    }
}

TEST(nobody_polls_where_there_is_one_core)
{
    assert_int_equal(plan_short_wait_ns((struct machine){.cores = 1}), 0);
    assert_in_range(plan_short_wait_ns((struct machine){.cores = 2}),
                    10 * NS_PER_US, 100 * NS_PER_US);
}

TEST(timestamps_of_all_where_they_are_few)
{
    const struct load_settings slow = {.scenario = SCENARIO_SERVER,
                                       .rate_rps = 2000};
    const struct load_settings fast = {.scenario = SCENARIO_SERVER,
                                       .rate_rps = 2001};
    const struct load_settings closed = {.scenario = SCENARIO_CLOSED};

    assert_true(plan_stamps_all(&slow));
    assert_false(plan_stamps_all(&fast));
    assert_false(plan_stamps_all(&closed));
}

/* There is a minimum for a machine whose memory is not known. */
TEST(answers_take_half_of_the_memory)
{
    static const struct {
        int64_t asked;
        int64_t machine;
        int64_t want;
    } cases[] = {
        {AUTO, (int64_t)8 << 30, (int64_t)4 << 30},
        {AUTO, 0, (int64_t)64 << 20},
        {1000, (int64_t)8 << 30, 1000},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct load_settings load = {.scenario = SCENARIO_SERVER,
                                           .rate_rps = 1};
        struct settings s = settings_of(&load, &all_auto);
        struct err err = {0};

        s.client.memory = cases[i].asked;
        assert_int_equal(
            plan_client(&s,
                        (struct machine){.cores = 2,
                                         .files = 1000,
                                         .memory = cases[i].machine},
                        &err),
            0);
        assert_int_equal(s.client.memory, cases[i].want);
    }
}

/* ---- shards ---- */

/* Limits are of all shards; threads are of this one. */
TEST(a_shard_has_its_share)
{
    static const struct {
        const char *shard;
        struct client_settings client;
        struct load_settings load;
        int64_t threads;
        int64_t max_in_flight; /* of all */
        const char *refused;
    } cases[] = {
        {"0/4",
         {.connections = AUTO, .max_in_flight = AUTO, .threads = AUTO},
         {.scenario = SCENARIO_SERVER, .rate_rps = 400000},
         2,
         INT64_C(4) * (1024 - 64 - 16),
         NULL},
        {"3/4",
         {.connections = 10, .max_in_flight = AUTO, .threads = 8},
         {.scenario = SCENARIO_SERVER, .rate_rps = 1},
         2,
         10,
         NULL},
        {"1/4", /* more than one machine could open */
         {.connections = AUTO, .max_in_flight = AUTO, .threads = 1},
         {.scenario = SCENARIO_CLOSED, .clients = 3000},
         1,
         3000,
         NULL},
        {"3/4",
         {.connections = 3, .max_in_flight = AUTO, .threads = 1},
         {.scenario = SCENARIO_SERVER, .rate_rps = 1},
         0,
         0,
         "client.shard: 3 connections or clients cannot be divided among the "
         "shards: shard 3/4 has none"},
        {"3/4",
         {.connections = AUTO, .max_in_flight = AUTO, .threads = 1},
         {.scenario = SCENARIO_OFFLINE, .requests = 2},
         0,
         0,
         "client.shard: 2 requests cannot be divided among the shards: shard "
         "3/4 has none"},
        {"0/2",
         {.connections = AUTO, .max_in_flight = AUTO, .threads = 1},
         {.scenario = SCENARIO_CLOSED,
          .clients = 4,
          .requests = 10,
          .cooldown_ns = 1},
         0,
         0,
         "load.cooldown: a closed loop that ends after a number of requests "
         "cannot be combined with client.shard; end it after a duration"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct settings s = settings_of(&cases[i].load, &cases[i].client);
        struct err err = {0};
        int rc;

        s.client.shard = xstrdup(cases[i].shard);
        rc = plan_client(&s, (struct machine){.cores = 8, .files = 1024}, &err);
        assert_int_equal(rc, cases[i].refused ? -1 : 0);
        if (cases[i].refused) {
            assert_string_equal(err.msg, cases[i].refused);
        } else {
            assert_int_equal(s.client.threads, cases[i].threads);
            assert_int_equal(s.client.max_in_flight, cases[i].max_in_flight);
            assert_string_equal(s.client.shard, cases[i].shard);
        }
        free(s.client.shard);
    }
}
