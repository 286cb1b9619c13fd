/* settings_args.h - settings from a command line: a file, URLs, flags over
 * it, --set over both. */
#ifndef CLI_SETTINGS_ARGS_H
#define CLI_SETTINGS_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/consent.h"
#include "common/base/str.h"
#include "common/settings/option.h"
#include "common/settings/settings.h"

struct err;

struct settings_args {
    struct settings settings;
    char *file; /* the settings file, or a recording; NULL: none */
    struct settings_file text; /* of a settings file */
    bool is_recording;         /* it is one, and its settings are repeated */
    char *first_url;           /* of the words; NULL: none */
    struct strlist assign;     /* --set */
    bool allow_commands;       /* --allow-commands */
    struct consent consent;    /* of a recording: what that is about */

    /* Of a recording: what a replica cost, and of which machine that is the
     * price; NULL: nobody says. */
    double recorded_usd;
    char *recorded_machine;
    int64_t recorded_settle_ns; /* of a recording: its study.settle */
};

/* The options that every command with settings has: --set and
 * --allow-commands. */
extern const struct opt_block settings_args_block;

/* What a study adds to a run. */
struct settings_more {
    enum settings_block block;  /* its flags are taken, too */
    const struct strlist *over; /* "load.rate=80", over everything; NULL */
    size_t variant;             /* of a list of them, from 1; 0: of none */
};

/* Read argv into the settings, and into the command's own options through
 * `own` (up to two sets, whose fields hold their defaults, and a zeroed one at
 * the end; NULL: none).  The settings are resolved.  The caller calls
 * settings_args_fini() in any case. */
int settings_args_read(struct settings_args *a, const struct opt_set *own,
                       const char *const *argv, struct err *err);

/* The same in two steps.  What contradicts itself names file and line, if there
 * is a file. */
int settings_args_parse(struct settings_args *a, const struct opt_set *own,
                        const char *const *argv, struct err *err);
int settings_args_resolve(struct settings_args *a, struct err *err);

/* The second step for the i-th of the variants; ERR_USAGE if there is none
 * such. Without it, settings that have variants are refused. */
int settings_args_resolve_variant(struct settings_args *a, size_t i,
                                  struct err *err);

/* The same for an error that comes later: put file and line before one that
 * begins with a key.  Returns -1. */
int settings_args_blame(const struct settings_args *a, struct err *err);

/* The first step, and both, for a study. */
int settings_args_parse_study(struct settings_args *a,
                              const struct opt_set *own,
                              const struct settings_more *more,
                              const char *const *argv, struct err *err);
int settings_args_read_study(struct settings_args *a, const struct opt_set *own,
                             const struct settings_more *more,
                             const char *const *argv, struct err *err);

void settings_args_fini(struct settings_args *a);

#endif
