/* The classes in a manifest: each as used, without what it has from the run
 * and cannot change. */
#include <jansson.h>
#include <stdlib.h>

#include "common/classes.h"
#include "common/err.h"
#include "common/json.h"
#include "common/settings.h"
#include "common/xalloc.h"

static json_t *class_to_json(const struct class_settings *c)
{
    json_t *top = settings_block_to_json(c->settings, BLOCK_TOP);
    json_t *o = json_pack(
        "{ss, sf, so, so, sO, sO}", "name", c->name, "weight", c->weight,
        "target", settings_block_to_json(c->settings, BLOCK_TARGET), "data",
        settings_block_to_json(c->settings, BLOCK_DATA), "slo",
        json_object_get(top, "slo"), "checks", json_object_get(top, "checks"));

    json_decref(top);
    return o;
}

struct json_t *classes_to_json(const struct classes *c)
{
    json_t *list = json_array();

    for (size_t i = 0; i < c->len; i++)
        json_array_append_new(list, class_to_json(&c->items[i]));
    return list;
}

static int wrong(struct err *err)
{
    return err_set(err, ERR_FORMAT,
                   "settings in the manifest: classes: not of the kind it "
                   "should be");
}

static int class_from_json(struct settings *run, const json_t *json,
                           struct err *err)
{
    struct classes *all = &run->classes;
    const char *name = json_string_value(json_object_get(json, "name"));
    double weight = json_number_value(json_object_get(json, "weight"));
    struct settings *s;

    if (!name || !(weight > 0) || all->len == CLASSES_MAX)
        return wrong(err);
    s = xcalloc(1, sizeof(*s));
    settings_init(s);
    settings_copy(s, run);
    strlist_fini(&s->slo);
    free(s->name);
    s->name = xstrdup(name);
    all->items = xrealloc(all->items, all->len + 1, sizeof(*all->items));
    all->items[all->len++] = (struct class_settings){
        .name = xstrdup(name), .weight = weight, .settings = s};
    s->data.mix = all;
    s->data.class = all->len - 1;
    if (settings_block_from_json(s, BLOCK_TOP, json, err) ||
        settings_block_from_json(s, BLOCK_TARGET,
                                 json_object_get(json, "target"), err))
        return -1;
    return settings_block_from_json(s, BLOCK_DATA,
                                    json_object_get(json, "data"), err);
}

int classes_from_json(struct settings *run, const struct json_t *json,
                      struct err *err)
{
    const json_t *item;
    size_t i;

    classes_fini(&run->classes);
    if (!json)
        return 0;
    if (!json_is_array(json))
        return wrong(err);
    json_array_foreach(json, i, item)
    {
        if (class_from_json(run, item, err))
            return -1;
    }
    return 0;
}
