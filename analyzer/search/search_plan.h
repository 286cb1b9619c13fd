/* search_plan.h - how the search continues: finding a bracket, narrowing it
 * down, confirming the estimate, and when to stop.  Pure. */
#ifndef ANALYZER_SEARCH_SEARCH_PLAN_H
#define ANALYZER_SEARCH_SEARCH_PLAN_H

#include "analyzer/search/search.h"
#include "analyzer/search/search_evidence.h"

/* The next step, or how the search ended. */
struct step {
    struct search_ask ask;
    enum search_outcome outcome; /* with SEARCH_DONE */
    enum search_outcome proves;  /* of a confirmation that holds */
};

void plan_make(const struct search *s, const struct evidence *e,
               struct step *out);

/* Do too many probes contradict each other? */
bool plan_is_contradictory(const struct evidence *e);

/* Is the limit of the client known, and the server not known to reach its own
 * before? */
bool plan_ends_at_client(const struct evidence *e);

/* Does the server miss the SLO even with almost no load? */
bool plan_is_never(const struct search *s, const struct evidence *e);

/* Are windows near the estimate short against the relaxation time? */
bool plan_is_short(const struct search *s, const struct evidence *e);

/* Estimated remaining time, including this step; 0: unknown. */
int64_t plan_left_ns(const struct search *s, const struct evidence *e,
                     const struct step *plan);

#endif
