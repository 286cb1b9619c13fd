/* compare.h - a comparison of recordings: may they be compared, do they differ,
 * and is the comparison fair?
 *
 * Its document (compare_doc.c) is made from this struct alone.
 */
#ifndef ANALYZER_COMPARE_COMPARE_H
#define ANALYZER_COMPARE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/compare/compare_side.h"
#include "analyzer/compare/fairness.h"
#include "analyzer/compare/finding.h"
#include "analyzer/compare/matched.h"
#include "analyzer/compare/quantity.h"
#include "analyzer/verdict/conclusion.h"
#include "common/spec/slo.h"

struct buf;
struct err;

#define COMPARE_MAX_SIDES 32
#define COMPARE_LEVEL     0.05 /* for all requested quantities together */

struct compare_ask {
    const struct strlist *dirs;
    const struct strlist *on;
    const char *vary;            /* NULL: nothing is declared */
    const struct strlist *slo;   /* NULL: those of the recordings */
    double regression;           /* threshold, a share; below 0: none */
    const struct cost_ask *cost; /* NULL: prices of the recordings */
};

enum compare_answer {
    COMPARE_REFUSED, /* conditions differ */
    COMPARE_NO_DIFFERENCE,
    COMPARE_BETTER,
    COMPARE_WORSE,
    COMPARE_TOLERATED, /* worse, but within the threshold */
    COMPARE_CANNOT_TELL,
    COMPARE_RANKED,
};

/* Position of a side in a ranking. */
struct placed {
    size_t side;
    double value;
    bool has_value; /* sides without a value come last and have no rank */
    size_t rank;    /* from 1; 0: none */
};

/* The sides ordered by one requested quantity, the best first.  Sides that are
 * not shown to be worse than the best of their group share its rank. */
struct ranking {
    size_t quantity;
    struct placed *list;            /* one per side; owned */
    enum finding_verdict *verdicts; /* [i * n + j]: j against i; owned */
    size_t unknown;                 /* number of undecided pairs */
};

struct comparison {
    struct quantities qs;
    struct slo slo;
    struct side *sides;
    size_t n;
    char *vary; /* key of the declared condition; NULL: none */
    bool vary_differs;
    enum basis basis; /* the weakest of all pairs */
    struct differences differences;
    double regression;

    /* Two sides: one finding per quantity. */
    struct finding findings[QUANTITIES_MAX];
    enum regression regressions[QUANTITIES_MAX]; /* for requested quantities */

    /* More than two sides: one ranking per requested quantity. */
    struct ranking *rankings;

    struct fairness fairness;
    bool is_compared; /* false: refused, or a recording cannot be trusted */
    enum compare_answer answer;
};

/* ERR_USAGE, ERR_CONFIG, ERR_IO, ERR_FORMAT. */
int compare_make(struct comparison *c, const struct compare_ask *ask,
                 struct err *err);
void compare_fini(struct comparison *c);

const char *compare_answer_name(enum compare_answer answer);

/* Yes if better, no worse, or ranked; no if worse; open if refused or
 * inconclusive. */
enum conclusion compare_conclusion(enum compare_answer answer);

/* The caller owns it. */
struct doc *compare_doc(const struct comparison *c);

/* Short forms, for doc_set_brief(). */
struct brief;
struct doc_node;
void compare_brief(struct brief *b, const struct doc_node *root);
void capacities_brief(struct brief *b, const struct doc_node *root);
void history_brief(struct brief *b, const struct doc_node *root);

#define CLAIM_MAX 16384

/* What a comparison of two sides shows, in one sentence with its conditions.
 * Appends nothing if no quantity was shown to be better or worse. */
void claim_make(const struct comparison *c, struct buf *out);

/* Sort by value, best first, sides without a value last; stable. */
void rank_sort(struct placed *list, size_t n, bool more_is_better);

/* Assign ranks; verdicts[i * n + j] is side j against side i. */
void rank_group(struct placed *list, size_t n,
                const enum finding_verdict *verdicts);

#endif
