/* finding.h - one quantity of two sides: how far they are apart, and what that
 * shows.  Pure.
 *
 * What they are apart by, with its interval, is in apart.h.  The verdict goes
 * by the ratio where there is one, since times scatter by shares of themselves
 * and the false alarms of that interval are known (docs/statistics.md).
 */
#ifndef ANALYZER_COMPARE_FINDING_H
#define ANALYZER_COMPARE_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/compare/difference.h"

/* Fewest trials a side for an interval. */
#define FINDING_TRIALS 5

/* Of a histogram's quantiles: values closer than this are one. */
#define FINDING_RESOLUTION 0.001

enum finding_verdict {
    FINDING_NO_DIFFERENCE, /* shown */
    FINDING_BETTER,
    FINDING_WORSE,
    FINDING_CANNOT_TELL,
};

struct finding {
    double a; /* medians of the trials, or of the whole windows; may be
                 INFINITY: among the failures */
    double b;
    bool is_measured; /* on both sides, if perhaps too seldom */
    bool has_a;
    bool has_b;
    bool a_is_none; /* 0 in every trial or block */
    bool b_is_none;
    struct uncertain difference; /* of trials that of their means, b - a; all 0
                                    without a range */
    struct uncertain ratio;      /* of trials that of their geometric means,
                                    b / a; likewise */
    double confidence;
    double widened; /* how many times, the interval over blocks, at least 1 */
    double visible; /* the smallest difference that could have been seen, as a
                       share of a; below 0: not known */
    enum finding_verdict verdict;
    const char *why; /* it cannot be told; else NULL */
};

const char *finding_verdict_name(enum finding_verdict verdict);

struct finding finding_make(const struct finding_rule *rule,
                            const struct sample *a, const struct sample *b);

/* Is b worse than a by more than this share of a?  Where a has none of it, any
 * that b is shown to have is more; where neither has, it is not worse if what
 * there may be unseen is at most the threshold of all requests. */
enum regression { REGRESSION_NO, REGRESSION_YES, REGRESSION_UNKNOWN };

enum regression finding_regression(const struct finding *f, bool more_is_better,
                                   double threshold);

#endif
