#include "analyzer/read/reader.h"
#include "analyzer/report/run_doc.h"
#include "analyzer/tally/summary.h"
#include "cli/cli.h"
#include "cli/report_out.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/recording/merge.h"

struct merge_args {
    char *out;
    bool force;
    bool verbose;
};

#define AT(field) offsetof(struct merge_args, field)

/* clang-format off */
static const struct opt opts[] = {
    {FLAG("out", text, out), .letter = 'o',
     .help = "directory of the merged recording"},
    {FLAG("force", switch, force),
     .help = "replace a recording that exists there"},
    {FLAG("verbose", switch, verbose), .letter = 'v',
     .help = "also print the whole report of the merged recording"},
};
/* clang-format on */

static const struct opt_block block = {"merge", opts,
                                       sizeof(opts) / sizeof(opts[0])};

static int print_report(const char *dir, struct err *err)
{
    struct recording rec;
    struct summary s;
    int rc = recording_open(&rec, dir, err);

    if (rc)
        return -1;
    rc = summary_make(&s, &rec, NULL, err);
    if (rc == 0)
        rc = report_print_doc(run_doc(&s), DOC_AS_TEXT, 0, err);
    summary_fini(&s);
    recording_close(&rec);
    return rc;
}

/* A merged recording that lacks something is kept, and is not a success. */
static int merge(void *args, const struct strlist *words, struct err *err)
{
    const struct merge_args *a = args;
    struct merge_result r = {0};
    int rc;

    if (!a->out || words->len == 0)
        return err_set(err, ERR_USAGE,
                       "merge requires the directories of the shards, and -o "
                       "DIR for the result");
    rc = merge_recordings(words, a->out, a->force ? MERGE_REPLACE : MERGE_NEW,
                          &r, err);
    for (size_t i = 0; i < r.flaws.len; i++)
        log_error("%s: its missing requests count as unfinished",
                  r.flaws.items[i]);
    if (rc == 0 && a->verbose)
        rc = print_report(a->out, err);
    if (rc == 0) {
        log_note("merged     %lld of %lld shards, %lld requests",
                 (long long)r.n, (long long)r.of, (long long)r.requests);
        log_note("recording  %s/  (report: tailgate report %s)", a->out,
                 a->out);
        rc = r.flaws.len > 0 ? EXIT_INVALID : EXIT_YES;
    }
    merge_result_fini(&r);
    return rc;
}

static const struct opt_block *const blocks[] = {&block, NULL};

const struct command cmd_merge = {
    .name = "merge",
    .usage = "DIR... -o DIR",
    .help = "make one recording from the shards of a run",
    .answer = merge,
    .args_size = sizeof(struct merge_args),
    .blocks = blocks,
};
