#include "common/suggest.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 32

/* Of the beginning of a longer word. */
#define SHORTEST 3

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;

    return m < c ? m : c;
}

/* Levenshtein distance to the first nb bytes of b, by one row; words are short.
 */
static size_t distance(const char *a, const char *b, size_t nb)
{
    size_t row[LONGEST + 1];

    if (strlen(a) > LONGEST || nb > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < nb; j++) {
            size_t up = row[j + 1];

            row[j + 1] = min3(up + 1, row[j] + 1, diagonal + (a[i] != b[j]));
            diagonal = up;
        }
    }
    return row[nb];
}

void suggest_consider(struct suggest *s, const char *candidate)
{
    size_t len = strlen(s->word);
    size_t d = distance(s->word, candidate, strlen(candidate));
    size_t near_enough = len / 3 + 1;

    if (len >= SHORTEST && strlen(candidate) > len) {
        size_t begun = distance(s->word, candidate, len) + 1;

        d = begun < d ? begun : d;
    }
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
