/* sectioning.h - an interval for a quantile from one run by sectioning.  Pure.
 *
 * Requests of a run depend on each other, so the window is cut into sections of
 * time that hardly do.  Their quantiles q_b are compared with that of the
 * whole: S^2 = sum((q_b - q)^2) / (B - 1), and Student's interval is q +- t S /
 * sqrt(B) with B - 1 degrees of freedom (Asmussen & Glynn).  The quantile of a
 * section is biased, the more the shorter it is; comparing it with that of the
 * whole, not with the mean of the sections, makes the bias part of the width.
 *
 * Near saturation sections must be long for the interval to be honest, and for
 * p99 of a busy queue they seldom are (docs/statistics-verdict.md): prefer
 * trials.
 */
#ifndef ANALYZER_STATS_SECTIONING_H
#define ANALYZER_STATS_SECTIONING_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/trial_stats.h"

#define SECTION_COUNT 20 /* recommended */

enum section_verdict {
    SECTION_KNOWN,
    SECTION_TOO_FEW, /* a section has too few values to bound the quantile */
    SECTION_BEYOND   /* the quantile is among failures, in all or a section */
};

struct section_quantile {
    enum section_verdict verdict;
    struct uncertain quantile; /* has a range if the verdict is KNOWN */
};

/* From the quantile of each section and of all values together.  min_in_one is
 * the number of values in the smallest section, which must bound the quantile
 * (stats_min_n): 299 for p99, or 5,980 in 20 sections.  Infinite quantiles
 * are failures. */
struct section_quantile section_combine(const double *quantiles,
                                        size_t sections, double overall,
                                        double q, int64_t min_in_one,
                                        double confidence);

/* The same from values in order of due time, in sections of equal numbers of
 * values; the last section includes the remainder.  Failures are INFINITY.
 * `scratch` holds n + sections; at least one value and two sections. */
struct section_quantile section_quantile(const double *x, size_t n, double q,
                                         size_t sections, double confidence,
                                         double *scratch);

#endif
