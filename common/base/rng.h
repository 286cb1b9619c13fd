/* rng.h - seeded streams of random numbers (splitmix64).
 *
 * Each purpose has its own stream, so that drawing more service times does not
 * change the arrivals.
 */
#ifndef COMMON_BASE_RNG_H
#define COMMON_BASE_RNG_H

#include <stdint.h>

/* Purpose of a stream.  Append only: the numbers determine what a seed means.
 */
enum rng_purpose {
    RNG_ARRIVAL = 1,
    RNG_SERVICE = 2,
    RNG_DEMAND = 3,
    RNG_ROUTER = 4,
    RNG_FAULT = 5,
    RNG_ACCEPT = 6,
    RNG_WINDOW = 7,
    RNG_EOS = 8,
    RNG_LENGTHS = 9,
    RNG_PROMPT = 10,
    RNG_SPREAD = 11,
    RNG_BLOCK = 12,
    RNG_THINK = 13,
    RNG_SELECT = 14,
    RNG_SUBSET = 15,
    RNG_PREFIX = 16,
    RNG_REUSE = 17,
    RNG_TAG = 18,
    RNG_DOCUMENTS = 19,
    RNG_CLASS = 20,
    RNG_TURNS = 21,
    RNG_PROBE = 25,
    RNG_TRIAL = 30,
    RNG_SWEEP = 31,
    RNG_COMPARE = 40,
};

struct rng {
    uint64_t state;
};

struct rng rng_stream(uint64_t seed, enum rng_purpose purpose);

/* An independent stream for each place; neighbouring places share nothing. */
struct rng rng_at(uint64_t seed, enum rng_purpose purpose, int64_t place);

uint64_t rng_next(struct rng *rng);

/* Uniform in (0, 1]: never 0, so that its logarithm is finite. */
double rng_uniform(struct rng *rng);

/* Exponential with mean 1. */
double rng_exponential(struct rng *rng);

/* Normal with mean 0 and variance 1; always uses two numbers of the stream. */
double rng_normal(struct rng *rng);

#endif
