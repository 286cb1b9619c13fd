/* whatif.h - the tightest limit that a run would have kept.  Pure. */
#ifndef ANALYZER_VERDICT_WHATIF_H
#define ANALYZER_VERDICT_WHATIF_H

#include <stdint.h>

struct slo_term;
struct term_tally;

/* The lowest limit, to three digits, at which judge_counts() passes the term:
 * at the edge below that, and at every lower one, it does not.  HIST_BEYOND:
 * there is none. */
int64_t whatif_tightest_ns(const struct term_tally *tt,
                           const struct slo_term *term);

#endif
