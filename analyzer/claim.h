/* claim.h - what one run shows, in one sentence that carries its conditions:
 * the sentence to quote. */
#ifndef ANALYZER_CLAIM_H
#define ANALYZER_CLAIM_H

#include <stdbool.h>

struct buf;
struct manifest;
struct summary;

/* Of a run that is withdrawn or undecided there is none: then why.  Returns
 * whether there is one. */
bool run_claim(const struct summary *s, const struct manifest *m,
               struct buf *out);

#endif
