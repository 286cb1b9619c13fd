/* next_step.h - one or two things to do about a run: how to get an answer where
 * it gave none, and where to look where the answer is no.  A pure function of
 * the summary.
 */
#ifndef ANALYZER_VERDICT_NEXT_STEP_H
#define ANALYZER_VERDICT_NEXT_STEP_H

#include <stddef.h>

struct summary;

#define NEXT_MAX  2
#define NEXT_TEXT 512 /* it may hold the name of the recording */

struct next {
    char lines[NEXT_MAX][NEXT_TEXT];
    size_t len;
};

/* Everything else in the summary must be there. */
void next_make(const struct summary *s, struct next *out);

#endif
