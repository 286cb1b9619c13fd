/* autocorr.h - how long a series remembers, and how many independent values it
 * is worth.  Pure.
 *
 * The integrated autocorrelation time is 1/2 plus the sum of the correlations
 * at all lags; the mean of n values scatters like that of n / (2 tau)
 * independent ones.  The sum is cut where a pair of neighbouring lags is no
 * longer positive (Geyer 1992, initial positive sequence): beyond, there is
 * noise alone.
 *
 * From a series that is not a hundred times as long as tau, the estimate is too
 * low; it says nothing of a series with a trend.
 */
#ifndef COMMON_STATS_AUTOCORR_H
#define COMMON_STATS_AUTOCORR_H

#include <stddef.h>

/* In steps of the series; 0.5: independent, constant, or too short to tell;
 * never less.  Takes n steps for each lag up to the cut. */
double autocorr_time(const double *x, size_t n);

/* Independent values that the n are worth: n / (2 tau), at most n. */
double autocorr_effective(const double *x, size_t n);

#endif
