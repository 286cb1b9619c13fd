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

struct block_contrast block_contrast(const double *differences,
                                     const double *noise, size_t n)
{
    struct block_contrast c = {.error = NAN, .rounds = n};
    double count = (double)n;
    double squares = 0;

    for (size_t i = 0; i < n; i++) {
        c.mean += differences[i] / count;
        c.noise += noise ? noise[i] : 0;
    }
    for (size_t i = 0; i < n; i++)
        squares += (differences[i] - c.mean) * (differences[i] - c.mean);
    if (n > 1)
        c.error = sqrt(squares / (count - 1) / count);
    c.noise = n > 0 ? sqrt(c.noise) / count : 0;
    return c;
}

double block_p_value(const struct block_contrast *c)
{
    double size = fabs(c->mean);

    if (c->rounds < 2 || !(size > 0))
        return 1;
    return 2 * fmax(c->error > 0 ? student_upper_tail(size / c->error,
                                                      (double)c->rounds - 1)
                                 : 0,
                    c->noise > 0 ? normal_upper_tail(size / c->noise) : 0);
}

/* Noise is known, not estimated from few rounds. */
double block_half_width(const struct block_contrast *c, size_t pairs,
                        double confidence)
{
    double each = 1 - (1 - confidence) / (double)pairs;

    if (c->rounds < 2)
        return INFINITY;
    return fmax(student_reach(each, (double)c->rounds - 1) * c->error,
                normal_quantile((1 + each) / 2) * c->noise);
}

void holm_correct(const double *p_values, size_t n, double confidence,
                  size_t *corrected)
{
    size_t left = n; /* tests that have shown nothing so far */

    for (size_t i = 0; i < n; i++)
        corrected[i] = 0;
    while (left > 0) {
        size_t next = n;

        for (size_t i = 0; i < n; i++) {
            if (corrected[i] == 0 &&
                (next == n || p_values[i] < p_values[next]))
                next = i;
        }
        if (p_values[next] > (1 - confidence) / (double)left)
            break;
        corrected[next] = left--;
    }
    for (size_t i = 0; i < n; i++)
        corrected[i] = corrected[i] ? corrected[i] : left;
}

static bool would_show(const struct block_contrast *c, size_t rounds,
                       size_t pairs, double confidence)
{
    double shrinks = sqrt((double)c->rounds / (double)rounds);
    const struct block_contrast then = {c->mean, c->error * shrinks,
                                        c->noise * shrinks, rounds};

    return block_half_width(&then, pairs, confidence) +
               student_quantile(POWER, (double)rounds - 1) * then.error <=
           fabs(c->mean);
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
