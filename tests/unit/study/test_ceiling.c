/* The search for the highest rate that passes, on a simulated client. */
#include <math.h>
#include <stdbool.h>

#include "common/base/rng.h"
#include "study/ceiling.h"
#include "tests/support/test.h"

#define MANY 100 /* probes: no search takes as many */

static const struct ceiling_plan plan = {
    .min_rps = 1000, .start_rps = 4000, .max_rps = 1e6, .bisections = 4};

/* Passes up to here; beyond the stub's limit it is the stub that fails. */
struct machine {
    double client_rps;
    double stub_rps;
    double noise; /* chance that a probe fails though it should pass */
    struct rng rng;
};

static enum ceiling_found probe(struct machine *m, double rps)
{
    if (rps > m->stub_rps && m->stub_rps < m->client_rps)
        return FOUND_STUB;
    if (rps > m->client_rps || rng_uniform(&m->rng) < m->noise)
        return FOUND_CLIENT;
    return FOUND_PASSED;
}

static int search(struct machine *m, struct ceiling *c)
{
    double rps;
    int n = 0;

    ceiling_init(c, &plan);
    while (ceiling_next(c, &rps)) {
        assert_true(rps >= plan.min_rps && rps <= plan.max_rps);
        assert_true(++n < MANY);
        ceiling_note(c, probe(m, rps));
    }
    return n;
}

TEST(it_is_found)
{
    static const double ceilings[] = {1000,  1500,  3999,   4000,
                                      50000, 64000, 123456, 900000};

    for (size_t i = 0; i < COUNT(ceilings); i++) {
        struct machine m = {.client_rps = ceilings[i], .stub_rps = INFINITY};
        struct ceiling c;
        int n = search(&m, &c);

        assert_true(c.low_rps <= ceilings[i]);
        assert_true(c.low_rps > ceilings[i] / 1.15);
        assert_int_equal(c.limit, LIMIT_CLIENT);
        assert_true(n <= 8 + 2 + 2 * 4);
    }
}

TEST(below_the_lowest_there_is_nothing)
{
    struct machine m = {.client_rps = 999, .stub_rps = INFINITY};
    struct ceiling c;

    assert_int_equal(search(&m, &c), 4); /* the start and the lowest, twice */
    assert_true(c.low_rps == 0);
    assert_int_equal(c.limit, LIMIT_CLIENT);
}

/* Whenever the time is over, what failed last has been noted. */
TEST(a_failure_counts_until_it_is_disproved)
{
    struct ceiling c;

    ceiling_init(&c, &plan);
    ceiling_note(&c, FOUND_PASSED);
    assert_int_equal(c.limit, LIMIT_SEARCH);
    ceiling_note(&c, FOUND_CLIENT);
    assert_int_equal(c.limit, LIMIT_CLIENT);
    ceiling_note(&c, FOUND_PASSED); /* the second time */
    assert_int_equal(c.limit, LIMIT_SEARCH);
    ceiling_note(&c, FOUND_STUB);
    ceiling_note(&c, FOUND_STUB);
    ceiling_note(&c, FOUND_CLIENT);
    assert_int_equal(c.limit, LIMIT_CLIENT);
    ceiling_note(&c, FOUND_PASSED);
    assert_int_equal(c.limit, LIMIT_STUB);
}

TEST(whether_the_lowest_was_tried)
{
    struct ceiling c;

    ceiling_init(&c, &plan);
    ceiling_note(&c, FOUND_CLIENT);
    ceiling_note(&c, FOUND_CLIENT);
    assert_false(c.is_min_tried);
    ceiling_note(&c, FOUND_CLIENT);
    assert_true(c.is_min_tried);
}

TEST(a_stub_that_gives_out_is_named)
{
    struct machine m = {.client_rps = 200000, .stub_rps = 70000};
    struct ceiling c;

    search(&m, &c);
    assert_true(c.low_rps > 60000 && c.low_rps <= 70000);
    assert_int_equal(c.limit, LIMIT_STUB);
}

TEST(more_than_anybody_asks_for_is_not_tried)
{
    struct machine m = {.client_rps = 1e9, .stub_rps = INFINITY};
    struct ceiling c;

    search(&m, &c);
    assert_true(c.low_rps == plan.max_rps);
    assert_int_equal(c.limit, LIMIT_SEARCH);
}

/* One probe in ten fails for no reason: that it is made again keeps the answer
 * near, and it is never too high. */
TEST(noise_is_borne)
{
    int near = 0;

    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct machine m = {
            .client_rps = 50000, .stub_rps = INFINITY, .noise = 0.1};
        struct ceiling c;

        m.rng = rng_stream(seed, RNG_ARRIVAL);
        search(&m, &c);
        assert_true(c.low_rps <= 50000);
        near += c.low_rps > 50000 / 1.15;
    }
    assert_true(near > 180);
}

/* A failure counts when it comes twice at the same rate. */
TEST(a_failure_is_looked_at_again)
{
    struct ceiling c;
    double rps;

    ceiling_init(&c, &plan);
    ceiling_note(&c, FOUND_CLIENT);
    assert_true(ceiling_next(&c, &rps) && rps == 4000);
    assert_true(c.high_rps == 0);
    ceiling_note(&c, FOUND_PASSED);
    assert_true(ceiling_next(&c, &rps) && rps == 8000);
    ceiling_note(&c, FOUND_CLIENT);
    ceiling_note(&c, FOUND_STUB); /* the second one says why */
    assert_true(c.high_rps == 8000);
    assert_int_equal(c.limit, LIMIT_STUB);
    assert_true(ceiling_next(&c, &rps) && rps == 5700);
}

/* A search that runs out of time knows what passed, and what failed if only
 * once. */
TEST(it_may_be_left_at_any_time)
{
    struct ceiling c;

    ceiling_init(&c, &plan);
    assert_true(c.low_rps == 0);
    ceiling_note(&c, FOUND_PASSED);
    ceiling_note(&c, FOUND_PASSED);
    ceiling_note(&c, FOUND_CLIENT);
    assert_true(c.low_rps == 8000);
    assert_int_equal(c.limit, LIMIT_CLIENT);
}

TEST(who_was_the_limit)
{
    static const struct {
        bool is_trusted;
        double client;
        double stub;
        bool want;
    } cases[] = {
        {true, 0.5, 0.99, false},  /* none failed */
        {false, 0.5, 0.99, true},  /* the stub had no more to give */
        {false, 0, 0.85, true},    /* the same */
        {false, 0.97, 0.9, false}, /* the client even less */
        {false, 0.3, 0.5, false},  /* something else: the client's */
        {false, 0.5, 0, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct probe_result r = {.is_trusted = cases[i].is_trusted,
                                 .client_share = cases[i].client,
                                 .stub_share = cases[i].stub};

        assert_int_equal(probe_is_stub_limited(&r), cases[i].want);
    }
}
