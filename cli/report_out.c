#include "cli/report_out.h"

#include <stdlib.h>

#include "analyzer/profile/profile.h"
#include "analyzer/read/reader.h"
#include "analyzer/read/seconds.h"
#include "analyzer/report/report.h"
#include "analyzer/tally/summary.h"
#include "cli/cli.h"
#include "common/base/buf.h"

#define MAX_REPORT ((size_t)16 << 20)

int report_print(const struct summary *s, const struct report_ops *ops,
                 struct err *err)
{
    struct buf out;
    int rc;

    buf_init(&out, MAX_REPORT);
    ops->render(s, &out);
    rc = cli_print(buf_text(&out), err);
    buf_fini(&out);
    return rc;
}

static int print_hist(const struct summary *s, const struct kept_hist *kept,
                      const struct report_ops *ops, struct err *err)
{
    struct buf out;
    int rc;

    buf_init(&out, MAX_REPORT);
    ops->render_hist(s, kept, &out);
    rc = cli_print(buf_text(&out), err);
    buf_fini(&out);
    return rc;
}

static int print_header(const struct summary *s, const struct recording *rec,
                        const struct report_ops *ops, struct err *err)
{
    struct buf out;
    int rc;

    buf_init(&out, MAX_REPORT);
    ops->render_header(s, manifest_start_realtime_ns(&rec->manifest), &out);
    rc = cli_print(buf_text(&out), err);
    buf_fini(&out);
    return rc;
}

static int print_rows(struct recording *rec, const struct report_ops *ops,
                      struct err *err)
{
    const struct facts *rows;
    struct buf out;
    size_t n;
    int rc = recording_rewind(rec, err);

    buf_init(&out, MAX_REPORT);
    while (rc == 0 && (rc = recording_next(rec, &rows, &n, err)) > 0) {
        buf_reset(&out);
        ops->render_rows(rows, n, &out);
        rc = cli_print(buf_text(&out), err);
    }
    buf_fini(&out);
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

int report_print_profile(const struct summary *s, const char *name,
                         const struct report_ops *ops, struct err *err)
{
    struct profile p;
    struct buf out;
    int rc = profile_make(&p, profile_find(name), s, PROFILE_LIST_NONE, err);

    if (rc)
        return -1;
    buf_init(&out, MAX_REPORT);
    if (ops == &report_json)
        profile_json(&p, &out);
    else
        profile_text(&p, &out);
    rc = cli_print(buf_text(&out), err);
    buf_fini(&out);
    return rc;
}

int report_print_any(const struct summary *s, const struct kept_hist *kept,
                     struct recording *rec, const struct report_ops *ops,
                     bool detailed, struct err *err)
{
    if (ops->render)
        return report_print(s, ops, err);
    if (ops->render_profile)
        return print_listed(s, ops, detailed, err);
    if (ops->render_hist)
        return print_hist(s, kept, ops, err);
    if (print_header(s, rec, ops, err))
        return -1;
    return ops->render_rows ? print_rows(rec, ops, err)
                            : print_seconds(s, rec, ops, err);
}
