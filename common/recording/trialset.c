#include "common/recording/trialset.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"

static const char *const sides[] = {"a", "b"};

char *trial_set_path(const char *dir, int64_t number)
{
    return xasprintf("%s/trial-%lld", dir, (long long)number);
}

bool trial_set_has(const char *dir, int64_t number)
{
    char *path = trial_set_path(dir, number);
    struct stat st;
    bool found = stat(path, &st) == 0 && S_ISDIR(st.st_mode);

    free(path);
    return found;
}

int64_t trial_set_launches(const struct trial_set *set)
{
    if (set->launched_by == LAUNCHED_ONCE && set->recorded > 1)
        return 1;
    return set->recorded;
}

/* ---- study.json ---- */

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
    json_t *json =
        json_pack("{sI, sI, so, ss, ss, sI}", "trials", (json_int_t)set->asked,
                  "recorded", (json_int_t)set->recorded, "seeds",
                  seeds_to_json(set), "settings_hash", set->settings_hash,
                  "launched_by", launched_by_name(set->launched_by), "launches",
                  (json_int_t)trial_set_launches(set));

    if (set->against[0])
        json_object_set_new(json, "against", json_string(set->against));
    if (set->stopped_by)
        json_object_set_new(json, "stopped_by", json_integer(set->stopped_by));
    if (set->failed[0])
        json_object_set_new(json, "failed",
                            json_bytes(set->failed, strlen(set->failed)));
    return study_save_take(dir, STUDY_TRIALS, json, err);
}

int trial_set_save_pair(const char *dir, const char *order, struct err *err)
{
    return study_save_take(
        dir, STUDY_PAIR,
        json_pack("{s[ss], ss}", "sets", sides[0], sides[1], "order", order),
        err);
}

static const char *text_of(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    return text ? text : "";
}

static int check_kind(enum study_kind kind, const char *dir, struct err *err)
{
    if (kind == STUDY_PAIR)
        return err_set(err, ERR_CONFIG,
                       "%s: two trial sets that took turns; name one of them, "
                       "%s/a or %s/b",
                       dir, dir, dir);
    if (kind != STUDY_TRIALS)
        return err_set(err, ERR_FORMAT, "%s: a %s, not a trial set", dir,
                       study_kind_name(kind));
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
    set->asked = json_get_int(json, "trials", 0);
    set->recorded = json_get_int(json, "recorded", 0);
    set->stopped_by = json_get_int(json, "stopped_by", 0);
    set->launched_by = launched_by_of(text_of(json, "launched_by"));
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
    enum study_kind kind;
    json_t *json;
    int rc;

    *set = (struct trial_set){0};
    if (study_load(dir, &json, &kind, err))
        return -1;
    rc = check_kind(kind, dir, err);
    if (rc == 0)
        rc = from_json(set, json, dir, err);
    json_decref(json);
    return rc;
}

void trial_set_fini(struct trial_set *set)
{
    free(set->seeds);
    *set = (struct trial_set){0};
}
