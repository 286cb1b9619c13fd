/* precision.h - how precise a quantile of one run is: has it reached what
 * study.until asks for, so that the run may end?  Pure: requests in, an
 * interval out, the same during a run and from its recording.
 *
 * The interval is that of sectioning (stats/sectioning.h).  If the requests
 * beyond the quantile come in few clusters, it is widened as in a comparison
 * (docs/compare.md).
 */
#ifndef ANALYZER_VERDICT_PRECISION_H
#define ANALYZER_VERDICT_PRECISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/measure/measure.h"
#include "common/spec/until.h"

struct precision_value {
    int64_t due_ns;
    double ns; /* INFINITY: failed */
};

struct precision {
    struct until ask;
    int64_t start_ns; /* of the window */
    int64_t end_ns;
    struct precision_value *values; /* of the window, in any order; owned */
    size_t n;
    size_t cap;
    int64_t longest_ns; /* of all requests */
    size_t next_check;  /* when there are as many values */
};

/* What is known of the quantile. */
struct precision_found {
    bool is_asked;   /* else nothing is set */
    bool is_known;   /* there is an interval */
    const char *why; /* there is none; else NULL */
    double value_ns;
    double half;     /* of the 95 % interval, as a share of the value */
    bool is_reached; /* it is as narrow as asked */
    double wanted;   /* by then, as a share */
    double within;   /* standard error, in ns */
};

/* The window is that of the run; INT64_MAX: not known yet.  precision_fini() in
 * any case. */
void precision_init(struct precision *p, const struct until *ask,
                    int64_t start_ns, int64_t end_ns);
void precision_fini(struct precision *p);

/* The values of this many requests are kept, in the order in which they were
 * added; the interval is that of those. */
#define PRECISION_MAX ((size_t)1 << 23)

/* A request that has ended, in any order. */
void precision_add(struct precision *p, const struct facts *f);

/* Is the interval narrow enough?  Every request that ended before followed_ns
 * has been added.  Checked each time that there are a fifth more requests than
 * at the last check; the last ones, in whose time others are still in flight,
 * are not used. */
bool precision_is_reached(struct precision *p, int64_t followed_ns);

/* Of all requests so far. */
struct precision_found precision_find(const struct precision *p);

#endif
