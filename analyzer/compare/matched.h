/* matched.h - may two recordings be compared?  Their conditions in, their
 * differences out.  Pure.
 *
 * What is in no rule must match: a setting that is added later is a condition
 * until somebody says that it is none.
 */
#ifndef ANALYZER_COMPARE_MATCHED_H
#define ANALYZER_COMPARE_MATCHED_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/str.h"

enum difference_kind {
    DIFFERENCE_NOTED, /* it is to differ, or does no harm */
    DIFFERENCE_WARNS, /* a part of what is seen may be due to it */
    DIFFERENCE_MUST,  /* not to be there */
};

struct difference {
    char *key; /* owned, like the two values */
    char *a;   /* "(none)" where a side does not have it */
    char *b;
    size_t side; /* that b is of */
    enum difference_kind kind;
    bool is_declared; /* the variable of the comparison */
    const char *why;  /* it matters */
};

struct differences {
    struct difference *list;
    size_t len;
    size_t must; /* that must match and are not declared */
};

/* The key of a card that `vary` means: itself, or conditions.<vary>.  NULL if
 * none of them has one; owned by the caller. */
char *matched_key(const struct strmap *const *cards, size_t n,
                  const char *vary);

/* What two cards are held against each other for. */
struct match {
    const char *vary;    /* the key that may differ; NULL: none */
    bool ignores_slo;    /* both are judged by another */
    bool is_must;        /* list only what must match */
    size_t side;         /* of the second card */
    const char *said[2]; /* keys of the two variants; filled in */
};

/* Add the differences of b from a that are not in the list yet. */
void matched_find(struct differences *d, const struct strmap *a,
                  const struct strmap *b, const struct match *match);

/* Why a key matters, and how a difference in it is taken. */
enum difference_kind matched_kind(const char *key, const char **why);

void differences_fini(struct differences *d);

#endif
