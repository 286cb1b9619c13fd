/* study_report.h - the report of a sweep or a search that is there. */
#ifndef CLI_STUDY_REPORT_H
#define CLI_STUDY_REPORT_H

#include <stdbool.h>

struct err;
struct strlist;

/* Print it as text or JSON, judged by `slo` where that is not NULL; `saves`:
 * leave DIR/summary.json.  Returns the exit status, or -1. */
int sweep_report(const char *dir, const struct strlist *slo, bool json,
                 bool saves, struct err *err);

/* The same of a search. */
int search_report(const char *dir, const struct strlist *slo, bool json,
                  bool saves, struct err *err);

/* Leave the summary.json of one that is there. */
int sweep_sum_up(const char *dir, struct err *err);
int search_sum_up(const char *dir, struct err *err);

#endif
