/* mser.h - where the warm-up of a series ends: MSER-5 (White 1997).  Pure.
 *
 * The series is cut into batches of five.  Dropping the first d of k batches
 * leaves a mean whose squared standard error, were they independent, is
 * proportional to sum((y - mean)^2) / (k - d)^2; the d for which that is least
 * drops what is unlike the rest, and no more than that.
 *
 * Of the last batches a few that happen to be alike would always win, so at
 * least five must be left.  A minimum in the second half means that the series
 * has not settled, or not for long enough to tell.
 */
#ifndef ANALYZER_STATS_MSER_H
#define ANALYZER_STATS_MSER_H

#include <stdbool.h>
#include <stddef.h>

#define MSER_BATCH   5
#define MSER_LEAST_N 50 /* fewer values say nothing */

struct mser {
    bool is_found; /* false: in the second half, or fewer than MSER_LEAST_N */
    size_t drop;   /* values at the beginning; at most half of them if found */
};

/* What is left over after the last whole batch is not looked at. */
struct mser mser_truncate(const double *x, size_t n);

#endif
