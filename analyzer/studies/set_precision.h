/* set_precision.h - how precise a quantile is over several trials, where the
 * rest of its scatter comes from, and which trials would be precise enough.
 * Pure.
 *
 * The variance of a trial's quantile has two parts.  The part within launches
 * comes from the requests of the trial and falls with its length.  The part
 * between launches does not: only more trials help.
 */
#ifndef ANALYZER_STUDIES_SET_PRECISION_H
#define ANALYZER_STUDIES_SET_PRECISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fewer trials are not judged: the width of an interval from three trials is
 * itself a matter of chance. */
#define SET_PRECISION_TRIALS 5

struct set_precision_ask {
    double share;         /* wanted, to either side */
    const double *values; /* the quantile of each trial; INFINITY: among the
                             failures; NAN: n too small */
    const double
        *within; /* its standard error within the trial; NAN: unknown */
    size_t n;
    double length_s;   /* of a trial's window */
    double overhead_s; /* of a trial in addition: pause, start, warm-up */
};

struct set_precision {
    const char *why; /* there is no interval; else NULL, and: */
    double value;    /* mean of the trials */
    double half;     /* of Student's 95 % interval, as a share of the mean */
    bool is_reached;

    /* Standard deviations of one trial, as shares of the mean. */
    bool is_split;
    double within;
    double between;

    /* The trials that would be precise enough in the shortest time; longer ones
     * only if it is known what length does.  0: no number would be; trials:
     * STUDY_MAX_TRIALS stands for that many or more. */
    int64_t trials;
    double length_s;
};

struct set_precision set_precision(const struct set_precision_ask *ask);

#endif
