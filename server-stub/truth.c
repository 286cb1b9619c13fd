#include "server-stub/truth.h"

#include <stdlib.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/recording/schema.h"
#include "common/xalloc.h"

#define BLOCK_ROWS 1024

struct truth_log {
    struct tgr_writer *writer;
    struct err err;       /* the first failure */
    int64_t next_tick_ns; /* write then, however few there are */
    size_t len;
    struct truth rows[BLOCK_ROWS];
};

struct truth_log *truth_log_new(const char *path, struct err *err)
{
    struct truth_log *log = xcalloc(1, sizeof(*log));

    if (!tgr_create(&log->writer, path, &schema_truth, err))
        return log;
    free(log);
    return NULL;
}

bool truth_log_has_failed(const struct truth_log *log)
{
    return log->err.code != ERR_NONE;
}

static void write_block(struct truth_log *log)
{
    if (log->len > 0 && !truth_log_has_failed(log))
        tgr_append(log->writer, 0, log->rows, log->len, &log->err);
    log->len = 0;
}

void truth_log_add(struct truth_log *log, const struct truth *row)
{
    log->rows[log->len++] = *row;
    if (log->len == BLOCK_ROWS)
        write_block(log);
}

void truth_log_tick(struct truth_log *log, int64_t now_ns)
{
    if (now_ns < log->next_tick_ns)
        return;
    write_block(log);
    log->next_tick_ns = now_ns + NS_PER_S;
}

int truth_log_free(struct truth_log *log, struct err *err)
{
    struct err late = {0};
    int rc;

    if (!log)
        return 0;
    write_block(log);
    rc = tgr_finish(log->writer, &late);
    if (rc || truth_log_has_failed(log)) {
        *err = truth_log_has_failed(log) ? log->err : late;
        rc = -1;
    }
    free(log);
    return rc;
}
