/* sectioning.h - an interval for a quantile from one run: sectioning.  Pure.
 *
 * Requests of a run depend on each other, so the window is cut into sections
 * in time that hardly do, and the quantiles of the sections are held against
 * that of the whole: S^2 = sum((q_b - q)^2) / (B - 1), and Student's interval
 * q +- t S / sqrt(B) with B - 1 degrees of freedom (Asmussen & Glynn).  The
 * quantile of a section is biased, the more the shorter it is; holding it
 * against that of the whole, not the mean of the sections, makes the bias part
 * of the width.
 *
 * Near saturation a section must be long for that to be honest, and for p99 of
 * a busy queue it seldom is (docs/statistics.md): trials first.
 */
#ifndef ANALYZER_STATS_SECTIONING_H
#define ANALYZER_STATS_SECTIONING_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/trial_stats.h"

#define SECTION_COUNT 20 /* what there should be */

enum section_verdict {
    SECTION_KNOWN,
    SECTION_TOO_FEW, /* n too small: a section cannot bound the quantile */
    SECTION_BEYOND   /* it falls among the failures, in all or in a section */
};

struct section_quantile {
    enum section_verdict verdict;
    struct uncertain quantile; /* has a range if the verdict is KNOWN */
};

/* Fewest values in all for `sections` sections: each must hold as many as bound
 * the quantile (stats_min_n); p99 of 20 sections 5,980. */
int64_t section_least_n(double q, size_t sections);

/* From what was made of the sections elsewhere: the quantile of each, and of
 * them all together.  least_in_one is the number of values in the smallest;
 * infinite quantiles are failures. */
struct section_quantile section_combine(const double *quantiles,
                                        size_t sections, double overall,
                                        double q, int64_t least_in_one,
                                        double confidence);

/* The same from the values, in the order of their due times, in sections of
 * as many values each, the last few going with the last; failures are INFINITY.
 * `scratch` holds n + sections; at least one value, at least two sections. */
struct section_quantile section_quantile(const double *x, size_t n, double q,
                                         size_t sections, double confidence,
                                         double *scratch);

#endif
