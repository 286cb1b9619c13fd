#include "common/recording/studydir.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/recording/dir.h"
#include "common/recording/study_set.h"
#include "common/settings/settings.h"
#include "common/text/json.h"

#define STUDY_VERSION 1

static const char *const kind_names[STUDY_KINDS] = {
    [STUDY_TRIALS] = "trials",     [STUDY_PAIR] = "pair",
    [STUDY_SWEEP] = "sweep",       [STUDY_SEARCH] = "search",
    [STUDY_VARIANTS] = "variants",
};

static const char *const launched_names[] = {
    [LAUNCHED_ONCE] = "once",
    [LAUNCHED_STUB] = "stub",
    [LAUNCHED_RESTART] = "restart",
    [LAUNCHED_SERVER] = "server",
    NULL,
};

const char *study_kind_name(enum study_kind kind)
{
    return kind_names[kind];
}

const char *launched_by_name(enum launched_by launched_by)
{
    return launched_names[launched_by];
}

enum launched_by launched_by_of(const char *name)
{
    for (int i = 0; launched_names[i]; i++) {
        if (strcmp(launched_names[i], name) == 0)
            return (enum launched_by)i;
    }
    return LAUNCHED_ONCE;
}

static char *study_path(const char *dir)
{
    return xasprintf("%s/study.json", dir);
}

bool study_is_at(const char *dir)
{
    char *path = study_path(dir);
    bool exists = access(path, F_OK) == 0;

    free(path);
    return exists;
}

void study_hash(const struct settings *s, char out[static STUDY_HASH])
{
    json_t *json = settings_to_json(s);
    char *text = json_dumps(json, JSON_COMPACT);

    snprintf(out, STUDY_HASH, "%016llx",
             (unsigned long long)fnv_bytes(FNV_START, text,
                                           text ? strlen(text) : 0));
    free(text);
    json_decref(json);
}

/* ---- study.json ---- */

int study_save_take(const char *dir, enum study_kind kind, json_t *json,
                    struct err *err)
{
    char *path = study_path(dir);
    json_t *whole = json_pack("{si, ss}", "version", STUDY_VERSION, "kind",
                              kind_names[kind]);
    int rc;

    json_object_update(whole, json);
    rc = json_write_file(path, whole, err);
    json_decref(whole);
    json_decref(json);
    free(path);
    return rc;
}

static int find_kind(const json_t *json, const char *dir, enum study_kind *kind,
                     struct err *err)
{
    const char *name = json_string_value(json_object_get(json, "kind"));

    if (json_get_int(json, "version", 0) != STUDY_VERSION)
        return err_set(err, ERR_FORMAT, "%s/study.json: unknown version", dir);
    for (int i = 0; name && i < STUDY_KINDS; i++) {
        if (strcmp(kind_names[i], name) == 0) {
            *kind = (enum study_kind)i;
            return 0;
        }
    }
    return err_set(err, ERR_FORMAT, "%s/study.json: unknown kind of study",
                   dir);
}

int study_load(const char *dir, json_t **json, enum study_kind *kind,
               struct err *err)
{
    char *path = study_path(dir);
    int rc = json_read_file(path, json, err);

    if (rc == 0 && find_kind(*json, dir, kind, err)) {
        json_decref(*json);
        rc = -1;
    }
    if (rc)
        *json = NULL;
    free(path);
    return rc;
}

int study_kind_at(const char *dir, enum study_kind *kind, struct err *err)
{
    json_t *json;

    if (study_load(dir, &json, kind, err))
        return -1;
    json_decref(json);
    return 0;
}

int study_check_lost(const char *dir, struct err *err)
{
    static const char *const parts[] = {"trial-1", "point-1", "look-1",
                                        "probe-1"};
    char *path = study_path(dir);
    const char *why = json_loss(path);
    int rc = 0;

    free(path);
    for (size_t i = 0; why && rc == 0 && i < sizeof(parts) / sizeof(parts[0]);
         i++) {
        char *part = xasprintf("%s/%s", dir, parts[i]);

        if (access(part, F_OK) == 0)
            rc = err_set(err, ERR_FORMAT,
                         "%s: study.json %s, so the runs cannot be evaluated "
                         "together; a single one can: tailgate report %s",
                         dir, why, part);
        free(part);
    }
    return rc;
}

int study_refuse_empty(const char *dir, const char *part, struct err *err)
{
    char *begun = study_part_with(dir, "manifest.json");

    if (begun)
        err_set(err, ERR_UNTOLD,
                "%s: no %s was completed; to see what the first one recorded: "
                "tailgate report %s",
                dir, part, begun);
    else
        err_set(err, ERR_UNTOLD, "%s: no %s was recorded", dir, part);
    free(begun);
    return -1;
}

