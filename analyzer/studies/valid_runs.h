/* valid_runs.h - the one rule for runs that cannot be trusted, in trials,
 * comparisons, baselines, scaling, variants and sweeps.
 *
 * Such a run is discarded: it stays on disk and is listed with its reason, but
 * none of its numbers is used.  A study makes it again, up to a maximum.  What
 * consists of several runs is valid if enough valid ones remain.  The reasons
 * concern the client and the recording, never the latencies, so leaving such
 * runs out does not choose the result.  docs/trials.md
 */
#ifndef ANALYZER_STUDIES_VALID_RUNS_H
#define ANALYZER_STUDIES_VALID_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct summary;

#define RUN_OBSTACLE 160

/* Is a run discarded?  It is if a trust check failed, if it was killed or
 * interrupted, or if its recording is damaged or empty.  `why` says it; "": it
 * is not. */
bool run_is_discarded(const struct summary *s, char why[static RUN_OBSTACLE]);

/* Why no measurement of a run may be used; "": it may.  Other than the above,
 * an aborted run: it ended because of its result, so a set that has one cannot
 * just leave it out.  Neither the SLO nor the load is considered. */
void run_obstacle(const struct summary *s, char why[static RUN_OBSTACLE]);

/* How many of the runs that were asked for must be valid: half of them, and at
 * least two if there are several. */
size_t valid_runs_needed(size_t asked);

/* How many discarded runs are made again: `given`, or if that is OPT_AUTO as
 * many as were asked for, at least two.  On a busy machine every second run may
 * fail a check (bench/regression). */
size_t valid_runs_repeats(int64_t given, size_t asked);

#endif
