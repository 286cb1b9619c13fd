/* next_step.h - one or two suggestions: how to get an answer from a run that
 * gave none, and where to look if the answer is no.  A pure function of the
 * summary.
 */
#ifndef ANALYZER_VERDICT_NEXT_STEP_H
#define ANALYZER_VERDICT_NEXT_STEP_H

#include <stddef.h>

struct summary;

#define NEXT_MAX  2
#define NEXT_TEXT 512 /* may contain the name of the recording */

struct next {
    char lines[NEXT_MAX][NEXT_TEXT];
    size_t len;
};

/* After everything else in the summary is set. */
void next_make(const struct summary *s, struct next *out);

#endif
