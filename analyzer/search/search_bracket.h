/* search_bracket.h - how a search goes on while the capacity is open to one
 * side: nothing was missed yet, nothing was met yet, or the client gets no
 * further. Pure. */
#ifndef ANALYZER_SEARCH_SEARCH_BRACKET_H
#define ANALYZER_SEARCH_SEARCH_BRACKET_H

#include <stdbool.h>

#include "analyzer/search/search_step.h"

/* The first guess from nothing, and the load that is light for sure. */
#define BRACKET_FIRST_RPS 1.0

/* Nothing was missed yet. */
void bracket_up(const struct search *s, const struct evidence *e,
                struct step *out);

/* Nothing was met yet. */
void bracket_down(const struct search *s, const struct evidence *e,
                  struct step *out);

/* The capacity, if there is one, is beyond what the client was seen to do. */
void bracket_to_client(const struct search *s, const struct evidence *e,
                       struct step *out);

/* Is the objective missed where next to nothing is asked of the server? */
bool bracket_is_never(const struct search *s, const struct evidence *e);

/* Is it known from which load on the client cannot do it? */
bool bracket_is_client_limit(const struct evidence *e);

/* Is it, and the server is not known to come to its own limit before? */
bool bracket_ends_at_client(const struct evidence *e);

/* Between what the client did and what it could not, to see more of either. */
double bracket_below_client(const struct evidence *e);

/* What to confirm when the client is the limit. */
double bracket_client_value(const struct search *s, const struct evidence *e);

#endif
