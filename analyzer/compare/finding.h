/* finding.h - one quantity of two sides: how far they are apart, and what that
 * shows.  Pure.
 *
 * Over trials the interval is the bootstrap's for the contrast of the medians
 * (stats/boot.h).  Of one recording a side it is made of blocks in time
 * (stats/section.h), around the values of the whole windows: weaker, since all
 * that is the same within a launch does not show in it.
 */
#ifndef ANALYZER_COMPARE_FINDING_H
#define ANALYZER_COMPARE_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/trials.h"

/* What repeats. */
enum basis {
    BASIS_TRIALS,
    BASIS_BLOCKS, /* one launch a side */
    BASIS_NONE,   /* trials on one side, and a single run on the other */
};

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

/* One side. */
struct sample {
    double whole; /* of all of it, as a report prints it; of trials their
                     median */
    bool has_whole;
    const double *units;  /* one a trial, or one a block */
    size_t n;             /* of these */
    bool has_all;         /* every unit has a value that n can bound */
    int64_t least_in_one; /* requests in the smallest block */
};

struct finding_rule {
    enum basis basis;
    bool more_is_better;
    double quantile; /* 0: it is none */
    double confidence;
};

struct finding {
    double a; /* medians of the trials, or of the whole windows; may be
                 INFINITY: among the failures */
    double b;
    bool is_measured; /* on both sides, if perhaps too seldom */
    bool has_a;
    bool has_b;
    struct uncertain difference; /* b - a; all 0 without a range */
    struct uncertain ratio;      /* b / a; likewise */
    double confidence;
    double visible; /* the smallest difference that could have been seen, as a
                       share of a; below 0: not known */
    enum finding_verdict verdict;
    const char *why; /* it cannot be told; else NULL */
};

const char *finding_verdict_name(enum finding_verdict verdict);

struct finding finding_make(const struct finding_rule *rule,
                            const struct sample *a, const struct sample *b);

/* Is b worse than a by more than this share? */
enum regression { REGRESSION_NO, REGRESSION_YES, REGRESSION_UNKNOWN };

enum regression finding_regression(const struct finding *f, bool more_is_better,
                                   double threshold);

#endif
