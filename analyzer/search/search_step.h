/* search_step.h - one step of a search: a load to probe, a confirmation, or the
 * end; and how long the windows are.  Pure. */
#ifndef ANALYZER_SEARCH_SEARCH_STEP_H
#define ANALYZER_SEARCH_SEARCH_STEP_H

#include "analyzer/search/search.h"
#include "analyzer/search/search_evidence.h"

/* The next step, or how the search ended. */
struct step {
    struct search_ask ask;
    enum search_outcome outcome; /* with SEARCH_DONE */
    enum search_outcome
        proves;    /* with SEARCH_CONFIRM: the outcome if it holds */
    bool is_piece; /* it is a piece of a disturbed confirmation */
};

/* The nearest allowed value; a whole number for a concurrency. */
double step_rounded(const struct search *s, double value);

/* Rounded down to a whole number for a concurrency. */
double step_whole(const struct search *s, double value);

/* A probe with this window at the nearest allowed value. */
void step_ask(const struct search *s, struct step *out, enum search_why why,
              double value, double window_s);

/* A whole confirmation, or the next piece of a disturbed one. */
void step_confirm(const struct search *s, const struct evidence *e,
                  struct step *out, double value, enum search_outcome proves);

void step_end(struct step *out, enum search_outcome outcome);

/* ---- lengths of windows ---- */

/* Windows are long enough for a queue to grow to the limits of the SLO, and for
 * enough requests to be counted.  In seconds: for a probe that only brackets,
 * for one at a light load, and for one near the boundary. */
double windows_short(const struct search *s, double value);
double windows_light(const struct search *s, double value);
double windows_probe(const struct search *s, const struct evidence *e,
                     double value);

/* Is the window of a result shorter than near the boundary? */
bool windows_is_short(const struct search *s, const struct evidence *e,
                      const struct search_result *r);

/* Requests per second at a value; 0: unknown. */
double windows_rate(const struct search *s, double value);

#endif
