/* change_points.h - where a series of results changes: E-divisive (Matteson &
 * James 2013), a common method for benchmark histories.  Pure, except for the
 * caller's random numbers.
 *
 * The energy distance of two samples is twice the mean distance between them
 * minus the mean distances within each; it is 0 only if their distributions are
 * equal, not just their means.  The cut with the largest energy is a change
 * point if permutations of the values within the segments found so far seldom
 * have one as large.  Then both sides are searched in the same way.
 *
 * Values must be independent: one per run, not one per request.
 */
#ifndef ANALYZER_STATS_CHANGE_POINTS_H
#define ANALYZER_STATS_CHANGE_POINTS_H

#include <stddef.h>

struct rng;

struct changes {
    double level;        /* of significance, above 1 / (permutations + 1) */
    size_t permutations; /* per test: 199 for a level of 0.01, 1999 for 0.001 */
    size_t min_len;      /* values in a segment, at least 2 */
    struct rng *rng;     /* the same stream gives the same answer */
};

struct change {
    size_t at; /* the first value after the change */
    double p;  /* of its test */
};

/* The change points in order, at most `max`; returns how many.  Takes at most
 * (max + 1) x permutations x n^2 steps: about 25 ms for 300 values and 199
 * permutations.  `scratch` holds n. */
size_t changes_find(const struct changes *c, const double *x, size_t n,
                    struct change *found, size_t max, double *scratch);

#endif
