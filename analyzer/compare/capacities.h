/* capacities.h - searches against each other: the largest loads within the
 * objective, as ratios to that of the first, if the searches differ in the one
 * declared condition.
 *
 * The interval of a ratio follows from those of the two, which are taken to be
 * independent and straight on a scale of logarithms.
 */
#ifndef ANALYZER_COMPARE_CAPACITIES_H
#define ANALYZER_COMPARE_CAPACITIES_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/compare/compare.h"
#include "analyzer/studies/variant_capacity.h"

struct buf;
struct err;

struct capacity_side {
    const char *dir; /* borrowed */
    struct strmap card;
    double usd_per_hour; /* of all replicas; 0: not known */
    struct capacity capacity;
    bool has_ratio; /* both are known with an interval */
    double ratio;   /* to the first */
    struct interval range;
    enum finding_verdict verdict;
};

struct capacities {
    struct capacity_side *sides;
    size_t n;
    char *vary; /* NULL: none */
    struct differences differences;
    double regression; /* a share; below 0: not asked */
    enum compare_answer answer;
};

/* Are all of them searches?  Else none is compared as one. */
bool capacities_are_at(const struct strlist *dirs);

/* Of ask all but what it is about.  ERR_CONFIG, ERR_IO, ERR_FORMAT.
 * capacities_fini() in any case. */
int capacities_make(struct capacities *c, const struct compare_ask *ask,
                    struct err *err);
void capacities_fini(struct capacities *c);

/* Pure: b's capacity by a's. */
void capacities_contrast(const struct capacity *a, struct capacity_side *b);

/* As compare_exit_code(). */
int capacities_exit_code(const struct capacities *c);

/* The caller owns it. */
struct doc *capacities_doc(const struct capacities *c);

#endif
