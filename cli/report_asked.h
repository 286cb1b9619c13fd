/* report_asked.h - what a report is asked to judge by, in place of what the
 * recording says. */
#ifndef CLI_REPORT_ASKED_H
#define CLI_REPORT_ASKED_H

struct err;
struct settings;
struct strlist;

/* Terms without a class replace those of the run, terms of a class ('chat/e2e
 * p99 < 1s') those of the class; who is not named keeps his.  ERR_USAGE. */
int report_ask_slo(struct settings *s, const struct strlist *terms,
                   struct err *err);

#endif
