#include "cli/study_report.h"

#include "cli/exit_status.h"
#include "cli/report_html.h"

int study_report(const char *dir, enum study_kind kind,
                 const struct study_ask *ask, struct err *err)
{
    const struct report_to to = {
        .format = ask->format,
        .output = ask->output,
        .is_recorded = true,
        .page = ask->page,
        .command = "report",
        .words = dir,
        .again = ask->again,
    };
    int64_t stopped_by = 0;
    struct doc *d = study_doc_of(dir, kind, &ask->judge, &stopped_by, err);

    if (!d)
        return -1;
    if (ask->saves && report_save_doc(d, dir, err)) {
        doc_free(d);
        return -1;
    }
    if (ask->conclusion)
        *ask->conclusion = doc_conclusion(d);
    return report_doc(d, &to, exit_status_of(doc_conclusion(d), stopped_by),
                      err);
}
