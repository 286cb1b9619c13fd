/* search_plan.h - how the search continues: finding a bracket, narrowing it
 * down, confirming the estimate, and when to stop.  Pure. */
#ifndef ANALYZER_SEARCH_SEARCH_PLAN_H
#define ANALYZER_SEARCH_SEARCH_PLAN_H

#include "analyzer/search/search.h"
#include "analyzer/search/search_evidence.h"
#include "analyzer/search/search_step.h"

/* An interval with a larger half-width than this is not an answer. */
#define PLAN_WORST_REACH 0.10

void plan_make(const struct search *s, const struct evidence *e,
               struct step *out);

/* Do too many probes contradict each other? */
bool plan_is_contradictory(const struct evidence *e);

/* Were too many probes discarded? */
bool plan_is_noisy(const struct evidence *e);

/* Estimated remaining time, including this step; 0: unknown. */
int64_t plan_left_ns(const struct search *s, const struct evidence *e,
                     const struct step *plan);

/* Does the server miss the SLO even with almost no load? */
bool bracket_is_never(const struct search *s, const struct evidence *e);

/* Is it known from which load on the client is the limit? */
bool bracket_is_client_limit(const struct evidence *e);

/* Is that so, without the server being known to reach its limit before? */
bool bracket_ends_at_client(const struct evidence *e);

#endif
