/* goodput.h - what a summary says of what is good: tiers, misses, deadlines of
 * tokens, cost. */
#ifndef ANALYZER_TALLY_GOODPUT_H
#define ANALYZER_TALLY_GOODPUT_H

#include "analyzer/verdict/judge.h"
#include "analyzer/verdict/metered.h"

struct fluid;
struct summary;
struct tally;
struct tier_works;

/* A pass is none of numbers that cannot be trusted, nor of a run that was to go
 * on.  The trust is known. */
enum verdict goodput_believed(const struct summary *s, enum verdict answer);

/* Nor is one of a server that is overloaded, or of a run that was aborted. */
enum verdict goodput_settled(const struct summary *s, enum verdict verdict);

/* After the counts, rates and tokens. */
void goodput_take(struct summary *s, const struct tally *t,
                  const struct fluid *fluid, const struct tier_works *tiers);

/* What energy is shared by, once all else is known. */
struct metered_share goodput_energy_share(const struct summary *s);

#endif
