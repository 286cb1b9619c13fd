/* claim.h - the sentence to quote: what a run or a set of trials shows, with
 * its conditions. */
#ifndef ANALYZER_VERDICT_CLAIM_H
#define ANALYZER_VERDICT_CLAIM_H

#include <stdbool.h>

struct buf;
struct manifest;
struct summary;
struct trials_summary;

/* Appends the claim and returns true; or why there is none, for a run that is
 * invalid, undecided or incomplete, and returns false. */
bool run_claim(const struct summary *s, const struct manifest *m,
               struct buf *out);

/* The same for a set of trials.  Conditions and client are those of the first
 * trial, whose summary and manifest these are. */
bool trials_claim(const struct trials_summary *t, const struct summary *first,
                  const struct manifest *m, struct buf *out);

#endif
