#include "cli/study_report.h"

#include "analyzer/report/study_doc.h"
#include "analyzer/search/search_read.h"
#include "analyzer/studies/sweep.h"
#include "cli/exit_status.h"
#include "cli/report_html.h"
#include "cli/report_out.h"

int study_print(struct doc *taken, const char *dir, const struct study_ask *ask,
                int status, struct err *err)
{
    const struct report_to to = {
        .format = ask->json ? DOC_AS_JSON : DOC_AS_TEXT,
        .html = ask->html,
        .svg = ask->svg,
        .command = "report",
        .words = dir,
    };

    if (ask->saves && report_save_doc(taken, dir, err)) {
        doc_free(taken);
        return -1;
    }
    return report_doc(taken, &to, status, err);
}

int sweep_report(const char *dir, const struct study_ask *ask, struct err *err)
{
    struct sweep_summary s;
    int rc = sweep_read(&s, dir, ask->slo, ask->cost, err);

    if (rc == 0)
        rc =
            study_print(sweep_doc(&s), dir, ask, exit_status_of_sweep(&s), err);
    sweep_summary_fini(&s);
    return rc;
}

int search_report(const char *dir, const struct study_ask *ask, struct err *err)
{
    struct search_summary s;
    int rc = search_read(&s, dir, ask->slo, err);

    if (rc == 0)
        rc = study_print(search_doc(&s), dir, ask, exit_status_of_search(&s),
                         err);
    search_summary_fini(&s);
    return rc;
}
