/* matched.h - may two recordings be compared?  Takes the conditions of both,
 * returns their differences.  Pure.
 *
 * Keys without a rule must match: a setting that is added later counts as a
 * condition until a rule says otherwise.
 */
#ifndef ANALYZER_COMPARE_MATCHED_H
#define ANALYZER_COMPARE_MATCHED_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/str.h"

struct err;

enum difference_kind {
    DIFFERENCE_NOTED, /* expected, or harmless */
    DIFFERENCE_WARNS, /* it may explain a part of the result */
    DIFFERENCE_MUST,  /* the condition must match */
};

struct difference {
    char *key; /* owned, like the two values */
    char *a;   /* "(none)" if a side does not have the key */
    char *b;
    size_t side; /* index of b's side */
    enum difference_kind kind;
    bool is_declared; /* the varied condition */
    const char *why;  /* why it matters */
};

struct differences {
    struct difference *list;
    size_t len;
    size_t must; /* number that must match and are not declared */
};

/* The key that `vary` means: itself, or conditions.<vary>.  NULL if no side has
 * it; owned by the caller. */
char *matched_key(const struct strmap *const *sides, size_t n,
                  const char *vary);

/* "no recording has a condition ...": ERR_USAGE, for a key that is NULL. */
int matched_refuse(const struct strmap *const *sides, size_t n,
                   const char *vary, struct err *err);

struct match {
    const char *vary;            /* the key that may differ; NULL: none */
    bool ignores_slo;            /* both are judged by another SLO */
    bool is_must;                /* list only what must match */
    size_t side;                 /* index of the second side */
    const char *variant_keys[2]; /* set by matched_find(): keys that the two
                                    variants set */
};

/* Add the differences of b from a that are not in the list yet. */
void matched_find(struct differences *d, const struct strmap *a,
                  const struct strmap *b, const struct match *match);

/* How a difference in `key` is treated, and why it matters. */
enum difference_kind matched_kind(const char *key, const char **why);

void differences_fini(struct differences *d);

#endif
