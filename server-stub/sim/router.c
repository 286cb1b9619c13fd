#include "server-stub/sim/router.h"

#include <string.h>

#include "common/base/rng.h"

static size_t pick_next(const int64_t *outstanding, size_t n, uint64_t routed,
                        struct rng *rng)
{
    (void)outstanding;
    (void)rng;
    return routed % n;
}

static size_t pick_any(const int64_t *outstanding, size_t n, uint64_t routed,
                       struct rng *rng)
{
    (void)outstanding;
    (void)routed;
    return rng_next(rng) % n;
}

/* Ties are broken in turn, or the first replica would get all of a light load.
 */
static size_t pick_least(const int64_t *outstanding, size_t n, uint64_t routed,
                         struct rng *rng)
{
    size_t best = routed % n;

    (void)rng;
    for (size_t i = 1; i < n; i++) {
        size_t at = (routed + i) % n;

        if (outstanding[at] < outstanding[best])
            best = at;
    }
    return best;
}

static size_t pick_of_two(const int64_t *outstanding, size_t n, uint64_t routed,
                          struct rng *rng)
{
    size_t a = pick_any(outstanding, n, routed, rng);
    size_t b = n > 1 ? (a + 1 + rng_next(rng) % (n - 1)) % n : a;

    return outstanding[b] < outstanding[a] ? b : a;
}

static const struct router_ops routers[] = {
    {"round-robin", "in turn", pick_next},
    {"random", "any replica", pick_any},
    {"least-outstanding", "the replica with the fewest requests", pick_least},
    {"two-choices", "the better of two random replicas", pick_of_two},
};

const struct router_ops *router_find(const char *name)
{
    for (size_t i = 0; i < sizeof(routers) / sizeof(routers[0]); i++) {
        if (strcmp(routers[i].name, name) == 0)
            return &routers[i];
    }
    return NULL;
}
