/* The classes of a settings file. */
#include <stdlib.h>
#include <string.h>

#include "common/classes.h"
#include "common/err.h"
#include "common/settings.h"
#include "common/settings_spot.h"
#include "common/suggest.h"
#include "common/units.h"
#include "common/xalloc.h"
#include "common/yaml.h"

/* Of the target, what is said of a request; the rest is about connections,
 * which all classes share. */
static const char *const target_keys[] = {
    "url",         "api",         "model",   "body",
    "method",      "headers",     "stream",  "ignore_eos",
    "temperature", "chunk_usage", "success", "extra_body",
};

static bool is_of_request(const char *key)
{
    for (size_t i = 0; i < sizeof(target_keys) / sizeof(target_keys[0]); i++) {
        if (strcmp(target_keys[i], key) == 0)
            return true;
    }
    return false;
}

/* "chat.yaml:12: what is wrong" */
static int refuse_at(const struct spot *at, const char *what)
{
    return err_set(at->err, ERR_CONFIG, "%s:%zu: classes: %s", at->path,
                   at->node->line, what);
}

static struct spot inside(const struct spot *at, size_t i)
{
    return (struct spot){
        .path = at->path, .node = &at->node->items[i], .err = at->err};
}

static void note_said(struct class_settings *c, const struct opt *opt)
{
    c->said = xrealloc(c->said, c->n_said + 1, sizeof(struct opt *));
    c->said[c->n_said++] = opt;
}

static int assign(struct class_settings *c, enum settings_block block,
                  const struct opt *opt, const struct spot *at)
{
    struct opt_set set = settings_set(c->settings, block);

    note_said(c, opt);
    return spot_assign(&set, opt, at);
}

static int load_block(struct class_settings *c, enum settings_block block,
                      const struct spot *at)
{
    const struct opt_block *b = settings_blocks[block];

    if (at->node->kind != YAML_MAP)
        return spot_refuse_kind(at, "a map of key: value");
    for (size_t i = 0; i < at->node->len; i++) {
        struct spot entry = inside(at, i);
        const struct opt *opt = opt_by_key(b, entry.node->key);

        if (!opt)
            return spot_refuse_key(b, &entry);
        if (block == BLOCK_TARGET && !is_of_request(opt->key)) {
            err_set(at->err, ERR_CONFIG,
                    "is about connections, which all classes share; say it in "
                    "the target of the run");
            return spot_refuse(&entry);
        }
        if (assign(c, block, opt, &entry))
            return -1;
    }
    return 0;
}

/* It stands in tables, and between colons in messages. */
static bool is_name(const char *text)
{
    return text[0] && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
                                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "0123456789._-")];
}

static int load_name(struct class_settings *c, const struct spot *at)
{
    if (at->node->kind != YAML_SCALAR || !is_name(at->node->text))
        return spot_refuse_kind(at, "a word of letters, digits and ._-");
    if (strcmp(at->node->text, "total") == 0)
        return spot_refuse_kind(at, "another word: the total of all classes "
                                    "has this one");
    c->name = xstrdup(at->node->text);
    return 0;
}

static int load_weight(struct class_settings *c, const struct spot *at)
{
    if (at->node->kind != YAML_SCALAR)
        return spot_refuse_kind(at, "a number");
    if (units_parse_number(at->node->text, &c->weight, at->err))
        return spot_refuse(at);
    return c->weight > 0 ? 0 : spot_refuse_kind(at, "above 0");
}

static int refuse_key(const struct spot *at)
{
    static const char *const keys[] = {"name", "weight", "target",
                                       "data", "slo",    "checks"};
    struct suggest s = {.word = at->node->key};
    char hint[64];

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        suggest_consider(&s, keys[i]);
    return err_set(at->err, ERR_CONFIG,
                   "%s:%zu: unknown key '%s' in a class, which has name, "
                   "weight, target, data, slo and checks%s",
                   at->path, at->node->line, at->node->key,
                   suggest_text(&s, "", hint, sizeof(hint)));
}

static int load_entry(struct class_settings *c, const struct spot *at)
{
    const char *key = at->node->key;

    if (strcmp(key, "name") == 0)
        return load_name(c, at);
    if (strcmp(key, "weight") == 0)
        return load_weight(c, at);
    if (strcmp(key, "target") == 0)
        return load_block(c, BLOCK_TARGET, at);
    if (strcmp(key, "data") == 0)
        return load_block(c, BLOCK_DATA, at);
    if (strcmp(key, "slo") == 0 || strcmp(key, "checks") == 0)
        return assign(c, BLOCK_TOP, opt_by_key(&block_top, key), at);
    return refuse_key(at);
}

static int check_name(const struct classes *all, const struct spot *at)
{
    const char *name = all->items[all->len - 1].name;

    if (!name)
        return refuse_at(at, "a class without a name");
    for (size_t i = 0; i + 1 < all->len; i++) {
        if (strcmp(all->items[i].name, name) == 0)
            return err_set(at->err, ERR_CONFIG,
                           "%s:%zu: classes: a second class with the name '%s'",
                           at->path, at->node->line, name);
    }
    return 0;
}

static struct class_settings *add_class(struct classes *all)
{
    struct class_settings *c;

    all->items = xrealloc(all->items, all->len + 1, sizeof(*all->items));
    c = &all->items[all->len++];
    *c = (struct class_settings){
        .weight = 1, .settings = xcalloc(1, sizeof(struct settings))};
    settings_init(c->settings);
    return c;
}

static int load_class(struct classes *all, const struct spot *at)
{
    struct class_settings *c;

    if (at->node->kind != YAML_MAP)
        return refuse_at(at, "each is a map of key: value");
    if (all->len == CLASSES_MAX)
        return refuse_at(at, "too many; at most 16 are possible");
    c = add_class(all);
    for (size_t i = 0; i < at->node->len; i++) {
        struct spot entry = inside(at, i);

        if (load_entry(c, &entry))
            return -1;
    }
    return check_name(all, at);
}

/* A file is the run's, and so is what is said of it: lengths that the warm-up
 * has instead are not to be passed over for it. */
static void keep_from_run(struct class_settings *c)
{
    static const char *const keys[] = {"file",  "format", "prompt", "output",
                                       "label", "turns",  "select", "limit"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        note_said(c, opt_by_key(&block_data, keys[i]));
}

int classes_load_warmup(struct classes *c, const struct spot *at)
{
    classes_fini(c);
    add_class(c)->name = xstrdup(CLASSES_WARMUP);
    keep_from_run(&c->items[0]);
    return load_block(&c->items[0], BLOCK_DATA, at);
}

int classes_load(struct classes *c, const struct spot *at)
{
    classes_fini(c);
    if (at->node->kind != YAML_LIST || at->node->len == 0)
        return spot_refuse_kind(at, "a list of classes");
    for (size_t i = 0; i < at->node->len; i++) {
        struct spot item = inside(at, i);

        if (load_class(c, &item))
            return -1;
    }
    return 0;
}
