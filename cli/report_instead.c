#include "cli/report_instead.h"

#include <stdlib.h>

#include "analyzer/read/reader.h"
#include "analyzer/studies/trials.h"
#include "analyzer/verdict/checklist.h"
#include "analyzer/verdict/claim.h"
#include "cli/cli.h"
#include "common/base/buf.h"
#include "common/recording/study_set.h"

#define MAX_TEXT 65536

int report_checklist(const struct summary *s, const struct recording *rec,
                     bool json, struct err *err)
{
    struct checklist list;
    struct buf out;
    int rc;

    checklist_make(&list, s, &rec->manifest);
    buf_init(&out, MAX_TEXT);
    if (json)
        checklist_json(&list, &out);
    else
        checklist_text(&list, &out);
    rc = cli_print_report(&out, list.missing > 0 ? EXIT_NO : EXIT_YES, err);
    buf_fini(&out);
    return rc;
}

int report_claim(const struct summary *s, const struct recording *rec,
                 struct err *err)
{
    struct buf out;
    int rc;

    buf_init(&out, MAX_TEXT);
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
    buf_init(&out, MAX_TEXT);
    trials_claim(set, &s, &first->manifest, &out);
    rc = cli_print_report(&out, exit_status_of_trials(set), err);
    buf_fini(&out);
    summary_fini(&s);
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
