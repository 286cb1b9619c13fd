/* A probe shard finds clients that queue, and only those.  In virtual time: an
 * M/M/1 server, and clients that need a fixed time for each answer, one answer
 * after the other. */
#include <math.h>

#include "analyzer/stats/probe_shard.h"
#include "common/base/clk.h"
#include "common/spec/shard_id.h"
#include "common/stats/hist.h"
#include "tests/support/mm1.h"
#include "tests/support/test.h"

#define SHARDS   4
#define REQUESTS 20000
#define RUNS     100

/* One run at 100/s.  A client needs client_s per answer; the probe shard is
 * further away from the server by probe_slower_s. */
static struct probe_shard simulate(uint64_t seed, int64_t every,
                                   double service_s, double client_s,
                                   double probe_slower_s)
{
    const struct shard_layout layout = {SHARDS, every};
    struct mm1 server = mm1_start(seed, 0.01, service_s);
    struct hist probe = {0};
    struct hist rest = {0};
    double free_at[SHARDS] = {0};
    struct probe_shard out;

    for (int64_t seq = 0; seq < REQUESTS; seq++) {
        int64_t shard = shard_of_seq(layout, seq);
        bool is_probe = shard_is_probe(layout, shard);
        double due;
        double took = mm1_next(&server, &due);
        double seen = fmax(due + took, free_at[shard]) + client_s;

        free_at[shard] = seen;
        took = seen - due + (is_probe ? probe_slower_s : 0);
        hist_add(is_probe ? &probe : &rest, (int64_t)(took * 1e9));
    }
    out = probe_shard_compare(&probe, &rest);
    hist_fini(&probe);
    hist_fini(&rest);
    return out;
}

TEST(clients_that_queue_are_found)
{
    static const struct {
        int64_t every;
        double service_s;
        double client_s; /* a loading client has 33 answers per second */
        int min_found;   /* of RUNS */
        int max_found;
    } cases[] = {
        {100, 0.007, 0, 0, 2},         /* clients without a cost */
        {100, 0.009, 0, 0, 2},         /* a server near its capacity */
        {20, 0.007, 0, 0, 2},          /* more requests of the probe */
        {100, 0.007, 0.001, 0, 2},     /* 3 % of a client's time */
        {100, 0.007, 0.024, 95, RUNS}, /* 80 % */
        {20, 0.007, 0.024, 95, RUNS},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        int found = 0;

        for (uint64_t run = 0; run < RUNS; run++) {
            struct probe_shard p =
                simulate(1 + run, cases[i].every, cases[i].service_s,
                         cases[i].client_s, 0);

            assert_true(p.is_known);
            found += p.excess > 0.1 && !p.is_probe_slower;
        }
        if (found < cases[i].min_found || found > cases[i].max_found)
            fail_msg("case %zu: found in %d of %d", i, found, RUNS);
    }
}

TEST(a_slow_probe_is_not_the_others_fault)
{
    struct probe_shard p = simulate(1, 100, 0.007, 0, 0.02);

    assert_true(p.is_known);
    assert_true(p.is_probe_slower);
    assert_true(p.excess > 0.1);
}

/* 2 ms of 16 ms are 12 %, and less than the floor of p90 and p99; 100 us are
 * less than that of p50, however significant they are. */
TEST(harmless_and_unknown_differences_do_not_count)
{
    struct hist probe = {0};
    struct hist rest = {0};

    for (int i = 0; i < 4000; i++) {
        hist_add(&probe, 500 * NS_PER_US);
        hist_add(&rest, 600 * NS_PER_US);
    }
    assert_true(probe_shard_compare(&probe, &rest).is_known);
    assert_true(probe_shard_compare(&probe, &rest).excess == 0);
    hist_reset(&probe);
    assert_false(probe_shard_compare(&probe, &rest).is_known);
    hist_fini(&probe);
    hist_fini(&rest);
}
