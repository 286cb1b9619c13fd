#include "common/settings/variant_settings.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"
#include "common/base/yaml.h"
#include "common/settings/settings_file.h"

/* ---- the file ---- */

static const struct {
    const char *key;
    enum settings_block block;
} blocks[] = {
    {"target", BLOCK_TARGET},
    {"server", BLOCK_SERVER},
    {"stub", BLOCK_STUB},
    {"cost", BLOCK_COST},
};

#define N_BLOCKS (sizeof(blocks) / sizeof(blocks[0]))

/* It becomes the name of a directory. */
static int load_name(struct class_settings *c, const struct spot *at)
{
    if (class_load_name(c, at))
        return -1;
    return strchr("._-", c->name[0])
               ? spot_refuse_kind(at, "a word of letters, digits and ._- that "
                                      "begins with a letter or a digit")
               : 0;
}

static int load_entry(struct class_settings *c, const struct spot *at)
{
    const char *key = at->node->key;

    if (strcmp(key, "name") == 0)
        return load_name(c, at);
    if (strcmp(key, "stub") == 0)
        c->settings->has_stub = true;
    for (size_t i = 0; i < N_BLOCKS; i++) {
        if (strcmp(blocks[i].key, key) == 0)
            return class_load_block(c, blocks[i].block, at);
    }
    return class_assign(c, BLOCK_TOP, opt_by_key(&block_top, key), at);
}

static const char *const keys[] = {"name", "target",     "server", "stub",
                                   "cost", "conditions", NULL};

static const struct class_kind kind = {
    .list = VARIANTS,
    .one = "variant",
    .keys = keys,
    .has = "name, target, server, stub, cost and conditions; the load is the "
           "same for all",
    .load_entry = load_entry,
};

int variants_load(struct classes *variants, const struct spot *at)
{
    return classes_load_kind(variants, &kind, at);
}

/* ---- over the study ---- */

static bool says(const struct class_settings *c, const struct opt *opt)
{
    for (size_t i = 0; i < c->n_said; i++) {
        if (c->said[i] == opt)
            return true;
    }
    return false;
}

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

        if (!opt->key || !says(c, opt))
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
