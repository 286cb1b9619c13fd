#include "common/recording/study_set.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/classes.h"
#include "common/settings/settings.h"
#include "common/text/json.h"

#define MAX_POINTS 100000

static const char *const role_names[POINT_ROLES] = {
    [POINT_OF_SWEEP] = "point",  [POINT_PROBE] = "probe",
    [POINT_CONFIRM] = "confirm", [POINT_LOOK] = "look",
    [POINT_TRIAL] = "trial",
};

struct study_point *study_set_add(struct study_set *set, enum point_role role,
                                  double value)
{
    struct study_point *p;
    int64_t number = 1;

    for (size_t i = 0; i < set->len; i++)
        number += set->points[i].role == role;
    set->points = xrealloc(set->points, set->len + 1, sizeof(*set->points));
    p = &set->points[set->len++];
    *p = (struct study_point){
        .role = role, .number = number, .value = value, .repeat = 1};
    return p;
}

size_t study_set_recorded(const struct study_set *set)
{
    size_t n = 0;

    for (size_t i = 0; i < set->len; i++)
        n += set->points[i].is_recorded;
    return n;
}

size_t study_set_discarded(const struct study_set *set)
{
    size_t n = 0;

    for (size_t i = 0; i < set->len; i++)
        n += set->points[i].is_recorded && set->points[i].discarded[0];
    return n;
}

int64_t study_set_launches(const struct study_set *set)
{
    if (set->launched_by == LAUNCHED_ONCE && set->recorded > 1)
        return 1;
    return set->recorded;
}

bool study_is_point_name(const char *name)
{
    for (int i = 0; i < POINT_ROLES; i++) {
        size_t len = strlen(role_names[i]);

        if (strncmp(name, role_names[i], len) == 0 && name[len] == '-' &&
            name[len + 1] &&
            name[len + 1 + strspn(name + len + 1, "0123456789")] == '\0')
            return true;
    }
    return false;
}

char *study_point_path(const char *dir, const struct study_point *point)
{
    return xasprintf("%s/%s-%lld", dir, role_names[point->role],
                     (long long)point->number);
}

char *study_trial_path(const char *dir, int64_t number)
{
    return study_point_path(
        dir, &(struct study_point){.role = POINT_TRIAL, .number = number});
}

bool study_has_trial(const char *dir, int64_t number)
{
    char *path = study_trial_path(dir, number);
    struct stat st;
    bool found = stat(path, &st) == 0 && S_ISDIR(st.st_mode);

    free(path);
    return found;
}

void study_set_fini(struct study_set *set)
{
    free(set->points);
    *set = (struct study_set){0};
}

/* ---- writing ---- */

static void put_text(json_t *json, const char *key, const char *text)
{
    if (text[0])
        json_object_set_new(json, key, json_bytes(text, strlen(text)));
}

/* As text: not every reader of JSON has 64 bits for a number. */
static json_t *seed_to_json(uint64_t seed)
{
    return json_sprintf("%llu", (unsigned long long)seed);
}

int study_set_save(const struct study_set *set, const char *dir,
                   struct err *err)
{
    json_t *json =
        json_pack("{ss, ss, s[]}", "settings_hash", set->settings_hash,
                  "launched_by", launched_by_name(set->launched_by), "points");
    json_t *points = json_object_get(json, "points");
    json_t *seeds = json_array();

    for (size_t i = 0; i < set->len; i++) {
        const struct study_point *p = &set->points[i];
        json_t *o = json_pack("{ss, sI, sb, sf}", "role", role_names[p->role],
                              "number", (json_int_t)p->number, "recorded",
                              p->is_recorded, "took_s", p->took_s);

        if (p->role == POINT_TRIAL) {
            json_object_set_new(o, "seed", seed_to_json(p->seed));
        } else {
            json_object_set_new(o, "value", json_real(p->value));
            json_object_set_new(o, "repeat", json_integer(p->repeat));
        }
        put_text(o, "failed", p->failed);
        put_text(o, "discarded", p->discarded);
        json_array_append_new(points, o);
        json_array_append_new(seeds, seed_to_json(p->seed));
    }
    if (set->kind == STUDY_TRIALS) { /* as well as in their points */
        json_object_set_new(json, "trials", json_integer(set->asked));
        json_object_set_new(json, "recorded", json_integer(set->recorded));
        json_object_set_new(json, "launches",
                            json_integer(study_set_launches(set)));
        json_object_set(json, "seeds", seeds);
        put_text(json, "against", set->against);
    } else {
        json_object_set_new(json, "key", json_string(set->key));
        json_object_set_new(json, "unit", json_string(set->unit));
    }
    json_decref(seeds);
    if (set->kind == STUDY_SEARCH && set->budget_ns >= 0)
        json_object_set_new(json, "budget_ns", json_integer(set->budget_ns));
    if (set->stopped_by)
        json_object_set_new(json, "stopped_by", json_integer(set->stopped_by));
    if (set->replaced > 0)
        json_object_set_new(json, "replaced", json_integer(set->replaced));
    put_text(json, "failed", set->failed);
    return study_save_take(dir, set->kind, json, err);
}

