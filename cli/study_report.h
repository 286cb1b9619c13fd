/* study_report.h - the report of a recorded study. */
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
    int require; /* of a verdict by the exit status, enum slo_require + 1; 0: as
                    recorded */
    bool json;   /* print that, not text */
    bool saves;  /* leave DIR/summary.json */
    const char *html; /* also write this page; NULL: none */
    const char *svg;  /* a chart instead, as report_files(); NULL: none */
};

/* Print the document of the study at `dir`, save it if asked to, and free it.
 * Returns `status`, or -1. */
struct doc;
int study_print(struct doc *taken, const char *dir, const struct study_ask *ask,
                int status, struct err *err);

/* Read and print a sweep.  Returns the exit status, or -1. */
int sweep_report(const char *dir, const struct study_ask *ask, struct err *err);

/* The same for a search, which has no prices. */
int search_report(const char *dir, const struct study_ask *ask,
                  struct err *err);

#endif
