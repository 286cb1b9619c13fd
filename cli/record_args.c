#include "cli/record_args.h"

#include "cli/record.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/xalloc.h"
#include "common/recording/studydir.h"

#define AT(field) offsetof(struct record_args, field)

static const struct opt opts[] = {
    {.flag = "out",
     .letter = 'o',
     .type = &opt_text,
     .offset = AT(out),
     .group = GROUP_OUTPUT,
     .help = "directory to record into (default tailgate-runs/TIME-NAME)"},
    {.flag = "force",
     .type = &opt_switch,
     .offset = AT(force),
     .help = "replace an existing recording or study"},
    {.flag = "resume",
     .type = &opt_switch,
     .offset = AT(resume),
     .help = "search, sweep and variants: continue an interrupted study"},
    {.flag = "quiet",
     .letter = 'q',
     .type = &opt_switch,
     .offset = AT(quiet),
     .help = "do not print progress"},
    {.flag = "no-color",
     .type = &opt_switch,
     .offset = AT(no_colour),
     .help = "do not use colour; NO_COLOR in the environment does the same"},
    {.flag = "json",
     .type = &opt_switch,
     .offset = AT(json),
     .group = GROUP_OUTPUT,
     .help = "print summary.json instead of text"},
    {.flag = "wait-ready",
     .type = &opt_duration,
     .offset = AT(wait_ready_ns),
     .is_positive = true,
     .help =
         "wait up to this long for the target to answer before the run starts"},
};

const struct opt_block record_args_block = {"recording", opts,
                                            sizeof(opts) / sizeof(opts[0])};

int record_args_check_resume(const struct record_args *args, struct err *err)
{
    if (args->force && args->resume)
        return err_set(err, ERR_USAGE,
                       "--resume cannot be combined with --force");
    if (args->resume && !args->out)
        return err_set(err, ERR_USAGE, "--resume requires --out (-o)");
    return 0;
}

bool record_args_resumes(bool is_wanted, const char *dir)
{
    bool is_there = study_is_at(dir);

    if (is_wanted && !is_there)
        log_note("%-10s nothing is recorded in %s: it begins there", "resume",
                 dir);
    return is_wanted && is_there;
}

char *record_args_dir(const struct record_args *args, const char *name)
{
    return args->out ? xstrdup(args->out) : record_default_dir(name);
}
