/* Permutations are made by swap-or-not (Hoang, Morris, Rogaway 2012), which
 * pairs up the n places in each round and swaps a pair or not: any n will do,
 * and a place is found without those of the others. */
#include "loadgen/payload/data_select.h"

#include "common/base/rng.h"
#include "common/settings/settings.h"

/* Six for each bit of n are enough to mix well; some more for the smallest. */
#define ROUNDS_A_BIT 6
#define ROUNDS_LEAST 16

static uint64_t workload(uint64_t a, uint64_t b)
{
    struct rng rng = {a};

    rng.state = rng_next(&rng) ^ b;
    return rng_next(&rng);
}

/* As good as uniform: n is far below 2^64. */
static uint64_t below(uint64_t bits, uint64_t n)
{
    return bits % n;
}

static int rounds_for(uint64_t n)
{
    return ROUNDS_LEAST + ROUNDS_A_BIT * (64 - __builtin_clzll(n));
}

int64_t select_permute(uint64_t key, int64_t n, int64_t x)
{
    struct rng keys = {key};
    uint64_t size = (uint64_t)n;
    uint64_t at = (uint64_t)x;

    for (int i = rounds_for(size); i > 0; i--) {
        uint64_t round = rng_next(&keys);
        uint64_t other = (below(round, size) + size - at) % size;
        uint64_t pair = at > other ? at : other;

        if (workload(round, pair) >> 63)
            at = other;
    }
    return (int64_t)at;
}

struct selection selection_of(int how, uint64_t seed, int64_t total,
                              int64_t limit)
{
    return (struct selection){.how = how,
                              .seed = seed,
                              .total = total,
                              .n = limit > 0 && limit < total ? limit : total};
}

/* Of those that are used. */
static int64_t choose(const struct selection *s, int64_t seq)
{
    uint64_t key = rng_stream(s->seed, RNG_SELECT).state;

    switch (s->how) {
    case SELECT_ORDER:
        return seq % s->n;
    case SELECT_REPLACEMENT:
        return (int64_t)below(workload(key, (uint64_t)seq), (uint64_t)s->n);
    default:
        return select_permute(workload(key, (uint64_t)(seq / s->n)), s->n,
                              seq % s->n);
    }
}

int64_t selection_at(const struct selection *s, int64_t seq)
{
    int64_t at = choose(s, seq);

    if (s->how == SELECT_ORDER || s->n == s->total)
        return at;
    return select_permute(rng_stream(s->seed, RNG_SUBSET).state, s->total, at);
}
