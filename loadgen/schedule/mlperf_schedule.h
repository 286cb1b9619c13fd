/* mlperf_schedule.h - the due times of MLPerf's LoadGen in its server scenario,
 * bit for bit as its builds on libstdc++ give them: std::mt19937 and
 * std::exponential_distribution, each gap cut to whole nanoseconds.
 *
 * The first is due at 0.  Of the seed only the low 32 bits count.
 */
#ifndef LOADGEN_SCHEDULE_MLPERF_SCHEDULE_H
#define LOADGEN_SCHEDULE_MLPERF_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#define MT19937_WORDS 624

/* The generator of random numbers that the standard of C++ names so. */
struct mt19937 {
    uint32_t words[MT19937_WORDS];
    size_t at;
};

struct mt19937 mt19937_seeded(uint64_t seed);
uint32_t mt19937_next(struct mt19937 *mt);

struct mlperf_schedule {
    struct mt19937 mt;
    double rate_rps;
    int64_t next_ns;
};

struct mlperf_schedule mlperf_schedule_make(uint64_t seed, double rate_rps);

/* When the next query is due. */
int64_t mlperf_schedule_next_ns(struct mlperf_schedule *s);

#endif