/* ---- reading ---- */

static const char *text_of(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    return text ? text : "";
}

static void take_text(char *to, size_t size, const json_t *json,
                      const char *key)
{
    snprintf(to, size, "%s", text_of(json, key));
}

static int read_point(struct study_set *set, const json_t *json)
{
    double value = json_number_value(json_object_get(json, "value"));
    const char *name = text_of(json, "role");
    struct study_point *p;
    int role = 0;

    while (role < POINT_ROLES && strcmp(role_names[role], name) != 0)
        role++;
    if (role == POINT_ROLES ||
        (set->kind == STUDY_SWEEP) != (role == POINT_OF_SWEEP) ||
        (set->kind == STUDY_TRIALS) != (role == POINT_TRIAL) ||
        !isfinite(value) || set->len >= MAX_POINTS)
        return -1;
    p = study_set_add(set, (enum point_role)role, value);
    p->repeat = json_get_int(json, "repeat", 1);
    p->seed = strtoull(text_of(json, "seed"), NULL, 10);
    p->is_recorded = json_is_true(json_object_get(json, "recorded"));
    p->took_s = json_number_value(json_object_get(json, "took_s"));
    take_text(p->failed, sizeof(p->failed), json, "failed");
    take_text(p->discarded, sizeof(p->discarded), json, "discarded");
    return json_get_int(json, "number", 0) == p->number ? 0 : -1;
}

/* The counts must agree with the points.  Older sets have no points; in others
 * there are more than were asked for if some were discarded. */
static int read_trials(struct study_set *set, const json_t *json)
{
    const json_t *seeds = json_object_get(json, "seeds");
    size_t len;

    set->asked = json_get_int(json, "trials", 0);
    len = set->len > 0 ? set->len : (size_t)set->asked;
    set->recorded = json_get_int(json, "recorded", 0);
    take_text(set->against, sizeof(set->against), json, "against");
    if (set->asked < 1 || set->asked > STUDY_MAX_TRIALS || set->recorded < 0 ||
        len < (size_t)set->asked || (size_t)set->recorded > len ||
        json_array_size(seeds) != len)
        return -1;
    for (int64_t i = 0; set->len < len; i++) {
        struct study_point *p = study_set_add(set, POINT_TRIAL, 0);
        const char *seed = json_string_value(json_array_get(seeds, (size_t)i));

        p->seed = seed ? strtoull(seed, NULL, 10) : 0;
        p->is_recorded = i < set->recorded;
    }
    return study_set_recorded(set) == (size_t)set->recorded ? 0 : -1;
}

static int from_json(struct study_set *set, const json_t *json)
{
    const json_t *points = json_object_get(json, "points");

    take_text(set->key, sizeof(set->key), json, "key");
    take_text(set->unit, sizeof(set->unit), json, "unit");
    take_text(set->settings_hash, sizeof(set->settings_hash), json,
              "settings_hash");
    take_text(set->failed, sizeof(set->failed), json, "failed");
    set->budget_ns = json_get_int(json, "budget_ns", -1);
    set->stopped_by = json_get_int(json, "stopped_by", 0);
    set->launched_by = launched_by_of(text_of(json, "launched_by"));
    for (size_t i = 0; i < json_array_size(points); i++) {
        if (read_point(set, json_array_get(points, i)))
            return -1;
    }
    set->replaced = json_get_int(json, "replaced", 0);
    if (set->replaced < 0 || set->replaced > (int64_t)study_set_discarded(set))
        return -1;
    if (set->kind == STUDY_TRIALS)
        return read_trials(set, json);
    set->recorded = (int64_t)study_set_recorded(set);
    return 0;
}

int study_set_load(struct study_set *set, const char *dir, struct err *err)
{
    json_t *json;
    int rc = 0;

    *set = (struct study_set){0};
    if (study_load(dir, &json, &set->kind, err))
        return -1;
    if (set->kind == STUDY_PAIR)
        rc = err_set(err, ERR_CONFIG,
                     "%s: contains two trial sets; use one of them, %s/a or "
                     "%s/b",
                     dir, dir, dir);
    else if (set->kind == STUDY_VARIANTS)
        rc = err_set(err, ERR_FORMAT,
                     "%s: is a study with variants; use one of them", dir);
    else if (from_json(set, json))
        rc = err_set(err, ERR_FORMAT,
                     "%s/study.json: its points and counts do not add up", dir);
    json_decref(json);
    return rc;
}

