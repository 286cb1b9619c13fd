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
    char *manifest = xasprintf("%s/manifest.json", dir);
    struct stat st;
    int rc = stat(manifest, &st);

    free(manifest);

    if (stat(dir, &st) < 0)
        return err_set(err, ERR_CONFIG, "%s: %s", dir, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERR_CONFIG, "%s: not a recording (a directory)",
                       dir);
    if (rc < 0)
        return err_set(err, ERR_CONFIG,
                       "%s: not a recording (no manifest.json)", dir);
    return 0;
}

static int open_requests(struct recording *rec, struct err *err)
{
    char *path = xasprintf("%s/requests.tgr", rec->dir);
    int rc = tgr_open(&rec->requests, path, &schema_requests, err);

    free(path);
    return rc;
}

int recording_open(struct recording *rec, const char *dir, struct err *err)
{
    *rec = (struct recording){0};
    settings_init(&rec->settings);
    rec->dir = xstrdup(dir);
    if (check_dir(dir, err) || manifest_load(&rec->manifest, dir, err) ||
        manifest_settings(&rec->manifest, &rec->settings, err) ||
        open_requests(rec, err)) {
        recording_close(rec);
        return -1;
    }
    rec->has_end = manifest_end(&rec->manifest, &rec->end);
    return 0;
}

void recording_close(struct recording *rec)
{
    tgr_close(rec->requests);
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
    return open_requests(rec, err);
}
