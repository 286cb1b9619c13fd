/* cli.h - the commands: argv in, library calls, an exit status out. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/exit_status.h"
#include "common/base/str.h"
#include "common/settings/option.h"

struct cost_ask;
struct err;
struct prices;

struct command {
    const char *name;
    const char *usage; /* what follows the name */
    const char *help;  /* one line */

    /* argv[0] is the first word after the name.  Returns the exit status, or
     * -1 with err set. */
    int (*run)(const char *const *argv, struct err *err);

    /* Instead of run, for a command with one table of flags: `args` has the
     * size below and is filled in by the first block, which releases its
     * fields afterwards; `words` are the arguments that are not flags. */
    int (*answer)(void *args, const struct strlist *words, struct err *err);
    size_t args_size;

    /* The option tables, for the help; NULL-terminated.  Optional. */
    const struct opt_block *const *blocks;
};

extern const struct command cmd_run;
extern const struct command cmd_search;
extern const struct command cmd_sweep;
extern const struct command cmd_rerun;
extern const struct command cmd_merge;
extern const struct command cmd_shard;
extern const struct command cmd_clock;
extern const struct command cmd_report;
extern const struct command cmd_compare;
extern const struct command cmd_baseline;
extern const struct command cmd_scale;
extern const struct command cmd_stub;
extern const struct command cmd_calibrate;
extern const struct command cmd_init;
extern const struct command cmd_validate;
extern const struct command cmd_completion;
extern const struct command cmd_version;
extern const struct command cmd_help;

/* All of them, NULL-terminated, in the order of the help. */
extern const struct command *const commands[];

/* NULL: there is no such command. */
const struct command *command_find(const char *name);

/* Print to stdout, without control characters.  A reader that has closed its
 * end is not an error; cli_is_read() tells.  ERR_IO. */
int cli_print(const char *text, struct err *err);

/* Does anyone still read stdout? */
bool cli_is_read(void);

/* Print a whole report; returns `status`, or -1. */
int cli_print_report(const struct buf *out, int status, struct err *err);

/* The same for a text that may have colours and is known to be safe to show. */
int cli_print_drawn(const struct buf *out, int status, struct err *err);

/* Where a report goes and how it is printed: flags that every command with a
 * report has.  They are the member `output` of its struct. */
struct output_args {
    int format; /* of the names that its --format takes */
    bool json;
    bool verbose;
    bool no_colour;
    char *html; /* files to write in addition; each may be NULL */
    char *md;
    char *junit;
    char *svg; /* a chart instead: NAME, or NAME=FILE; NULL: none */
};

/* The beginning of a row in a command's table; its file defines AT(field). */
#define FLAG(its_flag, its_type, field)                                        \
    .flag = (its_flag), .type = &opt_##its_type, .offset = AT(field)

/* Their rows.  `only` is "" or the part of the command that they are for. */
/* clang-format off */
#define HTML_FLAG(only, more)                                                  \
    {FLAG("html", text, output.html),                                          \
     .help = only "also write a page with charts to this file" more}
#define MD_FLAG(only)                                                          \
    {FLAG("md", text, output.md),                                              \
     .help = only "also write the report as Markdown to this file"}
#define JUNIT_FLAG(only, what)                                                 \
    {FLAG("junit", text, output.junit),                                        \
     .help = only "also write " what " as JUnit test cases to this file"}
#define JSON_FLAG(only)                                                        \
    {FLAG("json", switch, output.json),                                        \
     .help = only "the same as --format json"}
#define SHOW_FLAGS                                                             \
    {FLAG("verbose", switch, output.verbose), .letter = 'v',                   \
     .help = "print the whole report instead of the short one"},               \
    {FLAG("no-color", switch, output.no_colour),                               \
     .help = "do not use colour on a terminal; NO_COLOR in the environment "   \
             "does the same"}
#define SVG_FLAG(chart)                                                        \
    {FLAG("svg", text, output.svg),                                            \
     .help = "print the chart '" chart "' as SVG instead of the report; "      \
             "NAME=FILE writes it to a file, as PNG if the file ends in .png"},

/* All of them for a comparison; `svg` is SVG_FLAG() or nothing. */
#define OUTPUT_FLAGS(only, svg)                                                \
    HTML_FLAG(only, ""), svg                                                   \
    MD_FLAG(only), JUNIT_FLAG(only, "the result"),                             \
    {FLAG("format", choice, output.format), .names = report_plain_names,       \
     .initial = "text",                                                        \
     .help = only "what is printed: text, json or md (Markdown)"},             \
    JSON_FLAG(only), SHOW_FLAGS
/* clang-format on */

#define PRICES_HELP                                                            \
    "CSV file of machine,usd_per_hour; each recording is priced by its "       \
    "machine, or its condition 'hardware'"

/* Read the file of --prices, if one is named, into `table` and have `ask`,
 * whose other fields are set, use it.  ERR_USAGE if they contradict each other.
 * The caller calls prices_fini() on success. */
int cost_asked(struct cost_ask *ask, struct prices *table, const char *path,
               struct err *err);

/* "unknown command 'rnu'; did you mean 'run'?" */
int command_refuse(const char *name, struct err *err);

#endif
