#include "analyzer/read/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/dir.h"
#include "common/recording/schema.h"

static int open_requests(struct recording *rec, struct err *err)
{
    char *path = xasprintf("%s/requests.tgr", rec->dir);
    int rc = tgr_open(&rec->requests, path, &schema_requests, err);

    free(path);
    return rc;
}

/* Only runs with streams have events. */
static int open_events(struct recording *rec, struct err *err)
{
    char *path = xasprintf("%s/events.tgr", rec->dir);
    struct stat st;
    int rc = 0;

    if (stat(path, &st) == 0 || errno != ENOENT)
        rc = tgr_open(&rec->events, path, &schema_events, err);
    free(path);
    return rc;
}

static void begin(struct recording *rec, const char *dir)
{
    *rec = (struct recording){0};
    settings_init(&rec->settings);
    rec->dir = xstrdup(dir);
}

int recording_open_bare(struct recording *rec, const char *dir, struct err *err)
{
    begin(rec, dir);
    if (open_requests(rec, err)) {
        recording_close(rec);
        return -1;
    }
    return 0;
}

int recording_open(struct recording *rec, const char *dir, struct err *err)
{
    begin(rec, dir);
    if (recording_check(dir, err) || manifest_load(&rec->manifest, dir, err) ||
        manifest_settings(&rec->manifest, &rec->settings, err) ||
        open_requests(rec, err) || open_events(rec, err)) {
        recording_close(rec);
        return -1;
    }
    rec->has_end = manifest_end(&rec->manifest, &rec->end);
    return 0;
}

void recording_close(struct recording *rec)
{
    tgr_close(rec->requests);
    tgr_close(rec->events);
    manifest_fini(&rec->manifest);
    settings_fini(&rec->settings);
    free(rec->dir);
    *rec = (struct recording){0};
}

/* Sums of these counts must not overflow. */
static int check_ranges(struct recording *rec, const struct facts *rows,
                        size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct facts *f = &rows[i];

        if (f->more == 0)
            continue;
        if (f->outcome != OUTCOME_UNSENT || f->more < 0 ||
            f->more > READER_MAX_REQUESTS - rec->in_ranges || f->seq < 0 ||
            f->last_seq < f->seq || f->last_seq - f->seq < f->more)
            return err_set(
                err, ERR_FORMAT,
                "%s/requests.tgr: invalid range of unsent requests at "
                "place %lld",
                rec->dir, (long long)f->seq);
        rec->in_ranges += f->more;
    }
    return 0;
}

/* Times of sent requests vary too much for thousands of rows to take only a few
 * bytes each. */
static int check_sent(struct recording *rec, const struct facts *rows, size_t n,
                      struct err *err)
{
    if (tgr_block_bytes(rec->requests) >= READER_SENT_BYTES * n)
        return 0;
    for (size_t i = 0; i < n; i++)
        rec->dense_sent += rows[i].outcome != OUTCOME_UNSENT;
    if (rec->dense_sent <= READER_MAX_DENSE_SENT)
        return 0;
    return err_set(err, ERR_FORMAT,
                   "%s/requests.tgr: more than %d sent requests take less than "
                   "%d bytes each; it was not written by tailgate",
                   rec->dir, READER_MAX_DENSE_SENT, READER_SENT_BYTES);
}

int recording_next(struct recording *rec, const struct facts **rows, size_t *n,
                   struct err *err)
{
    const void *data = NULL;
    int rc = tgr_next(rec->requests, &data, n, err);

    *rows = data;
    if (rc > 0 &&
        (check_ranges(rec, data, *n, err) || check_sent(rec, data, *n, err)))
        return -1;
    return rc;
}

int recording_next_events(struct recording *rec, struct event_rows *out,
                          struct err *err)
{
    const void *data = NULL;
    uint64_t skipped;
    int rc;

    *out = (struct event_rows){0};
    if (!rec->events)
        return 0;
    skipped = tgr_damage(rec->events).skipped_bytes;
    rc = tgr_next(rec->events, &data, &out->n, err);
    out->rows = data;
    out->shard = tgr_shard(rec->events);
    out->is_after_damage = tgr_damage(rec->events).skipped_bytes != skipped;
    return rc;
}

struct tgr_damage recording_damage(const struct recording *rec)
{
    struct tgr_damage damage = tgr_damage(rec->requests);

    if (rec->events) {
        struct tgr_damage events = tgr_damage(rec->events);

        damage.skipped_bytes += events.skipped_bytes;
        damage.cut_off_bytes += events.cut_off_bytes;
    }
    return damage;
}

int recording_rewind(struct recording *rec, struct err *err)
{
    tgr_close(rec->requests);
    tgr_close(rec->events);
    rec->requests = NULL;
    rec->events = NULL;
    rec->in_ranges = 0;
    rec->dense_sent = 0;
    return open_requests(rec, err) || open_events(rec, err) ? -1 : 0;
}
