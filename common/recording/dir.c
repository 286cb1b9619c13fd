#include "common/recording/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"

static const char *const files[] = {
    "manifest.json",   "requests.tgr",  "events.tgr",   "client.tgr",
    "server.tgr",      "meter.tgr",     "summary.json", "truth.tgr",
    "truth-steps.tgr", "answers.jsonl", "server.log"};

static bool is_any(const char *name)
{
    (void)name;
    return true;
}

/* Part of a recording, or left behind by a crash while one was written. */
static bool is_ours(const char *name)
{
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (strcmp(name, files[i]) == 0 || file_is_temporary(name, files[i]))
            return true;
    }
    return false;
}

int recording_holds_anything(const char *dir, struct err *err)
{
    struct strlist names = {0};
    int rc = file_list_dir(dir, is_any, &names, err);

    if (rc == 0)
        rc = names.len > 0;
    strlist_fini(&names);
    return rc;
}

static int remove_files(const char *dir, struct err *err)
{
    struct strlist names = {0};
    int rc = file_list_dir(dir, is_ours, &names, err);

    for (size_t i = 0; rc == 0 && i < names.len; i++) {
        char *path = xasprintf("%s/%s", dir, names.items[i]);

        if (unlink(path) < 0 && errno != ENOENT)
            rc = err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
        free(path);
    }
    strlist_fini(&names);
    return rc;
}

int recording_make_place(const char *dir, struct err *err)
{
    bool is_below_runs =
        strncmp(dir, RECORDING_RUNS "/", strlen(RECORDING_RUNS "/")) == 0;

    if (!dir[0])
        return err_set(err, ERR_USAGE, "--out: the name is empty");
    if (is_below_runs && mkdir(RECORDING_RUNS, 0777) < 0 && errno != EEXIST)
        return err_set(err, ERR_IO, RECORDING_RUNS ": %s", strerror(errno));
    if (mkdir(dir, 0777) < 0 && errno != EEXIST)
        return err_set(err, ERR_IO, "%s: %s", dir, strerror(errno));
    return 0;
}

/* Any file of a recording counts: a run may have died before it had a manifest.
 * If two runs start at once, only one can create requests.tgr. */
int recording_make_dir(const char *dir, bool force, struct err *err)
{
    struct strlist names = {0};
    bool has_recording;
    char *path;
    int error;
    int fd;
    int rc;

    if (recording_make_place(dir, err))
        return -1;
    rc = recording_holds_anything(dir, err);
    if (rc > 0) {
        has_recording =
            file_list_dir(dir, is_ours, &names, &(struct err){0}) == 0 &&
            names.len > 0;
        strlist_fini(&names);
        if (!has_recording)
            return err_set(err, ERR_USAGE,
                           "%s: is not empty and does not contain a recording "
                           "to replace",
                           dir);
        if (!force)
            return err_set(
                err, ERR_USAGE,
                "%s: is not empty; --force replaces the recording in it", dir);
        rc = remove_files(dir, err);
    }
    if (rc)
        return -1;
    path = xasprintf("%s/requests.tgr", dir);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    error = errno;
    free(path);
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    if (error == EEXIST)
        return err_set(err, ERR_USAGE, "%s: another run has just created it",
                       dir);
    return err_set(err, ERR_IO, "%s: %s", dir, strerror(error));
}

int recording_remove(const char *dir, struct err *err)
{
    if (remove_files(dir, err))
        return -1;
    return rmdir(dir) < 0 ? err_set(err, ERR_IO, "%s: %s", dir, strerror(errno))
                          : 0;
}

static bool has_file(const char *dir, const char *name)
{
    char *path = xasprintf("%s/%s", dir, name);
    bool is_present = access(path, F_OK) == 0;

    free(path);
    return is_present;
}

bool recording_is_at(const char *dir)
{
    return has_file(dir, "manifest.json");
}

int recording_check(const char *dir, struct err *err)
{
    struct stat st;

    if (stat(dir, &st) < 0)
        return err_set(err, ERR_CONFIG, "%s: %s", dir, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERR_CONFIG, "%s: not a recording (not a directory)",
                       dir);
    if (recording_is_at(dir))
        return 0;
    if (has_file(dir, "requests.tgr"))
        return err_set(err, ERR_CONFIG,
                       "%s: manifest.json is missing; tailgate report shows "
                       "what is left",
                       dir);
    return err_set(err, ERR_CONFIG, "%s: not a recording (no manifest.json)",
                   dir);
}
