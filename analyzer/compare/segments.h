/* segments.h - a series of results cut where it changes, and whether its end is
 * worse than what was before.  Pure. */
#ifndef ANALYZER_COMPARE_SEGMENTS_H
#define ANALYZER_COMPARE_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>

/* Fewest results.  Of fewer no order can be as unlikely as SEGMENTS_LEVEL. */
#define SEGMENTS_LEAST 10
#define SEGMENTS_LEVEL 0.01
#define SEGMENTS_MAX   32

struct segment {
    size_t first; /* place in the series */
    size_t n;
    double median;
    double p; /* of the change at its beginning; 1 of the first */
};

struct segments {
    struct segment list[SEGMENTS_MAX];
    size_t len; /* 0: too few results */
};

/* Finite values in their order. */
void segments_find(struct segments *s, const double *x, size_t n);

/* What the last segment lost against the one before, as a share of its median:
 * above 0 it is worse.  0 if nothing changed. */
double segments_loss(const struct segments *s, bool more_is_better);

#endif
