#include "server-stub/truth_log.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"

#define BLOCK_ROWS 1024

/* One file, and the rows for its next block. */
struct table {
    struct tgr_writer *writer; /* NULL: not wanted */
    const struct tgr_schema *schema;
    size_t len;
    char *rows; /* BLOCK_ROWS of schema->row_size */
};

struct truth_log {
    struct table requests;
    struct table steps;
    struct err err;       /* the first failure */
    int64_t next_tick_ns; /* of the next write, however few the rows */
};

static int table_init(struct table *t, const char *path,
                      const struct tgr_schema *schema, struct err *err)
{
    t->schema = schema;
    t->rows = xcalloc(BLOCK_ROWS, schema->row_size);
    return tgr_create(&t->writer, path, schema, err);
}

bool truth_log_has_failed(const struct truth_log *log)
{
    return log->err.code != ERR_NONE;
}

static void table_write(struct truth_log *log, struct table *t)
{
    if (t->len > 0 && !truth_log_has_failed(log))
        tgr_append(t->writer, 0, t->rows, t->len, &log->err);
    t->len = 0;
}

static void table_add(struct truth_log *log, struct table *t, const void *row)
{
    memcpy(t->rows + t->len * t->schema->row_size, row, t->schema->row_size);
    if (++t->len == BLOCK_ROWS)
        table_write(log, t);
}

static void table_fini(struct truth_log *log, struct table *t)
{
    struct err late = {0};

    table_write(log, t);
    if (tgr_finish(t->writer, &late) && !truth_log_has_failed(log))
        log->err = late;
    free(t->rows);
}

struct truth_log *truth_log_new(const char *path, bool with_steps,
                                struct err *err)
{
    struct truth_log *log = xcalloc(1, sizeof(*log));
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(path, '.');
    size_t len =
        dot && (!slash || dot > slash) ? (size_t)(dot - path) : strlen(path);
    char *steps = xasprintf("%.*s-steps%s", (int)len, path, path + len);
    int rc = table_init(&log->requests, path, &schema_truth, err);

    if (rc == 0 && with_steps)
        rc = table_init(&log->steps, steps, &schema_truth_steps, err);
    free(steps);
    if (rc == 0)
        return log;
    truth_log_free(log, &(struct err){0});
    return NULL;
}

void truth_log_add(struct truth_log *log, const struct truth *row)
{
    table_add(log, &log->requests, row);
}

void truth_log_add_step(struct truth_log *log, const struct truth_step *row)
{
    table_add(log, &log->steps, row);
}

void truth_log_tick(struct truth_log *log, int64_t now_ns)
{
    if (now_ns < log->next_tick_ns)
        return;
    table_write(log, &log->requests);
    table_write(log, &log->steps);
    log->next_tick_ns = now_ns + NS_PER_S;
}

int truth_log_free(struct truth_log *log, struct err *err)
{
    int rc = 0;

    if (!log)
        return 0;
    table_fini(log, &log->requests);
    table_fini(log, &log->steps);
    if (truth_log_has_failed(log)) {
        *err = log->err;
        rc = -1;
    }
    free(log);
    return rc;
}
