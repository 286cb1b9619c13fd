/* The tables: blocks of all shards in one order.  The manifest is made in
 * merge_manifest.c. */
#include "common/recording/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "common/recording/dir.h"
#include "common/recording/merge_impl.h"
#include "common/recording/schema.h"
#include "common/text/json.h"

#define COPY_STEP ((size_t)256 << 10)

/* A table of which the blocks of all shards are merged. */
struct table {
    const char *file;
    const struct tgr_schema *schema;
    bool is_optional;

    /* The time at which a row was complete. */
    int64_t (*ended_at)(const void *row);

    /* Check and count a row of this shard.  Optional. */
    int (*see)(struct merge *m, const struct merge_input *in, const void *row,
               struct err *err);
};

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- rows ---- */

static int64_t request_time(const void *row)
{
    const struct facts *f = row;

    return f->end == TIME_ABSENT ? f->due : f->end;
}

static int64_t event_time(const void *row)
{
    return ((const struct content_event *)row)->at_us;
}

static int64_t client_time(const void *row)
{
    return ((const struct observation *)row)->at;
}

static int see_request(struct merge *m, const struct merge_input *in,
                       const void *row, struct err *err)
{
    struct merge_count *count = &m->count[in->shard];
    const struct facts *f = row;

    if (f->seq < 0 || shard_of_seq(m->layout, f->seq) != in->shard ||
        f->more < 0)
        return err_set(err, ERR_FORMAT,
                       "%s/requests.tgr: request %lld is not one of shard "
                       "%lld of %lld",
                       in->dir, (long long)f->seq, (long long)in->shard,
                       (long long)m->of);
    count->rows += facts_n(f);
    if (f->outcome == OUTCOME_UNSENT)
        count->unsent += facts_n(f);
    if (facts_count(f->events) > 0)
        count->events += f->events;
    m->max_seq = later(m->max_seq, facts_last_seq(f));
    return 0;
}

static int see_event(struct merge *m, const struct merge_input *in,
                     const void *row, struct err *err)
{
    (void)row;
    (void)err;
    m->count[in->shard].events--;
    return 0;
}

static const struct table tables[] = {
    {"requests.tgr", &schema_requests, false, request_time, see_request},
    {"events.tgr", &schema_events, true, event_time, see_event},
    {"client.tgr", &schema_client, true, client_time, NULL},
};

/* ---- blocks ---- */

static void close_table(struct merge *m, struct merge_input *in)
{
    struct tgr_damage damage = tgr_damage(in->reader);

    if (!in->is_merged)
        m->count[in->id.index].damaged +=
            (int64_t)(damage.skipped_bytes + damage.cut_off_bytes);
    tgr_close(in->reader);
    in->reader = NULL;
}

/* Go to the next block of an input.  Its key is the largest time up to here, so
 * that the order of its blocks is kept; in a merged recording that gives the
 * key that the block had before. */
static int advance(struct merge *m, struct merge_input *in,
                   const struct table *t, struct err *err)
{
    const void *rows;
    size_t n;
    int rc = tgr_next(in->reader, &rows, &n, err);

    if (rc < 0)
        return -1;
    if (rc == 0) {
        struct tgr_damage damage = tgr_damage(in->reader);

        if (in->is_merged && damage.skipped_bytes + damage.cut_off_bytes > 0)
            return err_set(err, ERR_FORMAT,
                           "%s/%s: is damaged; merge its shards again", in->dir,
                           t->file);
        close_table(m, in);
        return 0;
    }
    in->tag = tgr_shard(in->reader);
    if (!in->is_merged)
        in->tag = (unsigned)(in->id.index + m->of * (int64_t)in->tag);
    in->shard = (int64_t)in->tag % m->of;
    if (in->tag >= RECORDING_MAX_SHARDS || !m->entry[in->shard])
        return err_set(err, ERR_FORMAT,
                       "%s/%s: worker %u of %lld shards is above the maximum "
                       "of %d, or its shard is not in the manifest",
                       in->dir, t->file, in->tag, (long long)m->of,
                       RECORDING_MAX_SHARDS);
    for (size_t i = 0; i < n; i++) {
        const void *row = (const char *)rows + i * t->schema->row_size;

        in->key = later(in->key, t->ended_at(row));
        if (t->see && t->see(m, in, row, err))
            return -1;
    }
    return 0;
}