/* The name of its first part, borrowed; NULL: none. */
static const char *first_part(const json_t *json, enum study_kind kind)
{
    static const char *const parts[STUDY_KINDS] = {
        [STUDY_TRIALS] = "trial-1",
        [STUDY_PAIR] = "a",
        [STUDY_SWEEP] = "point-1",
        [STUDY_SEARCH] = "probe-1",
    };
    const json_t *list = json_object_get(json, "variants");

    return kind == STUDY_VARIANTS ? json_string_value(json_object_get(
                                        json_array_get(list, 0), "name"))
                                  : parts[kind];
}

/* Its first recording, owned by the caller; NULL: none. */
static char *first_recording(const char *dir)
{
    char *path = xstrdup(dir);

    /* A variant may be a set of trials, and so is each side of a pair. */
    for (int depth = 0; path && depth < 2 && !recording_is_at(path); depth++) {
        enum study_kind kind;
        json_t *json;
        const char *part = study_load(path, &json, &kind, &(struct err){0})
                               ? NULL
                               : first_part(json, kind);
        char *below = part ? xasprintf("%s/%s", path, part) : NULL;

        json_decref(json);
        free(path);
        path = below;
    }
    if (path && !recording_is_at(path)) {
        free(path);
        path = NULL;
    }
    return path;
}

int study_refuse_as_run(const char *dir, struct err *err)
{
    static const char *const names[STUDY_KINDS] = {
        [STUDY_TRIALS] = "set of trials",
        [STUDY_PAIR] = "pair of trial sets",
        [STUDY_SWEEP] = "sweep",
        [STUDY_SEARCH] = "search",
        [STUDY_VARIANTS] = "set of variants",
    };
    enum study_kind kind;
    char *first;

    if (study_kind_at(dir, &kind, err))
        return -1;
    first = first_recording(dir);
    err_set(err, ERR_CONFIG, "%s is a %s: name one of its recordings%s%s", dir,
            names[kind], first ? ", such as " : "", first ? first : "");
    free(first);
    return -1;
}

/* ---- the directory ---- */

static int remove_file(const char *dir, const char *name, struct err *err)
{
    char *path = xasprintf("%s/%s", dir, name);
    int rc = unlink(path) < 0 && errno != ENOENT
                 ? err_set(err, ERR_IO, "%s: %s", path, strerror(errno))
                 : 0;

    free(path);
    return rc;
}

/* Does study.json name it as a part of the study? */
static bool is_listed(const json_t *json, const char *name)
{
    static const char *const lists[] = {"sets", "variants"};

    for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++) {
        const json_t *list = json_object_get(json, lists[k]);

        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *item = json_array_get(list, i);
            const char *listed = json_string_value(
                json_is_object(item) ? json_object_get(item, "name") : item);

            if (listed && strcmp(listed, name) == 0)
                return true;
        }
    }
    return false;
}

/* Left behind by a crash. */
static bool is_leftover(const char *name)
{
    return file_is_temporary(name, "study.json") ||
           file_is_temporary(name, "summary.json");
}

static bool is_visible(const char *name)
{
    return name[0] != '.';
}

static bool is_no_study_file(const char *name)
{
    return is_visible(name) && strcmp(name, "study.json") != 0;
}

static bool is_first_draft(const char *name)
{
    return file_is_temporary(name, "study.json");
}

/* The study that a new one replaces is kept here until the new one has a
 * recording.  Its study.json goes in first and comes back last, so that after a
 * crash the place that has it says which study the parts belong to. */
static char *replaced_path(const char *dir)
{
    return xasprintf("%s/.replaced", dir);
}

/* Owned by the caller; NULL: there is none, or it is damaged. */
static json_t *read_study(const char *dir)
{
    char *path = study_path(dir);
    json_t *json = NULL;

    if (json_read_file(path, &json, &(struct err){0}))
        json = NULL;
    free(path);
    return json;
}

char *study_part_with(const char *dir, const char *file)
{
    json_t *json = read_study(dir);
    struct strlist names = {0};
    char *first = NULL;

    file_list_dir(dir, is_visible, &names, &(struct err){0});
    for (size_t i = 0; i < names.len; i++) {
        const char *name = names.items[i];
        char *part = xasprintf("%s/%s", dir, name);
        char *path = xasprintf("%s/%s", part, file);
        char *found = NULL;

        if (study_is_point_name(name) || is_listed(json, name)) {
            if (study_is_at(part))
                found = study_part_with(part, file);
            else if (access(path, F_OK) == 0)
                found = xstrdup(part);
        }
        if (found && (!first || strcmp(found, first) < 0)) {
            free(first);
            first = found;
            found = NULL;
        }
        free(found);
        free(path);
        free(part);
    }
    strlist_fini(&names);
    json_decref(json);
    return first;
}

static int move(const char *dir, const char *name, const char *to,
                struct err *err)
{
    char *from = xasprintf("%s/%s", dir, name);
    char *path = xasprintf("%s/%s", to, name);
    int rc = rename(from, path) < 0 && errno != ENOENT
                 ? err_set(err, ERR_IO, "%s: %s", path, strerror(errno))
                 : 0;

    free(from);
    free(path);
    return rc;
}

/* Only what belongs to the study that `json` describes, except for study.json:
 * move it to `to`, or remove it (NULL). */
