/* search_plan.h - how the search goes on, from what is known.  Pure.  While one
 * end is open that is bracket.h's; here is what is done between the two, and
 * when it is enough. */
#ifndef ANALYZER_SEARCH_SEARCH_PLAN_H
#define ANALYZER_SEARCH_SEARCH_PLAN_H

#include "analyzer/search/search.h"
#include "analyzer/search/search_evidence.h"
#include "analyzer/search/search_step.h"

/* An interval that reaches further than this is no answer. */
#define PLAN_WORST_REACH 0.10

void plan_make(const struct search *s, const struct evidence *e,
               struct step *out);

/* Do too many probes contradict each other? */
bool plan_is_twisted(const struct evidence *e);

/* Was so much set aside that the rest will not do? */
bool plan_is_noisy(const struct evidence *e);

/* About how long it will still take, the plan included; 0: nobody knows. */
int64_t plan_left_ns(const struct search *s, const struct evidence *e,
                     const struct step *plan);

double plan_tolerance(const struct search_config *config);

#endif
