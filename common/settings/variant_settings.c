#include "common/settings/variant_settings.h"

#include <stdlib.h>

#include "common/base/xalloc.h"
#include "common/settings/settings_file.h"

static void note_key(struct settings *s, const char *block, const char *key)
{
    char *path = xasprintf("%s%s%s", block ? block : "", block ? "." : "", key);

    strlist_add(&s->varied, path);
    free(path);
}

/* Each entry of a map is noted separately. */
static void take_block(struct settings *s, const struct class_settings *c,
                       enum settings_block block)
{
    const struct opt_set to = settings_set(s, block);
    const struct opt_set own = settings_set(c->settings, block);

    for (size_t i = 0; i < to.block->len; i++) {
        const struct opt *opt = &to.block->opts[i];
        const struct strmap *map = opt_field(&own, opt);

        if (!opt->key || !class_has_said(c, opt))
            continue;
        if (opt->type->kind != OPT_MAP) {
            opt_copy(&to, c->settings, opt);
            note_key(s, to.block->name, opt_json_key(opt));
            continue;
        }
        for (size_t k = 0; k < map->keys.len; k++) {
            char *key = xasprintf("%s.%s", opt->key, map->keys.items[k]);

            strmap_put(opt_field(&to, opt), map->keys.items[k],
                       map->values.items[k]);
            note_key(s, to.block->name, key);
            free(key);
        }
    }
}

void variants_take(struct settings *s, size_t i)
{
    struct classes all = s->variants;
    const struct class_settings *c = &all.items[i];

    s->variants = (struct classes){0};
    /* A variant with its own server does not use the study's stub. */
    s->has_stub = c->settings->has_stub ||
                  (s->has_stub && c->settings->target.urls.len == 0 &&
                   !c->settings->server.start);
    for (int b = 0; b < BLOCK_COUNT; b++)
        take_block(s, c, (enum settings_block)b);
    strmap_put(&s->conditions, VARIANTS_CONDITION, c->name);
    note_key(s, "conditions", VARIANTS_CONDITION);
    classes_fini(&all);
}
