#include "common/recording/trialset.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/json.h"
#include "common/recording/dir.h"
#include "common/settings.h"
#include "common/xalloc.h"

#define STUDY_VERSION 1

static const char *const launched_names[] = {
    [LAUNCHED_ONCE] = "once",
    [LAUNCHED_STUB] = "stub",
    [LAUNCHED_RESTART] = "restart",
    NULL,
};

static const char *const sides[] = {"a", "b"};

#define N_SIDES (sizeof(sides) / sizeof(sides[0]))

static char *study_path(const char *dir)
{
    return xasprintf("%s/study.json", dir);
}

char *trial_set_path(const char *dir, int64_t number)
{
    return xasprintf("%s/trial-%lld", dir, (long long)number);
}

int64_t trial_set_launches(const struct trial_set *set)
{
    if (set->launched_by == LAUNCHED_ONCE && set->recorded > 1)
        return 1;
    return set->recorded;
}

bool trial_set_is_at(const char *dir)
{
    char *path = study_path(dir);
    bool is_there = access(path, F_OK) == 0;

    free(path);
    return is_there;
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

static int remove_trials(const char *dir, struct err *err)
{
    int rc = 0;

    for (int64_t i = 1; rc == 0 && i <= STUDY_MAX_TRIALS; i++) {
        char *path = trial_set_path(dir, i);

        if (access(path, F_OK) == 0)
            rc = recording_remove(path, err);
        free(path);
    }
    return rc;
}

/* What one set consists of, and no more. */
static int remove_set(const char *dir, struct err *err)
{
    return remove_trials(dir, err) || remove_file(dir, "summary.json", err) ||
                   remove_file(dir, "study.json", err)
               ? -1
               : 0;
}

static int remove_sides(const char *dir, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < N_SIDES; i++) {
        char *side = xasprintf("%s/%s", dir, sides[i]);

        if (trial_set_is_at(side))
            rc = remove_set(side, err);
        if (rc == 0 && rmdir(side) < 0 && errno != ENOENT)
            rc = err_set(err, ERR_IO, "%s: %s", side, strerror(errno));
        free(side);
    }
    return rc;
}

static int make_empty(const char *dir, bool force, struct err *err)
{
    int rc = recording_holds_anything(dir, err);

    if (rc <= 0)
        return rc;
    if (!force)
        return err_set(err, ERR_USAGE,
                       "%s: is not empty; --force replaces the trials in it",
                       dir);
    if (!trial_set_is_at(dir))
        return err_set(err, ERR_USAGE,
                       "%s: is not empty, and holds no trials to replace", dir);
    return remove_sides(dir, err) || remove_set(dir, err) ? -1 : 0;
}

int trial_set_remove(const char *dir, struct err *err)
{
    if (remove_sides(dir, err) || remove_set(dir, err))
        return -1;
    return rmdir(dir) < 0 ? err_set(err, ERR_IO, "%s: %s", dir, strerror(errno))
                          : 0;
}

int trial_set_make_dir(const char *dir, bool force, struct err *err)
{
    return recording_make_place(dir, err) || make_empty(dir, force, err) ? -1
                                                                         : 0;
}

/* ---- study.json ---- */

static int write_study(const char *dir, json_t *json, struct err *err)
{
    char *path = study_path(dir);
    int rc = json_write_file(path, json, err);

    json_decref(json);
    free(path);
    return rc;
}

/* As texts: not every reader of JSON has 64 bits for a number. */
static json_t *seeds_to_json(const struct trial_set *set)
{
    json_t *array = json_array();

    for (int64_t i = 0; i < set->asked; i++)
        json_array_append_new(
            array, json_sprintf("%llu", (unsigned long long)set->seeds[i]));
    return array;
}

