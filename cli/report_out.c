#include "cli/report_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/profile/profile.h"
#include "analyzer/read/reader.h"
#include "analyzer/read/seconds.h"
#include "analyzer/report/render/render_trackers.h"
#include "analyzer/report/report.h"
#include "analyzer/report/run_doc.h"
#include "analyzer/studies/baseline.h"
#include "analyzer/studies/trials.h"
#include "analyzer/tally/summary.h"
#include "analyzer/verdict/checklist.h"
#include "analyzer/verdict/claim.h"
#include "analyzer/verdict/stub_truth.h"
#include "cli/cli.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/xalloc.h"
#include "common/recording/study_set.h"

#define MAX_REPORT ((size_t)16 << 20)
#define MAX_CLAIM  65536

/* ---- documents ---- */

const char *const report_plain_names[] = {"text", "json", "md", NULL};

int report_format(const struct output_args *output, const char *const *names,
                  enum doc_format *format, struct err *err)
{
    const char *name = names[output->format];
    bool is_text = strcmp(name, report_text.name) == 0;
    bool is_json = output->json || strcmp(name, report_json.name) == 0;

    *format = report_find(name)->format;
    if (!is_text && !is_json)
        return 0;
    if (output->json && !is_text && strcmp(name, report_json.name) != 0)
        return err_set(err, ERR_USAGE,
                       "--json cannot be combined with --format %s", name);
    *format = is_json           ? DOC_AS_JSON
              : output->verbose ? DOC_AS_TEXT
                                : DOC_AS_BRIEF;
    return is_json && output->verbose
               ? err_set(err, ERR_USAGE,
                         "--verbose cannot be combined with --json")
               : 0;
}

static int write_file(const char *file, const struct buf *text, struct err *err)
{
    if (text->overflowed)
        return err_set(err, ERR_IO, "%s: the report is too large", file);
    if (file_replace(file, text->data, text->len, err))
        return -1;
    log_note("written    %s", file);
    return 0;
}

int report_write(const struct doc *d, const struct output_args *output,
                 const char *name, struct err *err)
{
    struct buf out;
    int rc = 0;

    buf_init(&out, MAX_REPORT);
    if (output->md) {
        doc_render(d, DOC_AS_MARKDOWN, &out);
        rc = write_file(output->md, &out, err);
    }
    buf_reset(&out);
    if (rc == 0 && output->junit) {
        doc_render_junit(d, name, &out);
        rc = write_file(output->junit, &out, err);
    }
    buf_fini(&out);
    return rc;
}

void report_note_withheld(const struct doc *d, enum doc_format format)
{
    if (doc_is_for_trackers(format) && doc_withheld(d))
        log_error("no numbers for a tracker: %s", doc_withheld(d));
}

int report_print_doc(struct doc *taken, enum doc_format format, int status,
                     struct err *err)
{
    struct buf out;
    int rc;

    buf_init(&out, MAX_REPORT);
    report_note_withheld(taken, format);
    doc_put(taken, format, &out);
    rc = cli_print_report(&out, status, err);
    buf_fini(&out);
    return rc;
}

int report_save_doc(const struct doc *d, const char *dir, struct err *err)
{
    struct buf out;
    int rc;

    buf_init(&out, MAX_REPORT);
    doc_render(d, DOC_AS_JSON, &out);
    rc = file_replace_in(dir, "summary.json", &out, err);
    buf_fini(&out);
    return rc;
}

/* ---- one run ---- */

int report_write_run(const struct summary *s, const struct output_args *output,
                     struct err *err)
{
    struct doc *d = output->md || output->junit ? run_doc(s) : NULL;
    int rc = d ? report_write(d, output, s->dir, err) : 0;

    doc_free(d);
    return rc;
}

static int print_rows(struct recording *rec, const struct report_ops *ops,
                      struct buf *out, struct err *err)
{
    const struct facts *rows;
    size_t n;
    int rc = recording_rewind(rec, err);

    while (rc == 0 && cli_is_read() &&
           (rc = recording_next(rec, &rows, &n, err)) > 0) {
        buf_reset(out);
        ops->render_rows(rows, n, out);
        rc = cli_print(buf_text(out), err);
    }
    return rc;
}

static int print_seconds(const struct summary *s, struct recording *rec,
                         const struct report_ops *ops, struct err *err)
{
    struct window window = summary_window(s);
    struct good_table good;
    struct seconds_ask ask = {
        .range = window,
        .window = window,
        .measures = ops->second_measures,
        .render = ops->render_second,
        .good = &good,
        .put = cli_print,
    };
    int rc = good_table_init(&good, &s->slo, &rec->settings.classes, err);

    if (!ops->is_of_window)
        ask.range.start_ns = 0;
    if (rc == 0)
        rc = seconds_read(rec, &ask, err);
    good_table_fini(&good);
    return rc;
}

