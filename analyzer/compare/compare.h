/* compare.h - recordings against each other: may they be compared, do they
 * differ, and is the comparison fair?
 *
 * Its document (compare_doc.c) is made from this struct alone.
 */
#ifndef ANALYZER_COMPARE_COMPARE_H
#define ANALYZER_COMPARE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/compare/compare_rank.h"
#include "analyzer/compare/compare_side.h"
#include "analyzer/compare/fairness.h"
#include "analyzer/compare/finding.h"
#include "analyzer/compare/matched.h"
#include "analyzer/compare/quantity.h"
#include "common/spec/slo.h"

struct buf;
struct err;

#define COMPARE_MAX_SIDES 32
#define COMPARE_LEVEL     0.05 /* of all that is asked for together */

struct compare_ask {
    const struct strlist *dirs;
    const struct strlist *on;
    const char *vary;            /* NULL: nothing is declared */
    const struct strlist *slo;   /* instead of the recordings'; NULL: theirs */
    double regression;           /* a share; below 0: not asked */
    const struct cost_ask *cost; /* prices instead of theirs; may be NULL */
};

enum compare_answer {
    COMPARE_REFUSED, /* conditions differ */
    COMPARE_NO_DIFFERENCE,
    COMPARE_BETTER,
    COMPARE_WORSE,
    COMPARE_TOLERATED, /* worse, by no more than the threshold */
    COMPARE_CANNOT_TELL,
    COMPARE_RANKED,
};

/* The order of the sides by one quantity that was asked for. */
struct ranking {
    size_t quantity;
    struct placed *list;            /* a place a side; owned */
    enum finding_verdict *verdicts; /* [i * n + j]: of j against i; owned */
    size_t unknown;                 /* pairs that cannot be told */
};

struct comparison {
    struct quantities qs;
    struct slo slo;
    struct side *sides;
    size_t n;
    char *vary; /* key of the declared variable; NULL: none */
    bool vary_differs;
    enum basis basis; /* the weakest of all pairs */
    struct differences differences;
    double regression;

    /* Of two sides, one a quantity. */
    struct finding findings[QUANTITIES_MAX];
    enum regression regressions[QUANTITIES_MAX]; /* of those asked for */

    /* Of more: one a quantity that was asked for. */
    struct ranking *rankings;

    struct fairness fairness;
    bool is_compared; /* false: refused, or a recording may not be believed */
    enum compare_answer answer;
};

/* ERR_USAGE, ERR_CONFIG, ERR_IO, ERR_FORMAT. */
int compare_make(struct comparison *c, const struct compare_ask *ask,
                 struct err *err);
void compare_fini(struct comparison *c);

const char *compare_answer_name(enum compare_answer answer);

/* 0 better, no worse, or ranked; 1 worse; 4 refused, or it cannot be told. */
int compare_exit_code(const struct comparison *c);

/* The caller owns it. */
struct doc *compare_doc(const struct comparison *c);

#endif
