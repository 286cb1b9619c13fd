#include "common/recording/dir.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/xalloc.h"

static const char *const files[] = {"manifest.json", "requests.tgr",
                                    "client.tgr",    "summary.json",
                                    "truth.tgr",     "truth-steps.tgr"};

static int make_path(char *path, struct err *err)
{
    for (char *p = path + 1;; p++) {
        char c = *p;

        if (c != '/' && c != '\0')
            continue;
        *p = '\0';
        if (mkdir(path, 0777) < 0 && errno != EEXIST)
            return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
        *p = c;
        if (c == '\0')
            return 0;
    }
}

/* 1 if it holds anything. */
static int holds_anything(const char *dir, struct err *err)
{
    DIR *d = opendir(dir);
    const struct dirent *entry;
    int found = 0;

    if (!d)
        return err_set(err, ERR_IO, "%s: %s", dir, strerror(errno));
    /* No other thread has this stream, and readdir_r is deprecated. */
    /* cppcheck-suppress readdirCalled */
    while (!found && (entry = readdir(d)))
        found =
            strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(d);
    return found;
}

static int remove_files(const char *dir, struct err *err)
{
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char *path = xasprintf("%s/%s", dir, files[i]);
        int rc = unlink(path) < 0 && errno != ENOENT
                     ? err_set(err, ERR_IO, "%s: %s", path, strerror(errno))
                     : 0;

        free(path);
        if (rc)
            return rc;
    }
    return 0;
}

int recording_make_dir(const char *dir, bool force, struct err *err)
{
    char *path;
    int rc;

    if (!dir[0])
        return err_set(err, ERR_USAGE, "--out: an empty name");
    path = xstrdup(dir);
    rc = make_path(path, err);
    free(path);
    if (rc)
        return rc;
    rc = holds_anything(dir, err);
    if (rc <= 0)
        return rc;
    if (!force)
        return err_set(err, ERR_USAGE,
                       "%s: is not empty; --force replaces the recording in it",
                       dir);
    return remove_files(dir, err);
}
