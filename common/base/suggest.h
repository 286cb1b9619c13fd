/* suggest.h - "did you mean": the known word nearest to a mistyped one. */
#ifndef COMMON_BASE_SUGGEST_H
#define COMMON_BASE_SUGGEST_H

#include <stddef.h>

/* Best candidate so far; start with {.word = the mistyped one}. */
struct suggest {
    const char *word;
    const char *best; /* borrowed; NULL: none is near enough */
    size_t distance;
};

void suggest_consider(struct suggest *s, const char *candidate);

/* "; did you mean 'rate'?" or "", written to out; `prefix` is put before the
 * word. */
const char *suggest_text(const struct suggest *s, const char *prefix, char *out,
                         size_t size);

#endif