/* Keeps reader NULL if there is no such table. */
static int open_table(struct merge *m, struct merge_input *in,
                      const struct table *t, struct err *err)
{
    char *path = xasprintf("%s/%s", in->dir, t->file);
    int rc = 0;

    if (!t->is_optional || access(path, F_OK) == 0)
        rc = tgr_open(&in->reader, path, t->schema, err);
    if (rc == 0 && in->reader && !tgr_has_same_columns(in->reader))
        rc = err_set(err, ERR_FORMAT,
                     "%s: has other columns than this version of tailgate "
                     "writes",
                     path);
    free(path);
    in->key = INT64_MIN;
    return rc == 0 && in->reader ? advance(m, in, t, err) : rc;
}

/* The input whose block is next; NULL: all are at their end. */
static struct merge_input *first(struct merge *m)
{
    struct merge_input *best = NULL;

    for (size_t i = 0; i < m->n_inputs; i++) {
        struct merge_input *in = &m->inputs[i];

        if (in->reader && (!best || in->key < best->key ||
                           (in->key == best->key && in->shard < best->shard)))
            best = in;
    }
    return best;
}

static int copy_blocks(struct merge *m, const struct table *t,
                       struct tgr_writer *writer, struct err *err)
{
    struct merge_input *in;

    while ((in = first(m))) {
        if (tgr_append_block(writer, in->tag, tgr_block(in->reader),
                             tgr_block_bytes(in->reader), err) ||
            advance(m, in, t, err))
            return -1;
    }
    return 0;
}

static int merge_table(struct merge *m, const struct table *t, const char *out,
                       struct err *err)
{
    char *path = xasprintf("%s/%s", out, t->file);
    struct tgr_writer *writer = NULL;
    struct err late = {0};
    bool has_any = !t->is_optional;
    int rc = 0;

    for (size_t i = 0; i < m->n_inputs && rc == 0; i++) {
        char *from = xasprintf("%s/%s", m->inputs[i].dir, t->file);

        has_any |= access(from, F_OK) == 0;
        free(from);
        rc = open_table(m, &m->inputs[i], t, err);
    }
    if (rc == 0 && has_any)
        rc = tgr_create(&writer, path, t->schema, err);
    if (rc == 0 && has_any)
        rc = copy_blocks(m, t, writer, err);
    if (tgr_finish(writer, &late) && rc == 0) {
        *err = late;
        rc = -1;
    }
    for (size_t i = 0; i < m->n_inputs; i++) {
        tgr_close(m->inputs[i].reader);
        m->inputs[i].reader = NULL;
    }
    free(path);
    return rc;
}

/* ---- tables that one shard has for all: the server is the same ---- */

static int copy_file(const char *from, const char *to, struct err *err)
{
    char *block = xcalloc(1, COPY_STEP);
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    ssize_t n = in < 0 || out < 0 ? -1 : 1;
    int rc = 0;

    while (n > 0) {
        n = read(in, block, COPY_STEP);
        if (n > 0 && file_write_all(out, block, (size_t)n))
            n = -1;
    }
    if (n < 0)
        rc = err_set(err, ERR_IO, "cannot copy %s to %s: %s", from, to,
                     strerror(errno));
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    free(block);
    return rc;
}

/* The first shard of an input that had the table. */
static int64_t owner(const struct merge_input *in, const char *table)
{
    for (size_t i = 0; i < json_array_size(in->entries); i++) {
        const json_t *entry = json_array_get(in->entries, i);

        if (merge_entry_has(entry, table))
            return json_integer_value(json_object_get(entry, "index"));
    }
    return INT64_MAX;
}

static int copy_table(const struct merge *m, const char *table, const char *out,
                      struct err *err)
{
    const struct merge_input *best = &m->inputs[0];
    char *from;
    char *to;
    int rc;

