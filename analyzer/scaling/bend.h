/* bend.h - where a scaling curve leaves the ideal line, and the likely cause.
 * Pure.
 *
 * Communication grows with the number of workers and gives a smooth curve.  An
 * occasional straggler makes runs at the same K scatter widely.  With a
 * permanent straggler the last answers of a fixed set come more slowly than
 * from one healthy worker.  Unevenly shared work costs time even at small K, in
 * every repeat, and the last answers come at the rate of a healthy worker.
 */
#ifndef ANALYZER_SCALING_BEND_H
#define ANALYZER_SCALING_BEND_H

#include <stddef.h>
#include <stdint.h>

struct scale_point;

#define BEND_VISIBLE 0.9  /* efficiency below which a curve counts as bent */
#define BEND_WIDE    0.05 /* relative standard deviation of runs */
#define BEND_SMOOTH  0.05 /* relative root mean square around a law */

enum bend_cause {
    BEND_NONE, /* no bend */
    BEND_COMMUNICATION,
    BEND_STRAGGLER,
    BEND_IMBALANCE,
    BEND_UNCLEAR,
};

struct bend {
    int64_t k; /* the first K below BEND_VISIBLE; 0: none */
    enum bend_cause cause;
    char evidence[320];
};

/* Points sorted by K, the baseline first, with their efficiency; the residual
 * of the law that fits best, NAN: none. */
struct bend bend_find(const struct scale_point *points, size_t n,
                      double residual);

const char *bend_cause_name(enum bend_cause cause);

#endif
