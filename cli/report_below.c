#include "cli/report_below.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/read/reader.h"
#include "analyzer/studies/baseline.h"
#include "analyzer/verdict/truth.h"
#include "cli/cli.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/xalloc.h"

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
            err->code = ERR_CONFIG; /* it was named, and is none */
    } else if (file)
        rc = err_set(err, ERR_CONFIG, "--truth-file: %s: %s", file,
                     strerror(errno));
    else
        rc = err_set(err, ERR_CONFIG,
                     "%s: no truth log; a stub beside the run (stub:) leaves "
                     "one, and --truth-file names another",
                     path);
    free(own);
    return rc;
}

int report_add_against(const char *dir, const char *baseline, struct buf *out,
                       struct err *err)
{
    char why[BASELINE_WHY] = "";
    struct baseline b = {0};
    struct against against = {0};
    int rc = baseline_load(&b, baseline, why, err);

    if (rc == 0)
        rc = against_make(&against, &b, dir, err);
    if (rc == 0) {
        against_text(&against, out);
    } else if (rc > 0) {
        log_error("%s", why);
        rc = EXIT_INVALID;
    }
    against_fini(&against);
    baseline_fini(&b);
    return rc;
}
