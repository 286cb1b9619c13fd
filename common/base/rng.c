#include "common/base/rng.h"

#include <math.h>

#define GOLDEN_GAMMA 0x9e3779b97f4a7c15U

static uint64_t scramble(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

/* Scrambled twice, so that neighbouring seeds and purposes start far apart in
 * the one cycle that all streams share. */
struct rng rng_stream(uint64_t seed, enum rng_purpose purpose)
{
    uint64_t start = scramble(seed + GOLDEN_GAMMA);

    return (struct rng){.state =
                            scramble(start ^ (uint64_t)purpose * GOLDEN_GAMMA)};
}

uint64_t rng_next(struct rng *rng)
{
    return scramble(rng->state += GOLDEN_GAMMA);
}

struct rng rng_at(uint64_t seed, enum rng_purpose purpose, int64_t place)
{
    struct rng rng = rng_stream(seed, purpose);

    rng.state += (uint64_t)place;
    rng.state = rng_next(&rng);
    return rng;
}

double rng_uniform(struct rng *rng)
{
    return (double)((rng_next(rng) >> 11) + 1) * 0x1p-53;
}

double rng_exponential(struct rng *rng)
{
    return -log(rng_uniform(rng));
}

/* Box-Muller; the second of the pair is not used. */
double rng_normal(struct rng *rng)
{
    double radius = sqrt(2 * rng_exponential(rng));

    return radius * cos(2 * M_PI * rng_uniform(rng));
}
