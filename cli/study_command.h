/* study_command.h - trials, sweeps and searches at the command line, alone, in
 * turns with another settings file, or for each variant. */
#ifndef CLI_STUDY_COMMAND_H
#define CLI_STUDY_COMMAND_H

#include "analyzer/report/doc.h"
#include "common/settings/settings.h"

struct err;
struct record_args;
struct settings_args;
struct study_policy;

struct study_command {
    const struct study_policy *policy;
    const struct record_args *args;
    const char *const *argv;             /* for the manifests */
    const struct settings_args *a;       /* parsed */
    const struct settings_args *against; /* takes turns with it; NULL: none */
};

/* Record it all and print the report; returns the exit status, or -1. */
int study_command(const struct study_command *c, struct err *err);

/* The whole command of a sweep or a search, whose own flags are `block`. */
int study_command_by_flags(const struct study_policy *policy,
                           enum settings_block block, const char *const *argv,
                           struct err *err);

#endif