int trial_set_save(const struct trial_set *set, const char *dir,
                   struct err *err)
{
    json_t *json = json_pack(
        "{si, ss, sI, sI, so, ss, ss, sI}", "version", STUDY_VERSION, "kind",
        "trials", "trials", (json_int_t)set->asked, "recorded",
        (json_int_t)set->recorded, "seeds", seeds_to_json(set), "settings_hash",
        set->settings_hash, "launched_by", launched_names[set->launched_by],
        "launches", (json_int_t)trial_set_launches(set));

    if (set->against[0])
        json_object_set_new(json, "against", json_string(set->against));
    if (set->stopped_by)
        json_object_set_new(json, "stopped_by", json_integer(set->stopped_by));
    if (set->failed[0])
        json_object_set_new(json, "failed",
                            json_bytes(set->failed, strlen(set->failed)));
    return write_study(dir, json, err);
}

int trial_set_save_pair(const char *dir, const char *order, struct err *err)
{
    return write_study(dir,
                       json_pack("{si, ss, s[ss], ss}", "version",
                                 STUDY_VERSION, "kind", "pair", "sets",
                                 sides[0], sides[1], "order", order),
                       err);
}

static const char *text_of(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    return text ? text : "";
}

static enum launched_by launched_of(const json_t *json)
{
    const char *name = text_of(json, "launched_by");

    for (int i = 0; launched_names[i]; i++) {
        if (strcmp(launched_names[i], name) == 0)
            return (enum launched_by)i;
    }
    return LAUNCHED_ONCE;
}

static int check_kind(const json_t *json, const char *dir, struct err *err)
{
    if (json_get_int(json, "version", 0) != STUDY_VERSION)
        return err_set(err, ERR_FORMAT, "%s/study.json: of another version",
                       dir);
    if (strcmp(text_of(json, "kind"), "pair") == 0)
        return err_set(err, ERR_CONFIG,
                       "%s: two trial sets that took turns; name one of them, "
                       "%s/a or %s/b",
                       dir, dir, dir);
    if (strcmp(text_of(json, "kind"), "trials") != 0)
        return err_set(err, ERR_FORMAT, "%s/study.json: is of no trials", dir);
    return 0;
}

static int read_seeds(struct trial_set *set, const json_t *json)
{
    const json_t *seeds = json_object_get(json, "seeds");

    if (set->asked < 1 || set->asked > STUDY_MAX_TRIALS || set->recorded < 0 ||
        set->recorded > set->asked ||
        json_array_size(seeds) != (size_t)set->asked)
        return -1;
    set->seeds = xcalloc((size_t)set->asked, sizeof(*set->seeds));
    for (int64_t i = 0; i < set->asked; i++) {
        const char *text = json_string_value(json_array_get(seeds, (size_t)i));

        set->seeds[i] = text ? strtoull(text, NULL, 10) : 0;
    }
    return 0;
}

static int from_json(struct trial_set *set, const json_t *json, const char *dir,
                     struct err *err)
{
    if (check_kind(json, dir, err))
        return -1;
    set->asked = json_get_int(json, "trials", 0);
    set->recorded = json_get_int(json, "recorded", 0);
    set->stopped_by = json_get_int(json, "stopped_by", 0);
    set->launched_by = launched_of(json);
    snprintf(set->settings_hash, sizeof(set->settings_hash), "%s",
             text_of(json, "settings_hash"));
    snprintf(set->against, sizeof(set->against), "%s",
             text_of(json, "against"));
    snprintf(set->failed, sizeof(set->failed), "%s", text_of(json, "failed"));
    if (read_seeds(set, json))
        return err_set(err, ERR_FORMAT,
                       "%s/study.json: its counts do not add up", dir);
    return 0;
}

int trial_set_load(struct trial_set *set, const char *dir, struct err *err)
{
    char *path = study_path(dir);
    json_t *json = NULL;
    int rc = json_read_file(path, &json, err);

    *set = (struct trial_set){0};
    if (rc == 0)
        rc = from_json(set, json, dir, err);
    json_decref(json);
    free(path);
    return rc;
}

void trial_set_fini(struct trial_set *set)
{
    free(set->seeds);
    *set = (struct trial_set){0};
}
