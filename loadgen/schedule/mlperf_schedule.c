#include "loadgen/schedule/mlperf_schedule.h"

#include <math.h>

/* ---- the generator ---- */

#define SHIFT 397

struct mt19937 mt19937_seeded(uint64_t seed)
{
    struct mt19937 mt = {.words = {(uint32_t)seed}, .at = MT19937_WORDS};

    for (uint32_t i = 1; i < MT19937_WORDS; i++) {
        uint32_t last = mt.words[i - 1];

        mt.words[i] = 1812433253U * (last ^ last >> 30) + i;
    }
    return mt;
}

static void refill(struct mt19937 *mt)
{
    for (size_t i = 0; i < MT19937_WORDS; i++) {
        uint32_t low = mt->words[(i + 1) % MT19937_WORDS];
        uint32_t mixed = (mt->words[i] & 0x80000000U) | (low & 0x7fffffffU);

        mt->words[i] = mt->words[(i + SHIFT) % MT19937_WORDS] ^ mixed >> 1 ^
                       (mixed & 1 ? 0x9908b0dfU : 0);
    }
    mt->at = 0;
}

uint32_t mt19937_next(struct mt19937 *mt)
{
    uint32_t word;

    if (mt->at == MT19937_WORDS)
        refill(mt);
    word = mt->words[mt->at++];
    word ^= word >> 11;
    word ^= word << 7 & 0x9d2c5680U;
    word ^= word << 15 & 0xefc60000U;
    return word ^ word >> 18;
}

/* ---- the schedule ---- */

struct mlperf_schedule mlperf_schedule_make(uint64_t seed, double rate_rps)
{
    return (struct mlperf_schedule){.mt = mt19937_seeded(seed),
                                    .rate_rps = rate_rps};
}

/* std::generate_canonical draws the low half first. */
int64_t mlperf_schedule_next_ns(struct mlperf_schedule *s)
{
    int64_t due_ns = s->next_ns;
    double low = mt19937_next(&s->mt);
    double both = low + mt19937_next(&s->mt) * 0x1p32;
    double uniform = both < 0x1p64 ? both / 0x1p64 : nextafter(1, 0);

    s->next_ns += (int64_t)(-log(1 - uniform) / s->rate_rps * 1e9);
    return due_ns;
}
