/* compare_claim.h - what a comparison of two shows, in one sentence that
 * carries its conditions. */
#ifndef ANALYZER_COMPARE_COMPARE_CLAIM_H
#define ANALYZER_COMPARE_COMPARE_CLAIM_H

struct buf;
struct comparison;

#define CLAIM_MAX 16384

/* Nothing where nothing was shown to be better or worse. */
void claim_make(const struct comparison *c, struct buf *out);

#endif
