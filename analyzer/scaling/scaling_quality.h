/* scaling_quality.h - does a row hold the quality of the baseline?  By
 * non-inferiority: it must be shown not to be worse by more than the tolerance.
 * Pure.
 *
 * Of two shares with known numbers of answers the difference has Newcombe's
 * interval, from the Wilson intervals of both.  Where nobody says of how many
 * answers a quality is, there is no interval, and the values alone decide.
 */
#ifndef ANALYZER_SCALING_SCALING_QUALITY_H
#define ANALYZER_SCALING_SCALING_QUALITY_H

#include <stdbool.h>

#include "analyzer/stats/trial_stats.h"

enum quality_verdict {
    QUALITY_UNKNOWN,   /* nobody measured it, here or at the baseline */
    QUALITY_HELD,      /* no worse than the tolerance allows */
    QUALITY_DRIFTED,   /* worse than that */
    QUALITY_NOT_SHOWN, /* the interval holds the tolerance: too few answers */
};

struct quality_gate {
    enum quality_verdict verdict;
    struct uncertain drift; /* its quality less the baseline's */
    double needed;          /* answers of each that could show it, if the
                               drift is as it seems; NAN: no number can */
};

/* A share, and how many answers it is of; NAN: not known. */
struct quality_of {
    double share;
    double n;
};

struct quality_gate quality_judge(struct quality_of base, struct quality_of row,
                                  double tolerance);

/* It may be ranked: held, or never measured. */
bool quality_allows(const struct quality_gate *handoff);

#endif
