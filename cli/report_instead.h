/* report_instead.h - what is printed instead of the whole report: what it would
 * take to repeat a run, and the sentence to quote.  All return the exit status,
 * or -1. */
#ifndef CLI_REPORT_INSTEAD_H
#define CLI_REPORT_INSTEAD_H

#include <stdbool.h>

struct cost_ask;
struct err;
struct recording;
struct strlist;
struct summary;

int report_checklist(const struct summary *s, const struct recording *rec,
                     bool json, struct err *err);
int report_claim(const struct summary *s, const struct recording *rec,
                 struct err *err);

/* Of the trials at `dir`; `slo` and `cost` replace theirs, and may be NULL. */
int report_claim_set(const char *dir, const struct strlist *slo,
                     const struct cost_ask *cost, struct err *err);

#endif
