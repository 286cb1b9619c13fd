/* difference.h - how far two samples of one quantity are apart, with an
 * interval. Pure.
 *
 * Over trials it is Welch's interval, or Student's on the contrasts of pairs
 * where two sets took turns.  Of one recording a side it is made of blocks in
 * time (stats/section.h), around the values of the whole windows: weaker, since
 * all that is the same within a launch does not show in it.  A share that is 0
 * or 1 in every unit does not scatter, and is bounded by what it is of.
 */
#ifndef ANALYZER_COMPARE_DIFFERENCE_H
#define ANALYZER_COMPARE_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/trial_stats.h"

/* What repeats, the best first. */
enum basis {
    BASIS_PAIRS,  /* trials that took turns */
    BASIS_TRIALS, /* each side by itself */
    BASIS_BLOCKS, /* one launch a side */
    BASIS_NONE,   /* trials on one side, and a single run on the other */
};

/* One side. */
struct sample {
    double whole; /* of all of it, as a report prints it; of trials their
                     median */
    bool has_whole;
    const double *units;  /* one a trial, or one a block */
    size_t n;             /* of these */
    bool has_all;         /* every unit has a value that n can bound */
    int64_t counted;      /* what a share is of, in all units together */
    int64_t least_in_one; /* requests in the smallest block */
    double beyond;        /* of a percentile over blocks: how many independent
                             requests those beyond it are worth; 0: not known */
};

struct finding_rule {
    enum basis basis;
    bool more_is_better;
    bool is_share;
    double quantile; /* 0: it is none */
    double confidence;
};

static inline bool basis_is_trials(enum basis basis)
{
    return basis == BASIS_TRIALS || basis == BASIS_PAIRS;
}

/* By how much a side's interval over blocks is widened, at least 1.  Sectioning
 * takes each block for a sample of its own, of which there is one only where at
 * least one independent request of each lies beyond the percentile; where the
 * blocks hold fewer by a factor of k, so many of them make one, and the error
 * is sqrt(k) times what their scatter says.  (docs/statistics.md has
 * the false alarms with and without it.) */
double difference_widening(const struct finding_rule *rule,
                           const struct sample *s);

/* b against a.  Without range where the values have none, or where a section
 * cannot bound its percentile. */
struct uncertain difference_contrast(enum contrast contrast,
                                     const struct finding_rule *rule,
                                     const struct sample *a,
                                     const struct sample *b);

#endif
