/* Settings in a manifest: written as used, read back by the analyzer. */
#include "common/settings/settings_file.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/variant_settings.h"
#include "common/text/json.h"
#include "common/text/redact.h"

/* Takes the text. */
static json_t *text_json(char *shown)
{
    json_t *json = json_bytes(shown, strlen(shown));

    free(shown);
    return json;
}

static json_t *text_to_json(const struct opt *opt, const char *text,
                            bool keeps_secrets)
{
    return text_json(keeps_secrets || opt->secret == OPT_NOT_SECRET
                         ? xstrdup(text)
                     : opt->secret == OPT_SECRET_URL ? redact_url(text)
                                                     : redact_text(text));
}

static json_t *field_to_json(const struct opt_set *set, const struct opt *opt,
                             bool keeps_secrets)
{
    const void *field = opt_field(set, opt);
    json_t *json;

    if (opt->type->kind == OPT_LIST) {
        const struct strlist *list = field;

        json = json_array();
        for (size_t i = 0; i < list->len; i++)
            json_array_append_new(
                json, text_to_json(opt, list->items[i], keeps_secrets));
    } else if (opt->type->kind == OPT_MAP) {
        const struct strmap *map = field;

        json = json_object();
        for (size_t i = 0; i < map->keys.len; i++) {
            const char *key = map->keys.items[i];
            const char *value = map->values.items[i];

            json_object_set_new(json, key,
                                text_json(keeps_secrets ? xstrdup(value)
                                          : opt->secret == OPT_SECRET_HEADER
                                              ? redact_header(key, value)
                                              : redact_text(value)));
        }
    } else {
        struct buf text;

        buf_init(&text, (size_t)1 << 20);
        opt_print(set, opt, &text);
        json = text_to_json(opt, buf_text(&text), keeps_secrets);
        buf_fini(&text);
    }
    return json;
}

struct json_t *settings_block_json(const struct settings *s,
                                   enum settings_block block,
                                   bool keeps_secrets)
{
    const struct opt_set set = settings_set((struct settings *)s, block);
    json_t *json = json_object();

    for (size_t i = 0; i < set.block->len; i++) {
        const struct opt *opt = &set.block->opts[i];

        if (opt->key)
            json_object_set_new(json, opt_json_key(opt),
                                field_to_json(&set, opt, keeps_secrets));
    }
    return json;
}

struct json_t *settings_block_to_json(const struct settings *s,
                                      enum settings_block block)
{
    return settings_block_json(s, block, false);
}

static json_t *all_to_json(const struct settings *s, bool keeps_secrets)
{
    json_t *root = settings_block_json(s, BLOCK_TOP, keeps_secrets);

    for (int b = BLOCK_TOP + 1; b < BLOCK_COUNT; b++)
        json_object_set_new(
            root, settings_blocks[b]->name,
            settings_block_json(s, (enum settings_block)b, keeps_secrets));
    if (s->classes.len > 0)
        json_object_set_new(root, "classes",
                            classes_to_json(&s->classes, keeps_secrets));
    if (s->warmup.len > 0)
        json_object_set_new(root, CLASSES_WARMUP,
                            settings_block_json(s->warmup.items[0].settings,
                                                BLOCK_DATA, keeps_secrets));
    if (s->varied.len > 0) {
        json_t *keys = json_array();

        for (size_t i = 0; i < s->varied.len; i++)
            json_array_append_new(keys, json_string(s->varied.items[i]));
        json_object_set_new(root, VARIANTS_CONDITION,
                            json_pack("{so}", "keys", keys));
    }
    return root;
}

struct json_t *settings_to_json(const struct settings *s)
{
    return all_to_json(s, false);
}

struct json_t *settings_to_json_with_secrets(const struct settings *s)
{
    return all_to_json(s, true);
}

void settings_print_block(const struct settings *s, enum settings_block block,
                          struct buf *out)
{
    const char *name = settings_blocks[block]->name;
    json_t *all = settings_to_json(s);
    json_t *json = json_pack("{sO}", name, json_object_get(all, name));

    json_print(json, out);
    json_decref(json);
    json_decref(all);
}

static int wrong_kind(struct err *err)
{
    return err_set(err, ERR_FORMAT, "the value has the wrong type");
}

static int field_from_json(const struct opt_set *set, const struct opt *opt,
                           json_t *json, struct err *err)
{
    const char *text = json_string_value(json);
    const char *key;
    json_t *item;
    size_t i;

    if (opt->type->kind == OPT_LIST) {
        if (!json_is_array(json))
            return wrong_kind(err);
        opt_clear(set, opt);
        json_array_foreach(json, i, item)
        {
            if (!json_is_string(item))
                return wrong_kind(err);
            if (opt_assign(set, opt, json_string_value(item), err))
                return -1;
        }
        return 0;
    }
    if (opt->type->kind == OPT_MAP) {
        if (!json_is_object(json))
            return wrong_kind(err);
        opt_clear(set, opt);
        json_object_foreach(json, key, item)
        {
            if (!json_is_string(item))
                return wrong_kind(err);
            strmap_put(opt_field(set, opt), key, json_string_value(item));
        }
        return 0;
    }
    if (!text)
        return wrong_kind(err);
    /* Old recordings have 0 for a number that is not given. */
    if (!text[0] || (opt->is_positive && strcmp(text, "0") == 0))
        return 0;
    /* A check could open the file, and the manifest can come from someone
     * else.  The file is checked when it is used. */
    if (settings_path_in(opt, text))
        return opt->type->parse(opt_field(set, opt), text, err);
    return opt_assign(set, opt, text, err);
}

int settings_block_from_json(struct settings *s, enum settings_block block,
                             const struct json_t *json, struct err *err)
{
    struct opt_set set = settings_set(s, block);

    for (size_t i = 0; i < set.block->len; i++) {
        const struct opt *opt = &set.block->opts[i];
        json_t *field =
            opt->key ? json_object_get(json, opt_json_key(opt)) : NULL;

        if (field && field_from_json(&set, opt, field, err)) {
            err->code = ERR_FORMAT;
            return err_context(err, "settings in the manifest: %s",
                               opt_json_key(opt));
        }
    }
    return 0;
}

int settings_from_json(struct settings *s, const struct json_t *json,
                       struct err *err)
{
    const json_t *varied =
        json_object_get(json_object_get(json, VARIANTS_CONDITION), "keys");
    const json_t *item;
    size_t i;

    for (int b = 0; b < BLOCK_COUNT; b++) {
        const char *name = settings_blocks[b]->name;
        const json_t *from = name ? json_object_get(json, name) : json;

        if (settings_block_from_json(s, (enum settings_block)b, from, err))
            return -1;
    }
    if (classes_from_json(s, json_object_get(json, "classes"), err) ||
        classes_warmup_from_json(s, json_object_get(json, CLASSES_WARMUP), err))
        return -1;
    strlist_fini(&s->varied);
    json_array_foreach(varied, i, item)
    {
        if (!json_is_string(item))
            return err_set(err, ERR_FORMAT,
                           "settings in the manifest: variant: the value "
                           "has the wrong type");
        strlist_add(&s->varied, json_string_value(item));
    }
    return 0;
}
