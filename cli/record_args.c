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
     .help = "directory to record into (tailgate-runs/TIME-NAME)"},
    {.flag = "force",
     .type = &opt_switch,
     .offset = AT(force),
     .help = "replace a recording or a study that is there"},
    {.flag = "resume",
     .type = &opt_switch,
     .offset = AT(resume),
     .help = "of a search, a sweep or variants: go on with the study that is "
             "there, without what it has recorded"},
    {.flag = "quiet",
     .letter = 'q',
     .type = &opt_switch,
     .offset = AT(quiet),
     .help = "no progress"},
    {.flag = "no-color",
     .type = &opt_switch,
     .offset = AT(no_colour),
     .help = "no colour on a terminal; nor with NO_COLOR in the environment"},
    {.flag = "json",
     .type = &opt_switch,
     .offset = AT(json),
     .help = "print summary.json instead of text"},
    {.flag = "wait-ready",
     .type = &opt_duration,
     .offset = AT(wait_ready_ns),
     .is_positive = true,
     .help = "before anything is sent, ask until the target answers, at most "
             "this long"},
};

const struct opt_block record_args_block = {"recording", opts,
                                            sizeof(opts) / sizeof(opts[0])};

int record_args_check_resume(const struct record_args *args, struct err *err)
{
    if (args->force && args->resume)
        return err_set(err, ERR_USAGE, "--resume: not beside --force");
    if (args->resume && !args->out)
        return err_set(err, ERR_USAGE, "--resume: of which directory? (-o)");
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
