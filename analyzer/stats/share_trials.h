/* share_trials.h - the share of misses over several trials, as one sample for
 * the tests of share_test.h.  Pure.
 *
 * Requests of one trial depend on each other, and trials may differ by more
 * than their requests explain, because each has its own launch of the server.
 * So the effective sample is the number of requests, divided by the mean
 * inflation of the trials and by the dispersion of their shares: the variance
 * between trials compared with what effective samples would show.
 *
 * The binomial tail that is tested then is one-sided, allows for the skew of
 * rare misses, and bounds the share even if no trial has a miss. docs/trials.md
 * has its error rates, and those of Student's bound, which it replaces.
 */
#ifndef ANALYZER_STATS_SHARE_TRIALS_H
#define ANALYZER_STATS_SHARE_TRIALS_H

#include <stddef.h>

#include "common/stats/share_test.h"
#include "common/stats/stats.h"

/* Trials without samples are ignored. */
struct share_sample share_trials(const struct share_sample *trials, size_t n);

/* One-sided bounds of the share at SHARE_LEVEL: the largest allowed share for
 * which a fail is shown, and the smallest for which a pass is. */
struct interval share_bounds(const struct share_sample *s);

#endif
