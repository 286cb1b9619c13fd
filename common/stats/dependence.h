/* dependence.h - how much the requests of a run depend on each other.  Pure.
 *
 * Requests that are due shortly after each other find the same queue.  The mean
 * of n values therefore varies more than that of n independent ones: by the
 * inflation, which is the rate times twice the relaxation time of the process.
 * It is estimated from the sums of time bins and their autocorrelation, so it
 * holds whether bins are short or long compared with the relaxation time.
 *
 * Values may arrive in any order.  Memory does not depend on their number.
 */
#ifndef COMMON_STATS_DEPENDENCE_H
#define COMMON_STATS_DEPENDENCE_H

#include <stddef.h>
#include <stdint.h>

#define DEPENDENCE_BINS 2048

struct dependence_bin {
    int64_t n;
    double sum;
    double squares;
};

/* All zero is empty; memory is allocated with the first value. */
struct dependence {
    struct dependence_bin *bins; /* owned; DEPENDENCE_BINS */
};

void dependence_fini(struct dependence *d);

/* Add `count` requests of one value; `place` is their due time as a share of
 * the window, at least 0 and below 1. */
void dependence_add(struct dependence *d, double place, double value,
                    int64_t count);

/* The inflation over the first `part` of the window (1: all of it); at least 1,
 * and at most the number of values.  Estimates from few relaxation times are
 * too low, so they are corrected upwards. */
double dependence_inflation(const struct dependence *d, double part);

#endif
