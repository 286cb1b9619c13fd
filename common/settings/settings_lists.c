/* The classes of a settings file, and what variants share with them. */
#include "common/settings/settings_file.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/suggest.h"
#include "common/base/units.h"
#include "common/base/xalloc.h"
#include "common/base/yaml.h"

/* "chat.yaml:12: classes: what is wrong" */
static int refuse_at(const struct class_kind *kind, const struct spot *at,
                     const char *what)
{
    return err_set(at->err, ERR_CONFIG, "%s:%zu: %s: %s", at->path,
                   at->node->line, kind->list, what);
}

void class_note_said(struct class_settings *c, const struct opt *opt)
{
    c->said = xrealloc(c->said, c->n_said + 1, sizeof(struct opt *));
    c->said[c->n_said++] = opt;
}

int class_assign(struct class_settings *c, enum settings_block block,
                 const struct opt *opt, const struct spot *at)
{
    struct opt_set set = settings_set(c->settings, block);

    class_note_said(c, opt);
    return spot_assign(&set, opt, at);
}

int class_load_block(struct class_settings *c, enum settings_block block,
                     const struct spot *at)
{
    const struct opt_set set = settings_set(c->settings, block);

    return spot_load_block(&set, c, at);
}

static int load_target(struct class_settings *c, const struct spot *at)
{
    for (size_t i = 0; at->node->kind == YAML_MAP && i < at->node->len; i++) {
        struct spot entry = spot_inside(at, i);
        const struct opt *opt = opt_by_key(&block_target, entry.node->key);

        if (!opt || opt->is_per_class)
            continue;
        err_set(at->err, ERR_CONFIG,
                "is about connections, which all classes share; set it in the "
                "target of the run");
        return spot_refuse(&entry);
    }
    return class_load_block(c, BLOCK_TARGET, at);
}

/* The name appears in tables, and between colons in messages. */
bool class_is_name(const char *text)
{
    return text[0] && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
                                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "0123456789._-")];
}

int class_load_name(struct class_settings *c, const struct spot *at)
{
    if (at->node->kind != YAML_SCALAR || !class_is_name(at->node->text))
        return spot_refuse_kind(at, "a word of letters, digits and ._-");
    c->name = xstrdup(at->node->text);
    return 0;
}

static int load_name(struct class_settings *c, const struct spot *at)
{
    if (class_load_name(c, at))
        return -1;
    return strcmp(c->name, "total") == 0
               ? spot_refuse_kind(at, "another word: reports use it for the "
                                      "total of all classes")
               : 0;
}

static int load_weight(struct class_settings *c, const struct spot *at)
{
    if (at->node->kind != YAML_SCALAR)
        return spot_refuse_kind(at, "a number");
    if (units_parse_number(at->node->text, &c->weight, at->err))
        return spot_refuse(at);
    return c->weight > 0 ? 0 : spot_refuse_kind(at, "above 0");
}

static int refuse_key(const struct class_kind *kind, const struct spot *at)
{
    struct suggest s = {.word = at->node->key};
    char hint[64];

    for (size_t i = 0; kind->keys[i]; i++)
        suggest_consider(&s, kind->keys[i]);
    return err_set(at->err, ERR_CONFIG,
                   "%s:%zu: unknown key '%s' in a %s, which can have %s%s",
                   at->path, at->node->line, at->node->key, kind->one,
                   kind->has, suggest_text(&s, "", hint, sizeof(hint)));
}

static int load_entry(struct class_settings *c, const struct spot *at)
{
    const char *key = at->node->key;

    if (strcmp(key, "name") == 0)
        return load_name(c, at);
    if (strcmp(key, "weight") == 0)
        return load_weight(c, at);
    if (strcmp(key, "target") == 0)
        return load_target(c, at);
    if (strcmp(key, "data") == 0)
        return class_load_block(c, BLOCK_DATA, at);
    return class_assign(c, BLOCK_TOP, opt_by_key(&block_top, key), at);
}

static const char *const class_keys[] = {"name", "weight", "target", "data",
                                         "slo",  "checks", NULL};

static const struct class_kind class_kind = {
    .list = "classes",
    .one = "class",
    .keys = class_keys,
    .has = "name, weight, target, data, slo and checks",
    .load_entry = load_entry,
};

static int check_name(const struct class_kind *kind, const struct classes *all,
                      const struct spot *at)
{
    const char *name = all->items[all->len - 1].name;

    if (!name)
        return err_set(at->err, ERR_CONFIG, "%s:%zu: %s: a %s has no name",
                       at->path, at->node->line, kind->list, kind->one);
    for (size_t i = 0; i + 1 < all->len; i++) {
        if (strcmp(all->items[i].name, name) == 0)
            return err_set(at->err, ERR_CONFIG,
                           "%s:%zu: %s: two of them are named '%s'", at->path,
                           at->node->line, kind->list, name);
    }
    return 0;
}

struct class_settings *classes_add(struct classes *all)
{
    struct class_settings *c;

    all->items = xrealloc(all->items, all->len + 1, sizeof(*all->items));
    c = &all->items[all->len++];
    *c = (struct class_settings){
        .weight = 1, .settings = xcalloc(1, sizeof(struct settings))};
    settings_init(c->settings);
    return c;
}

static bool has_key(const struct class_kind *kind, const char *key)
{
    for (size_t i = 0; kind->keys[i]; i++) {
        if (strcmp(kind->keys[i], key) == 0)
            return true;
    }
    return false;
}

static int load_class(const struct class_kind *kind, struct classes *all,
                      const struct spot *at)
{
    struct class_settings *c;

    if (at->node->kind != YAML_MAP)
        return refuse_at(kind, at, "each must be a map of key: value");
    if (all->len == CLASSES_MAX)
        return refuse_at(kind, at, "too many; the maximum is 16");
    c = classes_add(all);
    for (size_t i = 0; i < at->node->len; i++) {
        struct spot entry = spot_inside(at, i);

        if (!has_key(kind, entry.node->key))
            return refuse_key(kind, &entry);
        if (kind->load_entry(c, &entry))
            return -1;
    }
    return check_name(kind, all, at);
}

/* The data file and its description are those of the run, unless the warm-up
 * has its own: lengths given for the warm-up must not be ignored because of the
 * run's file. */
int classes_load_warmup(struct classes *c, const struct spot *at)
{
    static const char *const keys[] = {"file",  "format", "prompt", "output",
                                       "label", "turns",  "select", "limit"};

    classes_fini(c);
    classes_add(c)->name = xstrdup(CLASSES_WARMUP);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        class_note_said(&c->items[0], opt_by_key(&block_data, keys[i]));
    return class_load_block(&c->items[0], BLOCK_DATA, at);
}

int classes_load_kind(struct classes *c, const struct class_kind *kind,
                      const struct spot *at)
{
    classes_fini(c);
    if (at->node->kind != YAML_LIST || at->node->len == 0) {
        err_set(at->err, ERR_CONFIG, "must be a list of %s", kind->list);
        return spot_refuse(at);
    }
    for (size_t i = 0; i < at->node->len; i++) {
        struct spot item = spot_inside(at, i);

        if (load_class(kind, c, &item))
            return -1;
    }
    return 0;
}

int classes_load(struct classes *c, const struct spot *at)
{
    return classes_load_kind(c, &class_kind, at);
}
