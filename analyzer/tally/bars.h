/* bars.h - a distribution in about a dozen rows, each as many times as long as
 * the one before, for the eye.  Pure.
 */
#ifndef ANALYZER_TALLY_BARS_H
#define ANALYZER_TALLY_BARS_H

#include <stddef.h>
#include <stdint.h>

#include "common/measure/measure.h"
#include "common/stats/hist.h"

#define BARS_MAX 12

/* from <= value < to, to the three digits of a histogram; the last one holds
 * the largest too. */
struct bar {
    int64_t from_ns;
    int64_t to_ns;
    int64_t count;
};

/* n of the distribution = those of the bars + failed + out_of_range. */
struct bars {
    enum measure measure;
    int64_t limit_ns; /* of the SLO, where two bars meet if it lies among them;
                         0: none */
    int64_t failed;
    int64_t out_of_range;
    struct bar list[BARS_MAX];
    size_t len; /* 0: there is no value */
};

void bars_make(const struct hist *h, enum measure m, int64_t limit_ns,
               struct bars *out);

#endif
