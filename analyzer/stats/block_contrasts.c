#include "analyzer/stats/block_contrasts.h"

#include <math.h>
#include <stdbool.h>

#include "common/stats/stats.h"

#define POWER 0.8

size_t block_pairs(size_t n)
{
    return n > 1 ? n * (n - 1) / 2 : 0;
}

size_t block_pair(size_t n, size_t a, size_t b)
{
    return a * (2 * n - a - 1) / 2 + (b - a - 1);
}

struct block_contrast block_contrast(const struct blocks *b, size_t i, size_t j)
{
    const double *x = b->x + i * b->rounds;
    const double *y = b->x + j * b->rounds;
    struct block_contrast c = {0};
    double squares = 0;
    double noise = 0;
    double n;

    for (size_t r = 0; r < b->rounds; r++) {
        double off = y[r] - x[r] - c.mean;

        if (isnan(off))
            continue;
        c.rounds++;
        c.mean += off / (double)c.rounds;
        squares += off * (y[r] - x[r] - c.mean);
        if (b->noise)
            noise += b->noise[i * b->rounds + r] + b->noise[j * b->rounds + r];
    }
    n = (double)c.rounds;
    c.error = c.rounds > 1 ? sqrt(fmax(squares / (n - 1), noise / n) / n) : NAN;
    return c;
}

double block_reach(size_t rounds, size_t pairs, double confidence)
{
    return rounds > 1 ? student_reach(1 - (1 - confidence) / (double)pairs,
                                      (double)rounds - 1)
                      : INFINITY;
}

static bool would_show(const struct block_contrast *c, size_t rounds,
                       size_t pairs, double confidence)
{
    double error = c->error * sqrt((double)c->rounds / (double)rounds);
    double reach = block_reach(rounds, pairs, confidence) +
                   student_quantile(POWER, (double)rounds - 1);

    return reach * error <= fabs(c->mean);
}

size_t block_rounds_needed(const struct block_contrast *c, size_t pairs,
                           double confidence)
{
    size_t low = c->rounds; /* does not show it */
    size_t high = BLOCK_MAX_ROUNDS;

    if (c->rounds < 2 || low >= high || !(fabs(c->mean) > 0) ||
        !would_show(c, high, pairs, confidence))
        return 0;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (would_show(c, middle, pairs, confidence))
            high = middle;
        else
            low = middle;
    }
    return high;
}
