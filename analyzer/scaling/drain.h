/* drain.h - how a fixed set of requests comes to its end.  Pure.
 *
 * All of it is due at the start.  While every replica has work, answers come at
 * an even rate; the tenth to the fiftieth part of a hundred show it.  Were the
 * work spread evenly, the rest would come at that rate too.  What it takes
 * longer than that, some replicas stand idle, and the rate of the last part is
 * that of those that still work: that of one healthy replica where the work was
 * spread unevenly, and less where one is slow.
 */
#ifndef ANALYZER_SCALING_DRAIN_H
#define ANALYZER_SCALING_DRAIN_H

#include <stddef.h>
#include <stdint.h>

#define DRAIN_LAST  0.05 /* share of the answers that are the last part */
#define DRAIN_LEAST 40   /* answers; fewer say nothing */

/* Over the runs of a point; means of runs that can be read so. */
struct drain {
    int64_t runs;    /* 0: nothing is known */
    double bulk_rps; /* while all have work */
    double uneven;   /* share of the time lost to an uneven end */
    double last_rps; /* of the last part */
};

/* Of one run: the times of its answers after the start, ascending; the run
 * ends with the last of them. */
struct drain drain_of(const double *ends_s, size_t n);

/* One more run of a point. */
void drain_add(struct drain *all, const struct drain *run);

#endif
