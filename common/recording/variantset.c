#include "common/recording/variantset.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/base/xalloc.h"

void variant_set_add(struct variant_set *set, const char *name)
{
    set->list = xrealloc(set->list, set->n + 1, sizeof(*set->list));
    set->list[set->n++] = (struct variant_entry){.name = xstrdup(name)};
}

char *variant_set_path(const char *dir, const struct variant_entry *variant)
{
    return xasprintf("%s/%s", dir, variant->name);
}

static json_t *variant_to_json(const struct variant_entry *v)
{
    json_t *o = json_pack("{ss}", "name", v->name);

    if (v->failed[0])
        json_object_set_new(o, "failed",
                            json_bytes(v->failed, strlen(v->failed)));
    return o;
}

int variant_set_save(const struct variant_set *set, const char *dir,
                     struct err *err)
{
    json_t *json =
        json_pack("{ss, s[]}", "of", study_kind_name(set->of), "variants");
    json_t *list = json_object_get(json, "variants");

    for (size_t i = 0; i < set->n; i++)
        json_array_append_new(list, variant_to_json(&set->list[i]));
    if (set->stopped_by)
        json_object_set_new(json, "stopped_by", json_integer(set->stopped_by));
    return study_save_take(dir, STUDY_VARIANTS, json, err);
}

static const char *text_of(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    return text ? text : "";
}

/* A name is one of a directory here, and nowhere else. */
static int read_variant(struct variant_set *set, const json_t *json)
{
    const char *name = text_of(json, "name");
    struct variant_entry *v;

    if (!name[0] || name[0] == '.' || strchr(name, '/') ||
        set->n == CLASSES_MAX)
        return -1;
    variant_set_add(set, name);
    v = &set->list[set->n - 1];
    snprintf(v->failed, sizeof(v->failed), "%s", text_of(json, "failed"));
    return 0;
}

static int kind_of(const char *name, enum study_kind *kind)
{
    static const enum study_kind kinds[] = {STUDY_TRIALS, STUDY_SWEEP,
                                            STUDY_SEARCH};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(study_kind_name(kinds[i]), name) == 0) {
            *kind = kinds[i];
            return 0;
        }
    }
    return -1;
}

static int from_json(struct variant_set *set, const json_t *json)
{
    const json_t *list = json_object_get(json, "variants");
    int rc = kind_of(text_of(json, "of"), &set->of);

    set->stopped_by = json_get_int(json, "stopped_by", 0);
    for (size_t i = 0; rc == 0 && i < json_array_size(list); i++)
        rc = read_variant(set, json_array_get(list, i));
    return rc || set->n == 0 ? -1 : 0;
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
        rc = err_set(err, ERR_CONFIG, "%s: of kind %s, not of variants", dir,
                     study_kind_name(kind));
    else if (from_json(set, json))
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
