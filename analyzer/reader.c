#include "analyzer/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/recording/schema.h"
#include "common/xalloc.h"

static int check_dir(const char *dir, struct err *err)
{
    struct stat st;

    if (stat(dir, &st) < 0)
        return err_set(err, ERR_CONFIG, "%s: %s", dir, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERR_CONFIG, "%s: not a recording (a directory)",
                       dir);
    return 0;
}

static int open_table(struct tgr_reader **reader, const char *dir,
                      const char *name, const struct tgr_schema *schema,
                      struct err *err)
{
    char *path = xasprintf("%s/%s", dir, name);
    int rc = tgr_open(reader, path, schema, err);

    free(path);
    return rc;
}

int recording_open(struct recording *rec, const char *dir, struct err *err)
{
    struct err ignored = {0};

    *rec = (struct recording){0};
    settings_init(&rec->settings);
    rec->dir = xstrdup(dir);
    if (check_dir(dir, err) || manifest_load(&rec->manifest, dir, err) ||
        manifest_settings(&rec->manifest, &rec->settings, err) ||
        open_table(&rec->requests, dir, "requests.tgr", &schema_requests, err))
        goto fail;
    rec->has_end = manifest_end(&rec->manifest, &rec->end);
    if (open_table(&rec->client, dir, "client.tgr", &schema_client, &ignored))
        rec->client = NULL;
    return 0;
fail:
    recording_close(rec);
    return -1;
}

void recording_close(struct recording *rec)
{
    tgr_close(rec->requests);
    tgr_close(rec->client);
    manifest_fini(&rec->manifest);
    settings_fini(&rec->settings);
    free(rec->dir);
    *rec = (struct recording){0};
}

int recording_next(struct recording *rec, const struct facts **rows, size_t *n,
                   struct err *err)
{
    const void *data = NULL;
    int rc = tgr_next(rec->requests, &data, n, err);

    *rows = data;
    return rc;
}

int recording_rewind(struct recording *rec, struct err *err)
{
    tgr_close(rec->requests);
    rec->requests = NULL;
    return open_table(&rec->requests, rec->dir, "requests.tgr",
                      &schema_requests, err);
}
