/* change_points.h - where a series of results changes: E-divisive (Matteson &
 * James 2013), as histories of benchmarks are looked at.  Pure but for the
 * random numbers, which are the caller's.
 *
 * The energy distance of two samples is twice the mean distance between them
 * less the mean distances within each; it is 0 only if they are alike in every
 * respect, not in the mean alone.  The cut that makes it greatest is a change
 * point if reordering the values within the segments found so far seldom makes
 * one as great.  Then both sides are searched in the same way.
 *
 * Values are taken for independent: one of each run, not of each request.
 */
#ifndef ANALYZER_STATS_CHANGE_POINTS_H
#define ANALYZER_STATS_CHANGE_POINTS_H

#include <stddef.h>

struct rng;

struct changes {
    double level;        /* of significance, above 1 / (permutations + 1) */
    size_t permutations; /* of a test: 199 for a level of 0.01, 1999 of 0.001 */
    size_t least;        /* values of a segment, at least 2 */
    struct rng *rng;     /* the same stream gives the same answer */
};

struct change {
    size_t at; /* the first value that is different */
    double p;  /* of its test */
};

/* The change points in their order, at most `max`; returns how many.  Takes
 * at most (max + 1) x permutations x n^2 steps; 300 values and 199 permutations
 * some 25 ms. `scratch` holds n. */
size_t changes_find(const struct changes *c, const double *x, size_t n,
                    struct change *found, size_t max, double *scratch);

#endif
