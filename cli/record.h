/* record.h - one recording at the command line: with progress, notes and
 * warnings; alone or as a part of a study. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"
#include "cli/report_out.h"
#include "common/settings/option.h"

struct err;
struct listen;
struct listen_point;
struct ranks;
struct run_judge;
struct settings;
struct settings_file;

/* The flags of every command that records. */
struct record_args {
    char *out;
    bool force;
    bool resume;
    bool quiet;
    struct output_args output; /* its formats are report_doc_names */
    char *listen;
    char *listen_token_env;
    int64_t listen_linger_ns;
    char *metrics_file;
    int64_t wait_ready_ns;
    char *launch;
    int64_t shards;
    int64_t launch_lead_ns;
    int64_t launch_limit_ns;
};

extern const struct opt_block record_args_block;

/* Can --resume be combined with the other flags?  ERR_USAGE. */
int record_args_check_resume(const struct record_args *args, struct err *err);

/* The format that is asked for.  A combination of flags that is refused is
 * found by record_args_check_format() first: ERR_USAGE. */
int record_args_check_format(const struct record_args *args, struct err *err);
enum doc_format record_args_format(const struct record_args *args);

/* Can a study, or two in turns, be reported this way?  ERR_USAGE. */
int record_args_check_study(const struct record_args *args, bool is_pair,
                            struct err *err);

/* --out, or tailgate-runs/20261231T235959Z-name-1234 with nothing odd in the
 * name; owned by the caller. */
char *record_args_dir(const struct record_args *args, const char *name);

struct record_how {
    const struct record_args *args;
    const char *const *argv;          /* for the manifest */
    const struct settings_file *file; /* the same, and for warnings */
    const char *dir;
    bool is_again;      /* one of several: notes and warnings were shown */
    bool has_preflight; /* see struct run_options */
    const char *title;  /* of a part of a study: a line above the progress, and
                           no warnings about a run; NULL: none */
    const struct run_judge *judge; /* may end it early; NULL: none */
    int64_t start_at_ns;           /* see struct run_options */
    bool start_is_own;             /* the same */
    struct ranks *ranks;           /* for --launch mpi:N */
    struct listen *listen;         /* shows it to others; NULL: nothing does */
    const struct listen_point *point; /* for that */
};

/* Record what resolved settings ask for.  As point_record(). */
int record(const struct settings *s, const struct record_how *how,
           struct err *err);

/* Note in what a new recording differs from the one that it repeats: version,
 * environment, endpoints, transport and data.  A recording that cannot be read
 * is logged as an error. */
void record_note_repeated(const char *old_dir, const char *new_dir);

#endif
