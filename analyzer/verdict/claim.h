/* claim.h - what a run or a set of trials shows, in one sentence that carries
 * its conditions: the sentence to quote. */
#ifndef ANALYZER_VERDICT_CLAIM_H
#define ANALYZER_VERDICT_CLAIM_H

#include <stdbool.h>

struct buf;
struct manifest;
struct summary;
struct trials_summary;

/* Of a run that is withdrawn or undecided there is none: then why.  Returns
 * whether there is one. */
bool run_claim(const struct summary *s, const struct manifest *m,
               struct buf *out);

/* The same of a set; conditions and client are those of the first trial, whose
 * summary and manifest these are. */
bool trials_claim(const struct trials_summary *t, const struct summary *first,
                  const struct manifest *m, struct buf *out);

#endif
