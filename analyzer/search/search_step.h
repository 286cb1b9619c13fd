/* search_step.h - one step of a search: a load to ask for within what is
 * allowed, a confirmation, or the end.  Pure. */
#ifndef ANALYZER_SEARCH_SEARCH_STEP_H
#define ANALYZER_SEARCH_SEARCH_STEP_H

#include "analyzer/search/search.h"
#include "analyzer/search/search_evidence.h"

/* The next thing to do, or in which way the search has ended. */
struct step {
    struct search_ask ask;
    enum search_outcome outcome; /* with SEARCH_DONE */
    enum search_outcome proves;  /* with SEARCH_CONFIRM, if it holds ... */
    bool is_piece;               /* ... and whether it is a piece of one */
};

/* The nearest value that may be asked for, and that there is. */
double step_rounded(const struct search *s, double value);

/* Down to what there is. */
double step_whole(const struct search *s, double value);

/* A probe of so many seconds, at the nearest value. */
void step_ask(const struct search *s, struct step *out, enum search_why why,
              double value, double window_s);

/* The whole of a confirmation, or the next piece of one that was disturbed. */
void step_confirm(const struct search *s, const struct evidence *e,
                  struct step *out, double value, enum search_outcome proves);

void step_end(struct step *out, enum search_outcome outcome);

#endif
