/* compare_rank.h - more than two sides in an order.  Pure.
 *
 * Sides stand by their values, the best first.  One that is shown to be worse
 * than the best of its group opens the next group; those that cannot be told
 * from that best share its rank.
 */
#ifndef ANALYZER_COMPARE_COMPARE_RANK_H
#define ANALYZER_COMPARE_COMPARE_RANK_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/compare/finding.h"

struct placed {
    size_t side;
    double value;
    bool has_value; /* the rest stand at the end, without a rank */
    size_t rank;    /* from 1; 0: none */
};

/* Sort by value, best first, those without one last; sides of the same value
 * keep their order. */
void rank_sort(struct placed *list, size_t n, bool more_is_better);

/* `verdicts[i * n + j]` is of side j against side i. */
void rank_group(struct placed *list, size_t n,
                const enum finding_verdict *verdicts);

#endif
