/* bend.h - where a curve leaves the ideal line, and a guess at what bends it.
 * Pure.
 *
 * Talking to each other grows with the workers: a smooth curve.  A straggler
 * comes and goes: runs at the same K scatter widely; or it stays, and then the
 * last answers of a fixed set come more slowly than from one healthy worker.
 * Uneven shares of the work cost at small K already, and repeats do not mend
 * it; the last answers come at the rate of a healthy worker.
 */
#ifndef ANALYZER_SCALING_BEND_H
#define ANALYZER_SCALING_BEND_H

#include <stddef.h>
#include <stdint.h>

struct scale_point;

#define BEND_VISIBLE 0.9  /* efficiency below which a curve is seen to bend */
#define BEND_WIDE    0.05 /* standard deviation of runs, as a share */
#define BEND_SMOOTH  0.05 /* root mean square about a law, likewise */

enum bend_cause {
    BEND_NONE, /* it does not */
    BEND_COMMUNICATION,
    BEND_STRAGGLER,
    BEND_IMBALANCE,
    BEND_UNCLEAR,
};

struct bend {
    int64_t k; /* the first that is visibly off; 0: none */
    enum bend_cause cause;
    char evidence[320];
};

/* Points by K, the baseline first, rated; the residual of the law that fits
 * best, NAN: none does. */
struct bend bend_find(const struct scale_point *points, size_t n,
                      double residual);

const char *bend_cause_name(enum bend_cause cause);

#endif
