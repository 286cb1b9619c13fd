/* The lists of a settings file whose items override settings of the run:
 * classes, variants, and the data of the warm-up. */
#include "common/settings/settings_file.h"

#include <string.h>

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/settings/variant_settings.h"
#include "common/text/units.h"
#include "common/text/yaml.h"

#define MAX_KEYS 8

/* One kind of list. */
struct kind {
    const char *list; /* its key */
    const char *one;  /* what an item is */
    const char *has;  /* the keys of an item, for messages */
    struct {
        const char *key;
        enum settings_block block; /* BLOCK_TOP: the key is an option there */
    } keys[MAX_KEYS];
};

static const struct kind class_kind = {
    .list = "classes",
    .one = "class",
    .has = "name, weight, target, data, slo and checks",
    .keys = {{"name", BLOCK_TOP},
             {"weight", BLOCK_TOP},
             {"target", BLOCK_TARGET},
             {"data", BLOCK_DATA},
             {"slo", BLOCK_TOP},
             {"checks", BLOCK_TOP}},
};

static const struct kind variant_kind = {
    .list = VARIANTS,
    .one = "variant",
    .has = "name, target, server, stub, cost and conditions; the load is the "
           "same for all",
    .keys = {{"name", BLOCK_TOP},
             {"target", BLOCK_TARGET},
             {"server", BLOCK_SERVER},
             {"stub", BLOCK_STUB},
             {"cost", BLOCK_COST},
             {"conditions", BLOCK_TOP}},
};

void class_note_said(struct class_settings *c, const struct opt *opt)
{
    c->said = xrealloc(c->said, c->n_said + 1, sizeof(struct opt *));
    c->said[c->n_said++] = opt;
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

/* The name appears in tables, and between colons in messages. */
bool class_is_name(const char *text)
{
    return text[0] && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
                                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "0123456789._-")];
}

static int load_name(const struct kind *kind, struct class_settings *c,
                     const struct spot *at)
{
    const char *text = at->node->text;

    if (at->node->kind != YAML_SCALAR || !class_is_name(text))
        return spot_refuse_kind(at, "a word of letters, digits and ._-");
    if (kind == &variant_kind && strchr("._-", text[0])) /* a directory's */
        return spot_refuse_kind(at, "a word of letters, digits and ._- that "
                                    "begins with a letter or a digit");
    if (kind == &class_kind && strcmp(text, "total") == 0)
        return spot_refuse_kind(at, "another word: reports use it for the "
                                    "total of all classes");
    c->name = xstrdup(text);
    return 0;
}

/* Classes share connections. */
static int check_target(const struct spot *at)
{
    for (size_t i = 0; at->node->kind == YAML_MAP && i < at->node->len; i++) {
        struct spot entry = spot_inside(at, i);
        const struct opt *opt = opt_by_key(&block_target, entry.node->key);

        if (!opt || opt->is_per_class)
            continue;
        err_set(at->err, ERR_CONFIG,
                "cannot be set for a class, because classes share "
                "connections; set it in the target of the run");
        return spot_refuse(&entry);
    }
    return 0;
}

static int load_entry(const struct kind *kind, struct class_settings *c,
                      const struct spot *at)
{
    const char *key = at->node->key;
    struct suggest s = {.word = key};
    struct opt_set set;
    size_t k = 0;
    char hint[64];

    for (; kind->keys[k].key && strcmp(kind->keys[k].key, key) != 0; k++)
        suggest_consider(&s, kind->keys[k].key);
    if (!kind->keys[k].key)
        return err_set(at->err, ERR_CONFIG,
                       "%s:%zu: unknown key '%s' in a %s, which can have %s%s",
                       at->path, at->node->line, key, kind->one, kind->has,
                       suggest_text(&s, "", hint, sizeof(hint)));
    if (strcmp(key, "name") == 0)
        return load_name(kind, c, at);
    if (strcmp(key, "weight") == 0) {
        if (at->node->kind != YAML_SCALAR)
            return spot_refuse_kind(at, "a number");
        if (units_parse_number(at->node->text, &c->weight, at->err))
            return spot_refuse(at);
        return c->weight > 0 ? 0 : spot_refuse_kind(at, "above 0");
    }
    set = settings_set(c->settings, kind->keys[k].block);
    if (kind->keys[k].block == BLOCK_TOP) {
        const struct opt *opt = opt_by_key(set.block, key);

        class_note_said(c, opt);
        return spot_assign(&set, opt, at);
    }
    c->settings->has_stub |= kind->keys[k].block == BLOCK_STUB;
    if (kind == &class_kind && kind->keys[k].block == BLOCK_TARGET &&
        check_target(at))
        return -1;
    return spot_load_block(&set, c, at);
}

static int load_item(const struct kind *kind, struct classes *all,
                     const struct spot *at)
{
    struct class_settings *c;

    if (at->node->kind != YAML_MAP)
        return err_set(at->err, ERR_CONFIG,
                       "each element must be a map of key: value");
    if (all->len == CLASSES_MAX)
        return err_set(at->err, ERR_CONFIG,
                       "too many elements; the maximum is %d", CLASSES_MAX);
    c = classes_add(all);
    for (size_t i = 0; i < at->node->len; i++) {
        struct spot entry = spot_inside(at, i);

        if (load_entry(kind, c, &entry))
            return 1;
    }
    if (!c->name)
        return err_set(at->err, ERR_CONFIG, "a %s has no name", kind->one);
    for (size_t i = 0; i + 1 < all->len; i++) {
        if (strcmp(all->items[i].name, c->name) == 0)
            return err_set(at->err, ERR_CONFIG, "two elements are named '%s'",
                           c->name);
    }
    return 0;
}

static int load_list(const struct kind *kind, struct classes *all,
                     const struct spot *at)
{
    classes_fini(all);
    if (at->node->kind != YAML_LIST || at->node->len == 0) {
        err_set(at->err, ERR_CONFIG, "must be a list of %s", kind->list);
        return spot_refuse(at);
    }
    for (size_t i = 0; i < at->node->len; i++) {
        struct spot item = spot_inside(at, i);
        int rc = load_item(kind, all, &item);

        if (rc) /* 1: the message has its place */
            return rc > 0 ? -1
                          : err_context(at->err, "%s:%zu: %s", at->path,
                                        item.node->line, kind->list);
    }
    return 0;
}

int classes_load(struct classes *c, const struct spot *at)
{
    return load_list(&class_kind, c, at);
}

int variants_load(struct classes *variants, const struct spot *at)
{
    return load_list(&variant_kind, variants, at);
}

/* The data file and its description are those of the run, unless the warm-up
 * has its own: lengths given for the warm-up must not be ignored because of the
 * run's file. */
int classes_load_warmup(struct classes *c, const struct spot *at)
{
    static const char *const keys[] = {"file",  "format", "prompt", "output",
                                       "label", "turns",  "select", "limit"};
    struct opt_set set;

    classes_fini(c);
    classes_add(c)->name = xstrdup(CLASSES_WARMUP);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        class_note_said(&c->items[0], opt_by_key(&block_data, keys[i]));
    set = settings_set(c->items[0].settings, BLOCK_DATA);
    return spot_load_block(&set, &c->items[0], at);
}
