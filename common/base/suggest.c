#include "common/base/suggest.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 32

/* Of the beginning of a longer word. */
#define SHORTEST 3

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters to put in, take out, replace, or swap with their neighbour, so that
 * the first nb bytes of b come out; words are short. */
static size_t distance(const char *a, const char *b, size_t nb)
{
    size_t rows[3][LONGEST + 1]; /* of the last three letters of a, in turns */

    if (strlen(a) > LONGEST || nb > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= strlen(a); i++) {
        const size_t *before = rows[(i + 1) % 3];
        const size_t *last = rows[(i - 1) % 3];
        size_t *row = rows[i % 3];

        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            row[j] = least(least(last[j], row[j - 1]) + 1,
                           last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[strlen(a) % 3][nb];
}

/* One slip in three letters, and one more in the rest. */
void suggest_consider(struct suggest *s, const char *candidate)
{
    size_t len = strlen(s->word);
    size_t d = distance(s->word, candidate, strlen(candidate));
    size_t near_enough = (len + 2) / 3;

    if (len >= SHORTEST && strlen(candidate) > len)
        d = least(d, distance(s->word, candidate, len) + 1);
    if (d > near_enough || (s->best && d >= s->distance))
        return;
    s->best = candidate;
    s->distance = d;
}

const char *suggest_text(const struct suggest *s, const char *prefix, char *out,
                         size_t size)
{
    out[0] = '\0';
    if (s->best)
        snprintf(out, size, "; did you mean '%s%s'?", prefix, s->best);
    return out;
}
