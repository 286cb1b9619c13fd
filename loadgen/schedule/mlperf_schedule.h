/* mlperf_schedule.h - the due times of MLPerf LoadGen's server scenario,
 * identical bit for bit to LoadGen built with libstdc++: std::mt19937 and
 * std::exponential_distribution, each gap truncated to whole nanoseconds.
 *
 * The first query is due at 0.  Only the low 32 bits of the seed are used.
 */
#ifndef LOADGEN_SCHEDULE_MLPERF_SCHEDULE_H
#define LOADGEN_SCHEDULE_MLPERF_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#define MT19937_WORDS 624

/* std::mt19937 of the C++ standard library. */
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

/* The due time of the next query. */
int64_t mlperf_schedule_next_ns(struct mlperf_schedule *s);

#endif
