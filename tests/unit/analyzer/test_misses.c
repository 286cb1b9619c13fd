/* Why requests are not good: by hand, and against counting one by one. */

#include "analyzer/tally/tally.h"
#include "common/base/clk.h"
#include "common/base/rng.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"

#define N 2000

static const struct window window = {.end_ns = N * NS_PER_MS};

static int below(struct rng *rng, int n)
{
    return (int)(rng_next(rng) % (unsigned)n);
}

/* Streams with a first token, a pace and a check that may each be bad. */
static struct facts draw(struct rng *rng, int64_t seq)
{
    struct facts f = row_ok(seq, seq, 10 + below(rng, 40));

    if (below(rng, 10) == 0)
        return row_failed(seq, seq, 5, OUTCOME_RESET);
    if (below(rng, 20) == 0)
        return row_unsent(seq, seq);
    f.first = f.due + (5 + below(rng, 30)) * NS_PER_MS;
    f.last = f.end = f.first + (10 + below(rng, 50)) * NS_PER_MS;
    f.events = 11;
    f.event_tokens = 11;
    f.first_tokens = 1;
    f.is_split = 1;
    f.check = below(rng, 4) == 0 ? CHECK_FAILED : CHECK_PASSED;
    return f;
}

/* Straight from the facts: a bit for each limit that is missed. */
static unsigned missed(const struct facts *f)
{
    return (f->last - f->due >= 60 * NS_PER_MS ? 1U : 0) |
           (f->first - f->due >= 20 * NS_PER_MS ? 2U : 0) |
           ((f->last - f->first) / 10 >= 4 * NS_PER_MS ? 4U : 0) |
           (f->check == CHECK_FAILED ? 8U : 0);
}

TEST(they_add_up_and_are_those_of_counting)
{
    static const int limits[] = {MEASURE_E2E, MEASURE_TTFT, MEASURE_TPOT,
                                 GOOD_CHECK};
    struct slo slo = slo_of("e2e p90 < 60ms,ttft p99 < 20ms,tpot:4,check: "
                            "required,e2e p50 < 1ms");
    int64_t want[16] = {0};
    int64_t failed = 0;
    struct rng rng = rng_stream(7, RNG_ARRIVAL);
    struct tally t;

    tally_init(&t, window, &slo);
    for (int64_t i = 0; i < N; i++) {
        struct facts f = draw(&rng, i);

        tally_add(&t, &f);
        if (f.outcome == OUTCOME_OK)
            want[missed(&f)]++;
        else
            failed++;
    }
    assert_int_equal(misses_limits(&t.misses), 4);
    assert_int_equal(t.good, want[0]);
    assert_int_equal(t.misses.failed, failed);
    assert_int_equal(t.misses.not_good, N - t.good);
    for (unsigned k = 0; k < 4; k++) {
        int64_t all = 0;

        for (unsigned set = 0; set < 16; set++)
            all += set & (1U << k) ? want[set] : 0;
        assert_int_equal(t.misses.by[limits[k]].missed, all);
        assert_int_equal(t.misses.by[limits[k]].only, want[1U << k]);
        failed += want[1U << k];
    }
    assert_int_equal(t.misses.several, t.misses.not_good - failed);
    tally_fini(&t);
}

/* A request that is lost is not good either. */
TEST(what_is_lost_failed)
{
    struct slo slo = slo_of("e2e p50 < 10ms");
    struct tally t;
    struct facts slow = row_ok(0, 0, 50);

    tally_init(&t, window, &slo);
    tally_add(&t, &slow);
    tally_add_unknown(&t, 3);
    assert_int_equal(t.misses.not_good, 4);
    assert_int_equal(t.misses.failed, 3);
    assert_int_equal(t.misses.by[MEASURE_E2E].only, 1);
    assert_int_equal(t.misses.several, 0);
    assert_int_equal(t.due, t.good + t.misses.not_good);
    tally_fini(&t);
}
