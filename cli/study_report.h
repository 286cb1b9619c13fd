/* study_report.h - the report of a sweep or a search that is there. */
#ifndef CLI_STUDY_REPORT_H
#define CLI_STUDY_REPORT_H

#include <stdbool.h>

struct cost_ask;
struct err;
struct strlist;

/* How the report of a study is asked for. */
struct study_ask {
    const struct strlist *slo;   /* judge by this; NULL: by its own */
    const struct cost_ask *cost; /* price by this; NULL: by its own */
    bool json;                   /* print that, not text */
    bool saves;                  /* leave DIR/summary.json */
};

/* Print it.  Returns the exit status, or -1. */
int sweep_report(const char *dir, const struct study_ask *ask, struct err *err);

/* The same of a search, which has no prices. */
int search_report(const char *dir, const struct study_ask *ask,
                  struct err *err);

#endif
