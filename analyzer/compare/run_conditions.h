/* run_conditions.h - what a comparison takes out of one recording. */
#ifndef ANALYZER_COMPARE_RUN_CONDITIONS_H
#define ANALYZER_COMPARE_RUN_CONDITIONS_H

#include "analyzer/compare/compare_side.h"

struct summary;

int run_card_load(struct run_card *run, const char *dir,
                  const struct side_ask *ask, struct err *err);
void run_card_fini(struct run_card *run);

/* Why nothing that a run measured may be used; "": it may.  Its objective and
 * its load are not asked about. */
void run_card_obstacle(const struct summary *s, char why[static RUN_CARD_WHY]);

#endif
