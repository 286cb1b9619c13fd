/* misses.h - why requests were not good: how many missed each limit, that one
 * alone, or several.  Pure. */
#ifndef ANALYZER_TALLY_MISSES_H
#define ANALYZER_TALLY_MISSES_H

#include <stdint.h>

#include "common/measure/good.h"
#include "common/measure/measure.h"

struct limit_misses {
    int64_t limit_ns; /* 0: nobody has one; of several classes the tightest */
    int64_t missed;
    int64_t only; /* of those, missed no other */
};

/* not_good = failed + several + the sum of `only`. */
struct misses {
    int64_t not_good;
    int64_t failed;  /* not ok, for whatever reason; or never sent */
    int64_t several; /* ok, and missed two limits or more */
    struct limit_misses by[GOOD_LIMITS];
};

/* A request that is not good, by these limits. */
void misses_add(struct misses *m, const int64_t limit_ns[static GOOD_LIMITS],
                const struct facts *f);

/* So many that did not end, as far as anybody knows. */
void misses_add_failed(struct misses *m, int64_t count);

/* How many limits there are. */
int misses_limits(const struct misses *m);

/* "ttft", or "check". */
const char *misses_name(int limit);

#endif
