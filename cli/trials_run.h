/* trials_run.h - `run` with several trials: the loop around the one run, and
 * the report of the set. */
#ifndef CLI_TRIALS_RUN_H
#define CLI_TRIALS_RUN_H

#include <stdbool.h>

#include "analyzer/report/doc.h"

struct cost_ask;
struct err;
struct settings_args;
struct strlist;
struct summary;

struct trials_how {
    const char *dir;
    const char *against; /* settings file of the other side; NULL: none */
    const char *const *argv;
    bool force;
    bool json;

    /* Read the settings from these words again, as the first time; a run uses
     * up what it is given. */
    int (*read)(const char *const *argv, struct settings_args *a,
                struct err *err);

    /* Make one run into a directory.  `is_again`: its notes were shown. */
    int (*record)(void *arg, struct settings_args *a, const char *dir,
                  bool is_again, struct err *err);
    void *arg;
};

/* The trials that the settings ask for, and their report; returns the exit
 * status, or -1. */
int trials_drive(const struct settings_args *a, const struct trials_how *how,
                 struct err *err);

/* Print a recorded set; with `slo` judged by it, and priced by `cost`; either
 * may be NULL.  Returns the exit status, or -1. */
int trials_report(const char *dir, const struct strlist *slo,
                  const struct cost_ask *cost, enum doc_format format,
                  struct err *err);

/* Leave the summary.json of a set that is there. */
int trials_sum_up(const char *dir, struct err *err);

/* A line of what a trial came to, for point_sum_up(). */
int trials_note_result(void *arg, const struct summary *s, struct err *err);

#endif
