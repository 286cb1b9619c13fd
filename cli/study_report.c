#include "cli/study_report.h"

#include "analyzer/report/sweep_report.h"
#include "analyzer/sweep.h"
#include "cli/cli.h"
#include "common/buf.h"
#include "common/file.h"

#define MAX_REPORT ((size_t)16 << 20)

static int save(const char *dir, const struct buf *json, struct err *err)
{
    return file_replace_in(dir, "summary.json", json, err);
}

int sweep_report(const char *dir, const struct strlist *slo, bool json,
                 bool saves, struct err *err)
{
    struct sweep_summary s;
    struct buf data;
    struct buf text;
    int rc = sweep_read(&s, dir, slo, err);

    buf_init(&data, MAX_REPORT);
    buf_init(&text, MAX_REPORT);
    if (rc == 0) {
        sweep_json(&s, &data);
        sweep_text(&s, &text);
        rc = saves ? save(dir, &data, err) : 0;
    }
    if (rc == 0)
        rc = cli_print(buf_text(json ? &data : &text), err);
    if (rc == 0)
        rc = sweep_exit_code(&s);
    buf_fini(&text);
    buf_fini(&data);
    sweep_summary_fini(&s);
    return rc;
}
