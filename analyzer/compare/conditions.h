/* conditions.h - the conditions of a recording as a flat list of texts: what
 * was asked for by its dotted key (load.rate, conditions.batching), and what is
 * known of data, client, host and path. */
#ifndef ANALYZER_COMPARE_CONDITIONS_H
#define ANALYZER_COMPARE_CONDITIONS_H

#include "common/base/str.h"

struct recording;
struct summary;

/* Defaults are filled in, so that an option that an older recording does not
 * know is no difference. */
void conditions_make(struct strmap *card, struct recording *rec,
                     const struct summary *s);

#endif
