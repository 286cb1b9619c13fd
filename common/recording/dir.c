#include "common/recording/dir.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/file.h"
#include "common/xalloc.h"

static const char *const files[] = {"manifest.json", "requests.tgr",
                                    "client.tgr",    "summary.json",
                                    "truth.tgr",     "truth-steps.tgr"};

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
    int rc;

    if (!dir[0])
        return err_set(err, ERR_USAGE, "--out: an empty name");
    if (file_make_dir(dir, err))
        return -1;
    rc = holds_anything(dir, err);
    if (rc <= 0)
        return rc;
    if (!force)
        return err_set(err, ERR_USAGE,
                       "%s: is not empty; --force replaces the recording in it",
                       dir);
    return remove_files(dir, err);
}

int recording_remove(const char *dir, struct err *err)
{
    if (remove_files(dir, err))
        return -1;
    return rmdir(dir) < 0 ? err_set(err, ERR_IO, "%s: %s", dir, strerror(errno))
                          : 0;
}
