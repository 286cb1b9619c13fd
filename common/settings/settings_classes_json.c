/* The classes in a manifest: each as used, without what it has from the run
 * and cannot change. */
#include <jansson.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings_file.h"

struct json_t *classes_to_json(const struct classes *c, bool keeps_secrets)
{
    json_t *list = json_array();

    for (size_t i = 0; i < c->len; i++) {
        const struct settings *s = c->items[i].settings;
        json_t *top = settings_block_json(s, BLOCK_TOP, keeps_secrets);

        json_array_append_new(
            list,
            json_pack("{ss, sf, so, so, sO, sO}", "name", c->items[i].name,
                      "weight", c->items[i].weight, "target",
                      settings_block_json(s, BLOCK_TARGET, keeps_secrets),
                      "data", settings_block_json(s, BLOCK_DATA, keeps_secrets),
                      "slo", json_object_get(top, "slo"), "checks",
                      json_object_get(top, "checks")));
        json_decref(top);
    }
    return list;
}

static int wrong(struct err *err)
{
    return err_set(err, ERR_FORMAT,
                   "settings in the manifest: classes: the value has the "
                   "wrong type");
}

/* What differs from the run's it has said itself: to be kept where it is laid
 * over the run once more. */
static void find_said(struct class_settings *c, struct settings *run,
                      enum settings_block block, const json_t *json)
{
    const struct opt_block *b = settings_blocks[block];
    const struct data_settings *data = &c->settings->data;
    json_t *of_run = settings_block_to_json(run, block);

    for (size_t i = 0; i < b->len; i++) {
        const struct opt *opt = &b->opts[i];
        const json_t *own =
            opt->key ? json_object_get(json, opt_json_key(opt)) : NULL;
        bool is_drawn = /* for the class from the run's */
            opt->offset == offsetof(struct settings, data.nonce) &&
            data->nonce == run->data.nonce + data->class;

        if (own && !is_drawn &&
            !json_equal(own, json_object_get(of_run, opt_json_key(opt))))
            class_note_said(c, opt);
    }
    json_decref(of_run);
}

int classes_from_json(struct settings *run, const struct json_t *json,
                      struct err *err)
{
    static const enum settings_block blocks[] = {BLOCK_TOP, BLOCK_TARGET,
                                                 BLOCK_DATA};
    struct classes *all = &run->classes;
    const json_t *item;
    size_t i;

    classes_fini(all);
    if (!json)
        return 0;
    if (!json_is_array(json))
        return wrong(err);
    json_array_foreach(json, i, item)
    {
        const char *name = json_string_value(json_object_get(item, "name"));
        double weight = json_number_value(json_object_get(item, "weight"));
        struct class_settings *c;
        struct settings *s;

        if (!name || !class_is_name(name) || !(weight > 0) ||
            all->len == CLASSES_MAX)
            return wrong(err);
        c = classes_add(all);
        c->name = xstrdup(name);
        c->weight = weight;
        s = c->settings;
        settings_copy(s, run);
        strlist_fini(&s->slo);
        free(s->name);
        s->name = xstrdup(name);
        s->data.workload = all;
        s->data.class = all->len - 1;
        for (size_t b = 0; b < sizeof(blocks) / sizeof(blocks[0]); b++) {
            const char *key = settings_blocks[blocks[b]]->name;
            const json_t *from = key ? json_object_get(item, key) : item;

            if (settings_block_from_json(s, blocks[b], from, err))
                return -1;
            find_said(c, run, blocks[b], from);
        }
    }
    return 0;
}

int classes_warmup_from_json(struct settings *run, const struct json_t *json,
                             struct err *err)
{
    struct class_settings *c;

    classes_fini(&run->warmup);
    if (!json)
        return 0;
    if (!json_is_object(json))
        return wrong(err);
    c = classes_add(&run->warmup);
    c->name = xstrdup(CLASSES_WARMUP);
    for (size_t i = 0; i < block_data.len; i++)
        class_note_said(c, &block_data.opts[i]);
    return settings_block_from_json(c->settings, BLOCK_DATA, json, err);
}