    for (size_t i = 1; i < m->n_inputs; i++) {
        if (owner(&m->inputs[i], table) < owner(best, table))
            best = &m->inputs[i];
    }
    if (owner(best, table) == INT64_MAX)
        return 0;
    from = xasprintf("%s/%s.tgr", best->dir, table);
    to = xasprintf("%s/%s.tgr", out, table);
    rc = copy_file(from, to, err);
    free(from);
    free(to);
    return rc;
}

/* ---- all of it ---- */

static void note_flaws(const struct merge *m, struct merge_result *r)
{
    r->of = m->of;
    for (int64_t i = 0; i < m->of; i++) {
        const struct merge_count *c = &m->count[i];
        int64_t lost = merge_entry_scheduled(m->entry[i]) - c->rows;
        char *text = NULL;

        r->n += m->entry[i] != NULL;
        r->requests += c->rows;
        if (!m->entry[i])
            text = xasprintf("shard %lld of %lld is missing", (long long)i,
                             (long long)m->of);
        else if (!merge_entry_has_end(m->entry[i]))
            text = xasprintf("shard %lld of %lld was killed", (long long)i,
                             (long long)m->of);
        else if (json_get_int(m->entry[i], "damaged_bytes", c->damaged) > 0)
            text = xasprintf("shard %lld of %lld is damaged", (long long)i,
                             (long long)m->of);
        else if (lost > 0 || c->events > 0)
            text = xasprintf("shard %lld of %lld lacks %lld %s", (long long)i,
                             (long long)m->of,
                             (long long)(lost > 0 ? lost : c->events),
                             lost > 0 ? "requests" : "content events");
        if (text)
            strlist_add(&r->flaws, text);
        free(text);
    }
}

static int merge_into(struct merge *m, const char *out, struct err *err)
{
    struct manifest manifest = {0};
    int rc = 0;

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && rc == 0; i++)
        rc = merge_table(m, &tables[i], out, err);
    if (rc == 0)
        rc = copy_table(m, "server", out, err);
    if (rc == 0)
        rc = copy_table(m, "meter", out, err);
    if (rc == 0)
        rc = merge_manifest(m, &manifest, err);
    if (rc == 0)
        rc = manifest_save(&manifest, out, err);
    manifest_fini(&manifest);
    return rc;
}

static int by_first_shard(const void *a, const void *b)
{
    int64_t x = ((const struct merge_input *)a)->id.index;
    int64_t y = ((const struct merge_input *)b)->id.index;

    return (x > y) - (x < y);
}

int merge_recordings(const struct strlist *dirs, const char *out,
                     enum merge_out how, struct merge_result *result,
                     struct err *err)
{
    struct merge *m = xcalloc(1, sizeof(*m));
    bool has_dir = false;
    int rc = 0;

    *result = (struct merge_result){0};
    m->max_seq = -1;
    m->inputs = xcalloc(dirs->len, sizeof(*m->inputs));
    files_raise_limit();
    while (m->n_inputs < dirs->len && rc == 0) {
        const char *dir = dirs->items[m->n_inputs];

        if (file_is_same(dir, out))
            rc = err_set(err, ERR_USAGE,
                         "%s: cannot be merged into itself; use another "
                         "directory (-o)",
                         dir);
        else
            rc = merge_input_open(&m->inputs[m->n_inputs++], dir, err);
    }
    if (rc == 0) {
        qsort(m->inputs, m->n_inputs, sizeof(*m->inputs), by_first_shard);
        rc = merge_check(m, err);
    }
    if (rc == 0 && how != MERGE_INTO) {
        rc = recording_make_dir(out, how == MERGE_REPLACE, err);
        has_dir = rc == 0;
    }
    if (rc == 0)
        rc = merge_into(m, out, err);
    if (rc == 0)
        note_flaws(m, result);
    else if (has_dir)
        recording_remove(out, &(struct err){0});
    for (size_t i = 0; i < m->n_inputs; i++) {
        manifest_fini(&m->inputs[i].manifest);
        json_decref(m->inputs[i].entries);
    }
    free(m->inputs);
    free(m);
    return rc;
}

void merge_result_fini(struct merge_result *result)
{
    strlist_fini(&result->flaws);
}
