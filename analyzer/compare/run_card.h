/* run_card.h - what a comparison takes out of one recording. */
#ifndef ANALYZER_COMPARE_RUN_CARD_H
#define ANALYZER_COMPARE_RUN_CARD_H

#include "analyzer/compare/side.h"

/* `slo` replaces that of the recording; NULL keeps it. */
int run_card_load(struct run_card *run, const char *dir,
                  const struct quantities *qs, const struct strlist *slo,
                  struct err *err);
void run_card_fini(struct run_card *run);

#endif
