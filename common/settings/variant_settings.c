#include "common/settings/variant_settings.h"

#include <stdlib.h>

#include "common/base/xalloc.h"
#include "common/settings/settings_file.h"

static void take_field(const struct opt_set *to, const struct settings *from,
                       const struct opt *opt)
{
    const struct opt_set own = {to->block, (void *)from};
    const struct strmap *map = opt_field(&own, opt);

    if (opt->type->kind != OPT_MAP) {
        opt_copy(to, from, opt);
        return;
    }
    for (size_t i = 0; i < map->keys.len; i++)
        strmap_put(opt_field(to, opt), map->keys.items[i],
                   map->values.items[i]);
}

static void note_key(struct settings *s, const char *block, const char *key)
{
    char *path = xasprintf("%s%s%s", block ? block : "", block ? "." : "", key);

    strlist_add(&s->varied, path);
    free(path);
}

/* Each entry of a map is noted separately. */
static void note_field(struct settings *s, const struct opt_set *own,
                       const struct opt *opt)
{
    const struct strmap *map = opt_field(own, opt);
    const char *block = own->block->name;

    if (opt->type->kind != OPT_MAP) {
        note_key(s, block, opt_json_key(opt));
        return;
    }
    for (size_t i = 0; i < map->keys.len; i++) {
        char *key = xasprintf("%s.%s", opt->key, map->keys.items[i]);

        note_key(s, block, key);
        free(key);
    }
}

static void take_block(struct settings *s, const struct class_settings *c,
                       enum settings_block block)
{
    const struct opt_set to = settings_set(s, block);
    const struct opt_set own = settings_set(c->settings, block);

    for (size_t i = 0; i < to.block->len; i++) {
        const struct opt *opt = &to.block->opts[i];

        if (!opt->key || !class_has_said(c, opt))
            continue;
        take_field(&to, c->settings, opt);
        note_field(s, &own, opt);
    }
}

/* A variant with its own server does not use the study's stub. */
static bool has_stub(const struct settings *study,
                     const struct class_settings *c)
{
    if (c->settings->has_stub)
        return true;
    return study->has_stub && c->settings->target.urls.len == 0 &&
           !c->settings->server.start;
}

void variants_take(struct settings *s, size_t i)
{
    struct classes all = s->variants;
    const struct class_settings *c = &all.items[i];

    s->variants = (struct classes){0};
    s->has_stub = has_stub(s, c);
    for (int b = 0; b < BLOCK_COUNT; b++)
        take_block(s, c, (enum settings_block)b);
    strmap_put(&s->conditions, VARIANTS_CONDITION, c->name);
    note_key(s, "conditions", VARIANTS_CONDITION);
    classes_fini(&all);
}