static int print_listed(const struct summary *s, const struct report_ops *ops,
                        bool detailed, struct err *err)
{
    struct profile p;
    int rc = profile_make(
        &p, profile_find(ops->profile), s,
        detailed ? PROFILE_LIST_PAUSES : PROFILE_LIST_REQUESTS, err);

    if (rc == 0)
        rc = ops->render_profile(&p, detailed, cli_print, err);
    profile_fini(&p);
    return rc;
}

int report_print_rows(const struct summary *s, const struct kept_hist *kept,
                      struct recording *rec, const struct report_ops *ops,
                      bool detailed, struct err *err)
{
    struct buf out;
    int rc;

    if (ops->render_profile)
        return print_listed(s, ops, detailed, err);
    buf_init(&out, MAX_REPORT);
    if (ops->render_hist)
        ops->render_hist(s, kept, &out);
    else
        ops->render_header(s, manifest_start_realtime_ns(&rec->manifest), &out);
    rc = cli_print(buf_text(&out), err);
    if (rc == 0 && ops->render_rows)
        rc = print_rows(rec, ops, &out, err);
    else if (rc == 0 && ops->render_second)
        rc = print_seconds(s, rec, ops, err);
    buf_fini(&out);
    return rc;
}

/* ---- instead of the whole report ---- */

int report_profile(const struct summary *s, const char *name,
                   enum doc_format format, struct err *err)
{
    struct profile p;

    if (profile_make(&p, profile_find(name), s, PROFILE_LIST_NONE, err))
        return -1;
    return report_print_doc(profile_doc(&p), format, exit_status_of_run(s),
                            err);
}

int report_checklist(const struct summary *s, const struct recording *rec,
                     enum doc_format format, struct err *err)
{
    struct checklist list;

    checklist_make(&list, s, &rec->manifest);
    return report_print_doc(checklist_doc(&list), format,
                            list.missing > 0 ? EXIT_NO : EXIT_YES, err);
}

int report_claim(const struct summary *s, const struct recording *rec,
                 struct err *err)
{
    struct buf out;
    int rc;

    buf_init(&out, MAX_CLAIM);
    run_claim(s, &rec->manifest, &out);
    rc = cli_print_report(&out, exit_status_of_run(s), err);
    buf_fini(&out);
    return rc;
}

static int claim_of(const struct trials_summary *set, struct recording *first,
                    const struct strlist *slo, const struct cost_ask *cost,
                    struct err *err)
{
    struct summary s;
    struct buf out;
    int rc;

    if (summary_make_priced(&s, first, slo, cost, err))
        return -1;
    buf_init(&out, MAX_CLAIM);
    trials_claim(set, &s, &first->manifest, &out);
    rc = cli_print_report(&out, exit_status_of_trials(set), err);
    buf_fini(&out);
    return rc;
}

int report_claim_set(const char *dir, const struct strlist *slo,
                     const struct cost_ask *cost, struct err *err)
{
    struct trials_summary set;
    struct recording first;
    char *path = NULL;
    int rc = trials_read(&set, dir, slo, cost, err);

    if (rc == 0) {
        path = study_trial_path(dir, trials_first(&set)->number);
        rc = recording_open(&first, path, err);
    }
    if (rc == 0) {
        rc = claim_of(&set, &first, slo, cost, err);
        recording_close(&first);
    }
    trials_summary_fini(&set);
    free(path);
    return rc;
}

/* ---- below a report ---- */

static int add_truth(struct recording *rec, const char *path, struct buf *out,
                     struct err *err)
{
    struct truth_report report;
    int rc = recording_rewind(rec, err);

    if (rc)
        return -1;
    rc = truth_compare(&report, rec, path, err);
    if (rc == 0)
        truth_print(&report, out);
    truth_report_fini(&report);
    return rc;
}

int report_add_truth(struct recording *rec, const char *file, struct buf *out,
                     struct err *err)
{
    char *own = xasprintf("%s/truth.tgr", rec->dir);
    const char *path = file ? file : own;
    int rc;

    if (access(path, R_OK) == 0) {
        rc = add_truth(rec, path, out, err);
        if (rc && file)
            err->code = ERR_CONFIG; /* the named file is not a truth log */
    } else if (file)
        rc = err_set(err, ERR_CONFIG, "--truth-file: %s: %s", file,
                     strerror(errno));
    else
        rc = err_set(err, ERR_CONFIG,
                     "%s: no truth log; only a run that starts its own stub "
                     "(block stub) has one; otherwise use --truth-file",
                     path);
    free(own);
    return rc;
}

int report_add_against(const char *dir, const char *baseline,
                       enum doc_format format, struct buf *out, struct err *err)
{
    char why[BASELINE_WHY] = "";
    struct baseline b = {0};
    struct against against = {0};
    int rc = baseline_load(&b, baseline, why, err);

    if (rc == 0)
        rc = against_make(&against, &b, dir, err);
    if (rc == 0) {
        if (format == DOC_AS_MARKDOWN) /* a heading needs an empty line */
            buf_adds(out, "\n");
        doc_put(against_doc(&against), format, out);
    } else if (rc > 0) {
        log_error("%s", why);
        rc = EXIT_INVALID;
    }
    against_fini(&against);
    baseline_fini(&b);
    return rc;
}
