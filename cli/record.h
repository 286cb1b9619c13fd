/* record.h - one recording at the command line: with progress, notes and
 * warnings; alone or as a part of a study. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct run_judge;
struct settings_args;

struct record_how {
    const char *const *argv; /* for the manifest */
    bool force;
    bool quiet;
    bool no_colour;
    int64_t wait_ready_ns;
    bool is_again;     /* one of several, whose notes and warnings were shown */
    const char *title; /* of a part of a study: a line above the progress, and
                          no warnings of a run; NULL: it is none */
    const struct run_judge *judge; /* may end it early; NULL: nobody */
};

/* tailgate-runs/20261231T235959Z-name-1234, with nothing odd in the name; owned
 * by the caller. */
char *record_default_dir(const char *name);

/* Uses the settings up. */
int record(struct settings_args *a, const struct record_how *how,
           const char *dir, struct err *err);

#endif
