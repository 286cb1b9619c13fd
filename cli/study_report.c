#include "cli/study_report.h"

#include "analyzer/report/search_report.h"
#include "analyzer/report/sweep_report.h"
#include "analyzer/search/search_read.h"
#include "analyzer/studies/sweep.h"
#include "cli/cli.h"
#include "common/base/buf.h"
#include "common/base/file.h"

#define MAX_REPORT ((size_t)16 << 20)

struct report {
    struct buf data; /* as JSON */
    struct buf text;
};

static void report_init(struct report *r)
{
    buf_init(&r->data, MAX_REPORT);
    buf_init(&r->text, MAX_REPORT);
}

/* And ends it. */
static int report_out(struct report *r, const char *dir,
                      const struct study_ask *ask, struct err *err)
{
    int rc =
        ask->saves ? file_replace_in(dir, "summary.json", &r->data, err) : 0;

    if (rc == 0)
        rc = cli_print(buf_text(ask->json ? &r->data : &r->text), err);
    buf_fini(&r->data);
    buf_fini(&r->text);
    return rc;
}

int sweep_report(const char *dir, const struct study_ask *ask, struct err *err)
{
    struct sweep_summary s;
    struct report r;
    int rc = sweep_read(&s, dir, ask->slo, ask->cost, err);

    if (rc == 0) {
        report_init(&r);
        sweep_json(&s, &r.data);
        sweep_text(&s, &r.text);
        rc = report_out(&r, dir, ask, err);
    }
    if (rc == 0)
        rc = exit_status_of_sweep(&s);
    sweep_summary_fini(&s);
    return rc;
}

int search_report(const char *dir, const struct study_ask *ask, struct err *err)
{
    struct search_summary s;
    struct report r;
    int rc = search_read(&s, dir, ask->slo, err);

    if (rc == 0) {
        report_init(&r);
        search_json(&s, &r.data);
        search_text(&s, &r.text);
        rc = report_out(&r, dir, ask, err);
    }
    if (rc == 0)
        rc = exit_status_of_search(&s);
    search_summary_fini(&s);
    return rc;
}
