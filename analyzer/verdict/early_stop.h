/* early_stop.h - how many queries a claim about a quantile needs, as MLPerf's
 * LoadGen counts.  Pure.
 *
 * The claim: a share of at least p of all queries is within the limit.  Of
 * n = h + t independent queries h were within and t over it.  The claim holds
 * at 99 % confidence if that many within would be less than 1 % likely were the
 * share p just not reached.
 */
#ifndef ANALYZER_VERDICT_EARLY_STOP_H
#define ANALYZER_VERDICT_EARLY_STOP_H

#include <stdbool.h>
#include <stdint.h>

/* Does n with t over the limit prove it? */
bool early_stop_proves(double p, int64_t n, int64_t t);

/* The fewest within the limit that prove it beside t over it. */
int64_t early_stop_least_within(double p, int64_t t);

/* The most that may be over a limit which n queries still prove; -1: too few
 * queries to prove any. */
int64_t early_stop_most_over(double p, int64_t n);

/* The rank, from 1, of the value that n queries prove to bound quantile p from
 * above: the smallest limit that most_over() allows.  0: n is too small. */
int64_t early_stop_rank(double p, int64_t n);

#endif