static int move_parts(const char *dir, const json_t *json, const char *to,
                      struct err *err)
{
    struct strlist names = {0};
    int rc = file_list_dir(dir, is_visible, &names, err);

    for (size_t i = 0; rc == 0 && i < names.len; i++) {
        const char *name = names.items[i];
        char *path = xasprintf("%s/%s", dir, name);
        bool is_file = is_leftover(name) || strcmp(name, "summary.json") == 0;

        if (!is_file && !study_is_point_name(name) && !is_listed(json, name))
            rc = 0;
        else if (to)
            rc = move(dir, name, to, err);
        else if (is_file)
            rc = remove_file(dir, name, err);
        else
            rc = study_is_at(path) ? study_remove(path, err)
                                   : recording_remove(path, err);
        free(path);
    }
    strlist_fini(&names);
    return rc;
}

/* study.json last, so that an interrupted removal can be repeated. */
static int remove_study(const char *dir, struct err *err)
{
    json_t *json = read_study(dir);
    int rc = move_parts(dir, json, NULL, err);

    json_decref(json);
    return rc ? -1 : remove_file(dir, "study.json", err);
}

/* If the process was killed before the new study had a recording, the old one
 * is still there. */
static int set_aside(const char *dir, struct err *err)
{
    char *aside = replaced_path(dir);
    bool has_aside = study_is_at(aside);
    json_t *json = read_study(has_aside ? aside : dir);
    int rc = 0;

    if (has_aside == study_is_at(dir)) {
        rc = remove_study(dir, err);
    } else {
        if (!has_aside)
            rc = study_drop_replaced(dir, err);
        if (rc == 0 && mkdir(aside, 0777) < 0 && errno != EEXIST)
            rc = err_set(err, ERR_IO, "%s: %s", aside, strerror(errno));
        if (rc == 0)
            rc = move(dir, "study.json", aside, err);
        if (rc == 0)
            rc = move_parts(dir, json, aside, err);
    }
    json_decref(json);
    free(aside);
    return rc;
}

int study_restore_replaced(const char *dir, struct err *err)
{
    char *aside = replaced_path(dir);
    json_t *json = read_study(aside);
    int rc = 0;

    if (!study_is_at(aside)) {
        free(aside);
        json_decref(json);
        return 0;
    }
    if (study_is_at(dir))
        rc = remove_study(dir, err);
    if (rc == 0)
        rc = move_parts(aside, json, dir, err);
    if (rc == 0)
        rc = move(aside, "study.json", dir, err);
    if (rc == 0)
        rmdir(aside);
    json_decref(json);
    free(aside);
    return rc ? -1 : 1;
}

int study_drop_replaced(const char *dir, struct err *err)
{
    char *aside = replaced_path(dir);
    json_t *json = read_study(aside);
    int rc = 0;

    if (access(aside, F_OK) == 0)
        rc = remove_file(aside, "study.json", err) ||
             move_parts(aside, json, NULL, err);
    if (rc == 0 && rmdir(aside) < 0 && errno != ENOENT)
        rc = err_set(err, ERR_IO, "%s: %s", aside, strerror(errno));
    json_decref(json);
    free(aside);
    return rc ? -1 : 0;
}

int study_make_dir(const char *dir, bool force, struct err *err)
{
    struct strlist drafts = {0};
    char *aside = replaced_path(dir);
    bool has_study = study_is_at(dir) || study_is_at(aside);
    int rc = recording_make_place(dir, err);

    free(aside);
    if (rc == 0)
        rc = recording_holds_anything(dir, err);
    if (rc <= 0)
        return rc;
    /* The process may have died while it wrote the first study.json. */
    if (!has_study && !recording_is_at(dir))
        has_study = file_list_dir(dir, is_first_draft, &drafts,
                                  &(struct err){0}) == 0 &&
                    drafts.len > 0;
    strlist_fini(&drafts);
    if (!has_study)
        return err_set(err, ERR_USAGE,
                       "%s: is not empty and does not contain a study to "
                       "replace",
                       dir);
    if (!force)
        return err_set(err, ERR_USAGE,
                       "%s: is not empty; --force replaces the study in it",
                       dir);
    return set_aside(dir, err);
}

/* While it holds something else, such as what a launch could not merge, it
 * stays a study, so that --force and --resume find one. */
int study_remove(const char *dir, struct err *err)
{
    struct strlist others = {0};
    json_t *json = read_study(dir);
    int rc = move_parts(dir, json, NULL, err);

    json_decref(json);
    if (rc == 0)
        rc = file_list_dir(dir, is_no_study_file, &others, err);
    if (rc == 0 && others.len > 0)
        rc = err_set(err, ERR_IO, "%s: holds %s, which is not of the study",
                     dir, others.items[0]);
    strlist_fini(&others);
    if (rc || remove_file(dir, "study.json", err))
        return -1;
    return rmdir(dir) < 0 ? err_set(err, ERR_IO, "%s: %s", dir, strerror(errno))
                          : 0;
}
