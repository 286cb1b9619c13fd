/* settle.h - what the verdict of a run becomes of the answers of its SLO terms,
 * given what the checks, the load and the end of the run say. */
#ifndef ANALYZER_VERDICT_SETTLE_H
#define ANALYZER_VERDICT_SETTLE_H

#include "analyzer/verdict/judge.h"

struct summary;
struct tier_works;
struct tiers;

/* Was the run killed or interrupted, or did it lose a shard?  Then it is not
 * known what the rest of it would have shown. */
bool summary_is_cut(const struct summary *s);

/* A run that failed a trust check cannot pass, unless it says only that the
 * client was late, which the answer allows for.  Nor can one that was cut. */
enum verdict verdict_after_trust(const struct summary *s, enum verdict answer);

/* Nor can a run that overloaded the server, which will not keep up for longer,
 * or that was aborted. */
enum verdict verdict_after_load(const struct summary *s, enum verdict verdict);

/* The same for each tier. */
void settle_tiers(const struct summary *s, const struct tier_works *w,
                  struct tiers *t);

#endif
