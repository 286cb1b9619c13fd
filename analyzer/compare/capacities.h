/* capacities.h - a comparison of searches: the largest loads within the SLO, as
 * ratios to the first, if the searches differ only in the declared condition.
 *
 * The interval of a ratio follows from the intervals of both capacities, which
 * are assumed independent and symmetric on a logarithmic scale.
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
    const char *dir;          /* borrowed */
    struct strmap conditions; /* of its first probe */
    double usd_per_hour;      /* of all replicas; 0: unknown */
    struct capacity capacity;
    bool has_ratio; /* both capacities have an interval */
    double ratio;   /* to the first */
    struct interval range;
    enum finding_verdict verdict;
};

struct capacities {
    struct capacity_side *sides;
    size_t n;
    char *vary; /* NULL: none */
    struct differences differences;
    double regression; /* threshold, a share; below 0: none */
    enum compare_answer answer;
};

/* Are all of them searches? */
bool capacities_are_at(const struct strlist *dirs);

/* ask->on is ignored.  ERR_CONFIG, ERR_IO, ERR_FORMAT.  capacities_fini() in
 * any case. */
int capacities_make(struct capacities *c, const struct compare_ask *ask,
                    struct err *err);
void capacities_fini(struct capacities *c);

/* Sets ratio, range and verdict of b against a.  Pure. */
void capacities_contrast(const struct capacity *a, struct capacity_side *b);

/* The caller owns it. */
struct doc *capacities_doc(const struct capacities *c);

#endif
