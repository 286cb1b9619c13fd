/* settings_args.h - settings from a command line: a file or URLs, overridden by
 * flags and --set. */
#ifndef CLI_SETTINGS_ARGS_H
#define CLI_SETTINGS_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/str.h"
#include "common/settings/option.h"
#include "common/settings/settings.h"

struct err;
struct study_source;

struct consent_item {
    char *where;  /* "server.start", "classes: chat: target.body"; owned */
    char *text;   /* owned until it is put back */
    char **field; /* of the settings; NULL: the text stayed there */
};

struct consent {
    struct consent_item *items;
    size_t len;
};

struct settings_args {
    struct settings settings;  /* as asked, not resolved */
    struct settings_file file; /* or a recording: then only its path */
    bool is_recording;         /* it is one, and its settings are repeated */
    char *first_url;           /* of the words; NULL: none */
    struct strlist assign;     /* --set */
    struct strmap texts;       /* see struct settings */
    bool allow_commands;       /* --allow-commands */
    struct consent consent;    /* of a recording: what needs that flag */

    /* Of a recording: the price of a replica, and its machine; NULL: not
     * known. */
    double recorded_usd;
    char *recorded_machine;
    int64_t recorded_settle_ns; /* of a recording: its study.settle */
};

/* The options that every command with settings has: --set and
 * --allow-commands. */
extern const struct opt_block settings_args_block;

/* Read argv into the settings, and into the command's own options through
 * `own` (up to two sets, whose fields hold their defaults, and a zeroed one at
 * the end; NULL: none).  The flags of `block` are accepted, too: those of a
 * sweep or a search; BLOCK_COUNT: none.  Files are read here and never again.
 * The caller calls settings_args_fini() in any case. */
int settings_args_parse(struct settings_args *a, const struct opt_set *own,
                        enum settings_block block, const char *const *argv,
                        struct err *err);

/* The settings for a study; borrowed from `a`. */
struct study_source settings_args_source(const struct settings_args *a);

/* Copy the settings and resolve the copy.  Settings with variants are refused.
 * Errors name file and line, if there is a file.  settings_fini(out) in any
 * case. */
int settings_args_resolve(const struct settings_args *a, struct settings *out,
                          struct err *err);

/* Put file and line before a later error that begins with a key.  Returns -1.
 */
int settings_args_blame(const struct settings_args *a, struct err *err);

void settings_args_fini(struct settings_args *a);

#endif
