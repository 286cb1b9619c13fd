/* finding.h - one quantity of two sides: the difference with its confidence
 * interval, and the verdict that follows from it.  Pure.
 *
 * Over trials the interval is Welch's, or Student's on the differences of pairs
 * if the two sets took turns.  For one recording per side it is built from
 * slices of the windows in time (stats/sectioning.h), around the values of the
 * whole windows.  That is weaker: effects that are constant within a launch do
 * not show.  A share that is 0 or 1 in every unit does not scatter; its bound
 * follows from the number of requests.
 *
 * The verdict uses the ratio if there is one, because times scatter in
 * proportion to their size and the false alarm rate of that interval is known
 * (docs/statistics-compare.md).
 */
#ifndef ANALYZER_COMPARE_FINDING_H
#define ANALYZER_COMPARE_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/trial_stats.h"

/* Minimum number of trials per side for an interval. */
#define FINDING_TRIALS 5

/* Resolution of a histogram: quantiles closer than this share are equal. */
#define FINDING_RESOLUTION 0.001

/* What is repeated; the strongest basis first. */
enum basis {
    BASIS_PAIRS,  /* trials that took turns */
    BASIS_TRIALS, /* independent trials on each side */
    BASIS_SLICES, /* one launch per side, its window cut into slices */
    BASIS_NONE,   /* trials on one side, a single run on the other */
};

/* The values of one side. */
struct sample {
    double whole; /* as a report prints it: of the whole window, or the median
                     of the trials */
    bool has_whole;
    const double *units;  /* one per trial or per slice */
    size_t n;             /* number of units */
    bool has_all;         /* every unit has a value that its n can bound */
    int64_t counted;      /* requests behind a share, in all units together */
    int64_t min_in_slice; /* requests in the smallest slice */
    double beyond;        /* for a percentile over slices: the number of
                             independent requests beyond it; 0: unknown */
};

struct finding_rule {
    enum basis basis;
    bool more_is_better;
    bool is_share;
    double quantile; /* 0: the quantity is not a quantile */
    double confidence;
};

enum finding_verdict {
    FINDING_NO_DIFFERENCE, /* no difference shown */
    FINDING_BETTER,
    FINDING_WORSE,
    FINDING_CANNOT_TELL,
};

struct finding {
    double a; /* medians of the trials, or values of the whole windows;
                 INFINITY: the percentile falls among the failures */
    double b;
    bool is_measured; /* on both sides, even if n is too small */
    bool has_a;
    bool has_b;
    bool a_is_zero; /* 0 in every trial or slice */
    bool b_is_zero;
    struct uncertain difference; /* b - a, of the means over trials; all 0
                                    without a range */
    struct uncertain ratio;      /* b / a, of the geometric means over trials;
                                    all 0 without a range */
    double confidence;
    double widened; /* factor by which the interval over slices was widened;
                       at least 1 */
    double visible; /* smallest difference that could have been detected, as a
                       share of a; below 0: unknown */
    enum finding_verdict verdict;
    const char *why; /* reason for FINDING_CANNOT_TELL, else NULL */
};

static inline bool basis_is_trials(enum basis basis)
{
    return basis == BASIS_TRIALS || basis == BASIS_PAIRS;
}

const char *finding_verdict_name(enum finding_verdict verdict);

struct finding finding_make(const struct finding_rule *rule,
                            const struct sample *a, const struct sample *b);

/* Is b worse than a by more than `threshold`, a share of a?  If a is zero, any
 * shown increase counts as more.  If both are zero, b is not worse if the upper
 * bound of what may have gone unseen is at most the threshold. */
enum regression { REGRESSION_NO, REGRESSION_YES, REGRESSION_UNKNOWN };

enum regression finding_regression(const struct finding *f, bool more_is_better,
                                   double threshold);

#endif