static int check_kind(const struct study_set *set, const char *dir,
                      enum study_kind kind, enum err_code code, struct err *err)
{
    static const char *const names[STUDY_KINDS] = {
        [STUDY_TRIALS] = "trial set",
        [STUDY_SWEEP] = "sweep",
        [STUDY_SEARCH] = "search",
    };

    if (set->kind == kind)
        return 0;
    return err_set(err, code, "%s: is a %s, not a %s", dir, names[set->kind],
                   names[kind]);
}

int study_set_load_kind(struct study_set *set, const char *dir,
                        enum study_kind kind, struct err *err)
{
    return study_set_load(set, dir, err)
               ? -1
               : check_kind(set, dir, kind, ERR_FORMAT, err);
}

int study_set_load_recorded(struct study_set *set, const char *dir,
                            enum study_kind kind, struct err *err)
{
    if (study_set_load(set, dir, err) ||
        check_kind(set, dir, kind, ERR_CONFIG, err))
        return -1;
    for (size_t i = set->len; set->recorded == 0 && i-- > 0;) {
        if (set->points[i].discarded[0])
            return err_set(err, ERR_UNTOLD,
                           "%s: UNDECIDED: all %zu probes are lost, the last "
                           "one because of: %s",
                           dir, set->len, set->points[i].failed);
    }
    return set->recorded > 0
               ? 0
               : study_refuse_empty(
                     dir, kind == STUDY_SWEEP ? "point" : "probe", err);
}

/* ---- several sets ---- */

int study_save_pair(const char *dir, const char *order, struct err *err)
{
    return study_save_take(
        dir, STUDY_PAIR,
        json_pack("{s[ss], ss}", "sets", "a", "b", "order", order), err);
}

void variant_set_add(struct variant_set *set, const char *name)
{
    set->list = xrealloc(set->list, set->n + 1, sizeof(*set->list));
    set->list[set->n++] = (struct variant_entry){.name = xstrdup(name)};
}

char *variant_set_path(const char *dir, const struct variant_entry *variant)
{
    return xasprintf("%s/%s", dir, variant->name);
}

int variant_set_save(const struct variant_set *set, const char *dir,
                     struct err *err)
{
    json_t *json =
        json_pack("{ss, s[]}", "of", study_kind_name(set->of), "variants");
    json_t *list = json_object_get(json, "variants");

    for (size_t i = 0; i < set->n; i++) {
        json_t *o = json_pack("{ss}", "name", set->list[i].name);

        put_text(o, "failed", set->list[i].failed);
        json_array_append_new(list, o);
    }
    if (set->stopped_by)
        json_object_set_new(json, "stopped_by", json_integer(set->stopped_by));
    return study_save_take(dir, STUDY_VARIANTS, json, err);
}

static int variants_from_json(struct variant_set *set, const json_t *json)
{
    const json_t *list = json_object_get(json, "variants");

    set->of = STUDY_KINDS;
    for (int kind = 0; kind < STUDY_KINDS; kind++) {
        if (strcmp(study_kind_name((enum study_kind)kind),
                   text_of(json, "of")) == 0)
            set->of = (enum study_kind)kind;
    }
    set->stopped_by = json_get_int(json, "stopped_by", 0);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const char *name = text_of(item, "name");

        /* It is the name of a directory in this one. */
        if (!name[0] || name[0] == '.' || strchr(name, '/') ||
            set->n == CLASSES_MAX)
            return -1;
        variant_set_add(set, name);
        take_text(set->list[i].failed, sizeof(set->list[i].failed), item,
                  "failed");
    }
    return set->n > 0 && (set->of == STUDY_TRIALS || set->of == STUDY_SWEEP ||
                          set->of == STUDY_SEARCH)
               ? 0
               : -1;
}

int variant_set_load(struct variant_set *set, const char *dir, struct err *err)
{
    enum study_kind kind;
    json_t *json;
    int rc = 0;

    *set = (struct variant_set){0};
    if (study_load(dir, &json, &kind, err))
        return -1;
    if (kind != STUDY_VARIANTS)
        rc = err_set(err, ERR_CONFIG,
                     "%s: is a study of kind %s, not one with variants", dir,
                     study_kind_name(kind));
    else if (variants_from_json(set, json))
        rc = err_set(err, ERR_FORMAT,
                     "%s/study.json: its variants cannot be read", dir);
    json_decref(json);
    return rc;
}

void variant_set_fini(struct variant_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        free(set->list[i].name);
    free(set->list);
    *set = (struct variant_set){0};
}
