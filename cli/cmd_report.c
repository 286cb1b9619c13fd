#include <stdlib.h>
#include <unistd.h>

#include "analyzer/reader.h"
#include "analyzer/report/report.h"
#include "analyzer/summary.h"
#include "analyzer/truth.h"
#include "cli/cli.h"
#include "cli/report_out.h"
#include "cli/trials_run.h"
#include "common/err.h"
#include "common/recording/trialset.h"
#include "common/slo.h"
#include "common/xalloc.h"

#define MAX_TRUTH 65536

struct report_args {
    struct strlist slo;
    int format;
    bool truth;
    char *truth_file;
};

#define AT(field) offsetof(struct report_args, field)

static const struct opt opts[] = {
    {.flag = "slo",
     .type = &opt_list,
     .offset = AT(slo),
     .splits_commas = true,
     .check = slo_check_term,
     .help = "judge by this objective instead of the recording's; repeats"},
    {.flag = "goodput",
     .type = &opt_list,
     .offset = AT(slo),
     .splits_commas = true,
     .takes_word = slo_is_like_limit,
     .check = slo_check_limit,
     .help = "limits of good requests in ms: ttft:200 tpot:50 e2el:5000"},
    {.flag = "truth",
     .type = &opt_switch,
     .offset = AT(truth),
     .help = "compare with the truth log of the stub that ran beside it"},
    {.flag = "truth-file",
     .type = &opt_text,
     .offset = AT(truth_file),
     .help = "the same with a truth log from elsewhere"},
    {.flag = "format",
     .type = &opt_choice,
     .offset = AT(format),
     .names = report_names,
     .initial = "text",
     .help = "how to print it"},
};

static const struct opt_block block = {"report", opts,
                                       sizeof(opts) / sizeof(opts[0])};

static int print_truth(struct recording *rec, const struct report_args *a,
                       struct err *err)
{
    char *path = a->truth_file ? xstrdup(a->truth_file)
                               : xasprintf("%s/truth.tgr", rec->dir);
    struct truth_report report;
    struct buf out;
    int rc;

    buf_init(&out, MAX_TRUTH);
    if (!a->truth_file && access(path, F_OK) < 0)
        rc = err_set(err, ERR_IO,
                     "%s: no truth log; a stub beside the run (stub:) leaves "
                     "one, and --truth-file names another",
                     path);
    else
        rc = recording_rewind(rec, err);
    if (rc == 0) {
        rc = truth_compare(&report, rec, path, err);
        if (rc == 0)
            truth_print(&report, &out);
        truth_report_fini(&report);
    }
    if (rc == 0)
        rc = cli_print(buf_text(&out), err);
    buf_fini(&out);
    free(path);
    return rc;
}

static int report_one(const char *dir, const struct report_args *a,
                      struct err *err)
{
    const struct report_ops *ops = report_find(report_names[a->format]);
    struct recording rec;
    struct summary s;
    int rc;

    if (recording_open(&rec, dir, err))
        return -1;
    rc = summary_make(&s, &rec, a->slo.len > 0 ? &a->slo : NULL, err);
    if (rc == 0)
        rc = ops->render_rows ? report_print_rows(&rec, ops, err)
                              : report_print(&s, ops, err);
    if (rc == 0 && (a->truth || a->truth_file))
        rc = print_truth(&rec, a, err);
    if (rc == 0)
        rc = summary_exit_code(&s);
    recording_close(&rec);
    return rc;
}

/* A set has no requests of its own, and no truth: its trials have. */
static int report_trials(const char *dir, const struct report_args *a,
                         struct err *err)
{
    bool json = report_find(report_names[a->format]) == &report_json;

    if ((!json && a->format != 0) || a->truth || a->truth_file)
        return err_set(err, ERR_USAGE,
                       "%s: a trial set is shown as text or json; for the rest "
                       "name one of its trials, %s/trial-1",
                       dir, dir);
    return trials_report(dir, a->slo.len > 0 ? &a->slo : NULL, json, err);
}

static int run(const char *const *argv, struct err *err)
{
    struct report_args a;
    struct opt_set set = {&block, &a};
    struct strlist words = {0};
    int rc;

    opt_init(&set);
    rc = opt_parse_argv(&set, 1, argv, &words, err);
    if (rc == 0 && words.len != 1)
        rc = err_set(err, ERR_USAGE, "report takes one recording, not %zu",
                     words.len);
    if (rc == 0 && (a.truth || a.truth_file) && a.format != 0)
        rc = err_set(err, ERR_USAGE, "--truth goes with --format text");
    if (rc == 0)
        rc = trial_set_is_at(words.items[0])
                 ? report_trials(words.items[0], &a, err)
                 : report_one(words.items[0], &a, err);
    strlist_fini(&words);
    opt_fini(&set);
    return rc;
}

static const struct opt_block *const blocks[] = {&block, NULL};

const struct command cmd_report = {
    .name = "report",
    .usage = "RECORDING [FLAGS]",
    .help = "recompute every number from a recording or a trial set",
    .run = run,
    .blocks = blocks,
};
