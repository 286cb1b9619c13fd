/* record.h - one recording at the command line: with progress, notes and
 * warnings; alone or as a part of a study. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/settings/option.h"

struct err;
struct run_judge;
struct settings;
struct settings_file;

/* The flags of every command that records. */
struct record_args {
    char *out;
    bool force;
    bool resume;
    bool quiet;
    bool no_colour;
    bool json;
    char *html;
    int64_t wait_ready_ns;
    char *launch;
};

extern const struct opt_block record_args_block;

/* Can --resume be combined with the other flags?  ERR_USAGE. */
int record_args_check_resume(const struct record_args *args, struct err *err);

/* --out, or tailgate-runs/20261231T235959Z-name-1234 with nothing odd in the
 * name; owned by the caller. */
char *record_args_dir(const struct record_args *args, const char *name);

struct record_how {
    const struct record_args *args;
    const char *const *argv;          /* for the manifest */
    const struct settings_file *file; /* the same, and for warnings */
    const char *dir;
    bool is_again;     /* one of several: notes and warnings were shown */
    const char *title; /* of a part of a study: a line above the progress, and
                          no warnings about a run; NULL: none */
    const struct run_judge *judge; /* may end it early; NULL: none */
    int64_t start_at_ns;           /* see struct run_options */
};

/* Record what resolved settings ask for. */
int record(const struct settings *s, const struct record_how *how,
           struct err *err);

/* Note in what a new recording differs from the one that it repeats: version,
 * environment, endpoints, transport and data.  A recording that cannot be read
 * is logged as an error. */
void record_note_repeated(const char *old_dir, const char *new_dir);

#endif
