/* plan.h - how the search goes on, from what is known.  Pure. */
#ifndef ANALYZER_SEARCH_PLAN_H
#define ANALYZER_SEARCH_PLAN_H

#include "analyzer/search/evidence.h"
#include "analyzer/search/search.h"

/* An interval that reaches further than this is no answer. */
#define PLAN_WORST_REACH 0.10

/* The next thing to do, or in which way the search has ended. */
struct plan {
    struct search_ask ask;
    enum search_outcome outcome; /* with SEARCH_DONE */
};

void plan_make(const struct search *s, const struct evidence *e,
               struct plan *out);

/* Is the objective missed where next to nothing is asked of the server? */
bool plan_is_never(const struct search *s, const struct evidence *e);

/* Do too many probes contradict each other? */
bool plan_is_twisted(const struct evidence *e);

/* Was so much set aside that the rest will not do? */
bool plan_is_noisy(const struct evidence *e);

/* Is what was set aside above all that counts what the client cannot do? */
bool plan_is_client_limit(const struct evidence *e);

/* About how long it will still take, the plan included; 0: nobody knows. */
int64_t plan_left_ns(const struct search *s, const struct evidence *e,
                     const struct plan *plan);

double plan_tolerance(const struct search_config *config);

#endif
