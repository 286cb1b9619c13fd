#include <math.h>

#include "common/base/rng.h"
#include "server-stub/sim/router.h"
#include "tests/support/test.h"

#define N     4
#define DRAWS 1000000

static const char *const names[] = {"round-robin", "random",
                                    "least-outstanding", "two-choices"};

static size_t pick(const char *name, const int64_t *outstanding,
                   uint64_t routed, struct rng *rng)
{
    const struct router_ops *router = router_find(name);

    assert_non_null(router);
    return router->pick(outstanding, N, routed, rng);
}

/* Picks of DRAWS are binomial: five standard deviations. */
static void assert_share(int64_t picks, double p)
{
    double within = 5 * sqrt(DRAWS * p * (1 - p));

    if (!(fabs((double)picks - DRAWS * p) <= within))
        fail_msg("%lld picks, not %g", (long long)picks, DRAWS * p);
}

TEST(routers_are_found_by_name)
{
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct router_ops *router = router_find(names[i]);

        assert_non_null(router);
        assert_string_equal(router->name, names[i]);
        assert_non_null(router->help);
        assert_non_null(router->pick);
    }
    assert_null(router_find("Random"));
    assert_null(router_find("rand"));
    assert_null(router_find(""));
}

TEST(one_replica_gets_everything)
{
    struct rng rng = rng_stream(1, RNG_ROUTER);
    const int64_t outstanding[] = {7};

    for (size_t i = 0; i < COUNT(names); i++) {
        for (uint64_t routed = 0; routed < 10; routed++)
            assert_int_equal(
                router_find(names[i])->pick(outstanding, 1, routed, &rng), 0);
    }
}

TEST(round_robin_goes_in_turn)
{
    static const int64_t outstanding[N] = {9, 0, 3, 1};

    for (uint64_t i = 0; i < 20; i++)
        assert_int_equal(pick("round-robin", outstanding, i, NULL), i % N);
}

TEST(random_is_even_and_blind)
{
    static const int64_t outstanding[N] = {1000, 0, 0, 0};
    struct rng rng = rng_stream(1, RNG_ROUTER);
    int64_t picks[N] = {0};

    for (uint64_t i = 0; i < DRAWS; i++)
        picks[pick("random", outstanding, i, &rng)]++;
    for (size_t i = 0; i < N; i++)
        assert_share(picks[i], 1.0 / N);
}

TEST(least_outstanding_is_the_least)
{
    static const struct {
        int64_t outstanding[N];
        size_t want[N]; /* for one more routed each time */
    } cases[] = {
        {{3, 1, 2, 4}, {1, 1, 1, 1}}, {{3, 4, 2, 0}, {3, 3, 3, 3}},
        {{0, 0, 0, 0}, {0, 1, 2, 3}}, {{5, 2, 2, 5}, {1, 1, 2, 1}},
        {{0, 1, 0, 1}, {0, 2, 2, 0}},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t k = 0; k < N; k++)
            assert_int_equal(
                pick("least-outstanding", cases[i].outstanding, k, NULL),
                cases[i].want[k]);
    }
}

/* Of two different ones out of four, the best of all is in half of the pairs,
 * the second the better in a third, the third in a sixth, the worst never. */
TEST(two_choices_take_the_better)
{
    static const int64_t outstanding[N] = {2, 9, 1, 5};
    static const double shares[N] = {1.0 / 3, 0, 1.0 / 2, 1.0 / 6};
    static const int64_t equal[N] = {2, 2, 2, 2};
    struct rng rng = rng_stream(2, RNG_ROUTER);
    int64_t picks[N] = {0};
    int64_t among_equals[N] = {0};

    for (uint64_t i = 0; i < DRAWS; i++) {
        picks[pick("two-choices", outstanding, i, &rng)]++;
        among_equals[pick("two-choices", equal, i, &rng)]++;
    }
    for (size_t i = 0; i < N; i++) {
        assert_share(picks[i], shares[i]);
        assert_share(among_equals[i], 1.0 / N);
    }
}
