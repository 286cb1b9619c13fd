/* probe_marks.h - what single probes of a search say: which were met, confirmed
 * or contradicted by others, and what the client could not do.  Pure. */
#ifndef ANALYZER_SEARCH_PROBE_MARKS_H
#define ANALYZER_SEARCH_PROBE_MARKS_H

#include <stdbool.h>

#include "analyzer/search/search_evidence.h"

/* More misses than are allowed? */
bool probe_marks_is_missed(const struct search_counts *c, double allowed);

/* ... and so clearly that chance is out of the question? */
bool probe_marks_is_failed(const struct search_counts *c, double allowed);

/* Is it a confirmation of this value? */
bool probe_marks_is_confirm_at(const struct search_result *r, double value);

/* All of the evidence but the lines.  The marks must be INFINITY or 0 as no
 * result leaves them. */
void probe_marks_take(struct evidence *e, const struct search *s);

/* What was seen of the confirmation of a value, in all that count; its window
 * is the sum of theirs. */
void probe_marks_pool(const struct search *s, double value,
                      struct search_result *sum);

#endif
