#include "cli/report_out.h"

#include <stdlib.h>

#include "analyzer/reader.h"
#include "analyzer/report/report.h"
#include "cli/cli.h"
#include "common/buf.h"
#include "common/file.h"
#include "common/xalloc.h"

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

int report_print_rows(struct recording *rec, const struct report_ops *ops,
                      struct err *err)
{
    const struct facts *rows;
    struct buf out;
    size_t n;
    int rc;

    buf_init(&out, MAX_REPORT);
    rc = recording_rewind(rec, err);
    if (rc == 0)
        ops->render_header(&out);
    while (rc == 0 && (rc = cli_print(buf_text(&out), err)) == 0 &&
           (rc = recording_next(rec, &rows, &n, err)) > 0) {
        buf_reset(&out);
        ops->render_rows(rows, n, &out);
        rc = 0;
    }
    buf_fini(&out);
    return rc;
}

int report_save(const struct summary *s, const char *dir, struct err *err)
{
    char *path = xasprintf("%s/summary.json", dir);
    struct buf out;
    int rc;

    buf_init(&out, MAX_REPORT);
    report_json.render(s, &out);
    rc = file_replace(path, buf_text(&out), out.len, err);
    buf_fini(&out);
    free(path);
    return rc;
}
