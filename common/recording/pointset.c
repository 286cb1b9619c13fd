#include "common/recording/pointset.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/base/xalloc.h"

#define MAX_POINTS 100000

static const char *const role_names[POINT_ROLES] = {
    [POINT_OF_SWEEP] = "point",
    [POINT_PROBE] = "probe",
    [POINT_CONFIRM] = "confirm",
};

struct study_point *point_set_add(struct point_set *set, enum point_role role,
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

char *point_set_path(const char *dir, const struct study_point *point)
{
    return xasprintf("%s/%s-%lld", dir, role_names[point->role],
                     (long long)point->number);
}

size_t point_set_recorded(const struct point_set *set)
{
    size_t n = 0;

    for (size_t i = 0; i < set->len; i++)
        n += set->points[i].is_recorded;
    return n;
}

static json_t *point_to_json(const struct study_point *p)
{
    json_t *o = json_pack("{ss, sI, sf, sI, sb, sf}", "role",
                          role_names[p->role], "number", (json_int_t)p->number,
                          "value", p->value, "repeat", (json_int_t)p->repeat,
                          "recorded", p->is_recorded, "took_s", p->took_s);

    if (p->failed[0])
        json_object_set_new(o, "failed",
                            json_bytes(p->failed, strlen(p->failed)));
    return o;
}

int point_set_save(const struct point_set *set, const char *dir,
                   struct err *err)
{
    json_t *json =
        json_pack("{ss, ss, ss, ss, s[]}", "key", set->key, "unit", set->unit,
                  "settings_hash", set->settings_hash, "launched_by",
                  launched_by_name(set->launched_by), "points");
    json_t *points = json_object_get(json, "points");

    for (size_t i = 0; i < set->len; i++)
        json_array_append_new(points, point_to_json(&set->points[i]));
    if (set->kind == STUDY_SEARCH && set->budget_ns >= 0)
        json_object_set_new(json, "budget_ns", json_integer(set->budget_ns));
    if (set->stopped_by)
        json_object_set_new(json, "stopped_by", json_integer(set->stopped_by));
    if (set->failed[0])
        json_object_set_new(json, "failed",
                            json_bytes(set->failed, strlen(set->failed)));
    return study_save_take(dir, set->kind, json, err);
}

static void take_text(char *to, size_t size, const json_t *json,
                      const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    snprintf(to, size, "%s", text ? text : "");
}

static int role_of(const json_t *json)
{
    const char *name = json_string_value(json_object_get(json, "role"));

    for (int i = 0; name && i < POINT_ROLES; i++) {
        if (strcmp(role_names[i], name) == 0)
            return i;
    }
    return -1;
}

static int read_point(struct point_set *set, const json_t *json)
{
    double value = json_number_value(json_object_get(json, "value"));
    int role = role_of(json);
    struct study_point *p;

    if (role < 0 || !isfinite(value) || set->len >= MAX_POINTS ||
        (set->kind == STUDY_SWEEP) != (role == POINT_OF_SWEEP))
        return -1;
    p = point_set_add(set, (enum point_role)role, value);
    p->repeat = json_get_int(json, "repeat", 1);
    p->is_recorded = json_is_true(json_object_get(json, "recorded"));
    p->took_s = json_number_value(json_object_get(json, "took_s"));
    take_text(p->failed, sizeof(p->failed), json, "failed");
    return json_get_int(json, "number", 0) == p->number ? 0 : -1;
}

static int from_json(struct point_set *set, const json_t *json)
{
    const json_t *points = json_object_get(json, "points");
    int rc = 0;

    take_text(set->key, sizeof(set->key), json, "key");
    take_text(set->unit, sizeof(set->unit), json, "unit");
    take_text(set->settings_hash, sizeof(set->settings_hash), json,
              "settings_hash");
    take_text(set->failed, sizeof(set->failed), json, "failed");
    set->budget_ns = json_get_int(json, "budget_ns", -1);
    set->stopped_by = json_get_int(json, "stopped_by", 0);
    set->launched_by = launched_by_of(
        json_is_string(json_object_get(json, "launched_by"))
            ? json_string_value(json_object_get(json, "launched_by"))
            : "");
    for (size_t i = 0; rc == 0 && i < json_array_size(points); i++)
        rc = read_point(set, json_array_get(points, i));
    return rc;
}

int point_set_load(struct point_set *set, const char *dir, struct err *err)
{
    json_t *json;
    int rc = 0;

    *set = (struct point_set){0};
    if (study_load(dir, &json, &set->kind, err))
        return -1;
    if (set->kind != STUDY_SWEEP && set->kind != STUDY_SEARCH)
        rc = err_set(err, ERR_FORMAT, "%s: of %s, not a sweep or a search", dir,
                     study_kind_name(set->kind));
    else if (from_json(set, json))
        rc = err_set(err, ERR_FORMAT, "%s/study.json: its points do not add up",
                     dir);
    json_decref(json);
    return rc;
}

int point_set_load_recorded(struct point_set *set, const char *dir,
                            enum study_kind kind, struct err *err)
{
    if (point_set_load(set, dir, err))
        return -1;
    if (set->kind != kind)
        return err_set(err, ERR_CONFIG, "%s: a %s, not a %s", dir,
                       study_kind_name(set->kind), study_kind_name(kind));
    return point_set_recorded(set) > 0
               ? 0
               : study_refuse_empty(
                     dir, kind == STUDY_SWEEP ? "point" : "probe", err);
}

void point_set_fini(struct point_set *set)
{
    free(set->points);
    *set = (struct point_set){0};
}
