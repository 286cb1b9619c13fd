#include "common/settings/settings.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/suggest.h"
#include "common/base/xalloc.h"
#include "common/base/yaml.h"
#include "common/settings/settings_lists.h"
#include "common/settings/settings_path.h"
#include "common/settings/settings_spot.h"
#include "common/settings/variant_settings.h"

struct opt_set settings_set(struct settings *s, enum settings_block block)
{
    return (struct opt_set){.block = settings_blocks[block], .base = s};
}

void settings_init(struct settings *s)
{
    s->has_stub = false;
    s->data.loaded = NULL;
    s->data.workload = NULL;
    s->data.class = 0;
    s->load.trace.peak_rps = 0;
    s->load.trace.rows = 0;
    s->load.trace.timeline = NULL;
    s->classes = (struct classes){0};
    s->warmup = (struct classes){0};
    s->variants = (struct classes){0};
    s->varied = (struct strlist){0};
    for (int b = 0; b < BLOCK_COUNT; b++) {
        struct opt_set set = settings_set(s, (enum settings_block)b);

        opt_init(&set);
    }
}

void settings_fini(struct settings *s)
{
    for (int b = 0; b < BLOCK_COUNT; b++) {
        struct opt_set set = settings_set(s, (enum settings_block)b);

        opt_fini(&set);
    }
    classes_fini(&s->classes);
    classes_fini(&s->warmup);
    classes_fini(&s->variants);
    strlist_fini(&s->varied);
}

void settings_copy(struct settings *s, const struct settings *from)
{
    s->has_stub = from->has_stub;
    for (int b = 0; b < BLOCK_COUNT; b++) {
        struct opt_set to = settings_set(s, (enum settings_block)b);

        for (size_t i = 0; i < to.block->len; i++)
            opt_copy(&to, from, &to.block->opts[i]);
    }
}

static void clone_classes(struct classes *to, const struct classes *from)
{
    for (size_t i = 0; i < from->len; i++) {
        const struct class_settings *c = &from->items[i];
        struct class_settings *copy = classes_add(to);

        copy->name = c->name ? xstrdup(c->name) : NULL;
        copy->weight = c->weight;
        for (size_t k = 0; k < c->n_said; k++)
            class_note_said(copy, c->said[k]);
        settings_copy(copy->settings, c->settings);
        if (c->settings->data.workload) {
            copy->settings->data.workload = to;
            copy->settings->data.class = i;
        }
    }
}

void settings_clone(struct settings *s, const struct settings *from)
{
    settings_init(s);
    settings_copy(s, from);
    s->data.workload = from->data.workload; /* if it is itself a class */
    s->data.class = from->data.class;
    clone_classes(&s->classes, &from->classes);
    clone_classes(&s->warmup, &from->warmup);
    clone_classes(&s->variants, &from->variants);
    for (size_t i = 0; i < from->varied.len; i++)
        strlist_add(&s->varied, from->varied.items[i]);
}

/* ---- the file ---- */

int spot_refuse(const struct spot *at)
{
    if (at->place > 0)
        return err_context(at->err, "%s:%zu: %s[%zu]", at->path, at->node->line,
                           at->list, at->place);
    return err_context(at->err, "%s:%zu: %s", at->path, at->node->line,
                       at->node->key);
}

int spot_refuse_kind(const struct spot *at, const char *wanted)
{
    err_set(at->err, ERR_CONFIG, "must be %s", wanted);
    return spot_refuse(at);
}

static int assign(const struct opt_set *set, const struct opt *opt,
                  const char *text, const struct spot *at)
{
    char *from_here = settings_path_from(at->path, opt, text);
    int rc = opt_assign(set, opt, from_here, at->err);

    free(from_here);
    return rc ? spot_refuse(at) : 0;
}

static int assign_list(const struct opt_set *set, const struct opt *opt,
                       const struct spot *at)
{
    opt_clear(set, opt);
    if (at->node->kind == YAML_SCALAR)
        return assign(set, opt, at->node->text, at);
    for (size_t i = 0; i < at->node->len; i++) {
        struct spot item = {at->path, &at->node->items[i], at->err,
                            at->node->key, i + 1};

        if (item.node->kind != YAML_SCALAR)
            return spot_refuse_kind(&item, "a plain value");
        if (assign(set, opt, item.node->text, &item))
            return -1;
    }
    return 0;
}

static int assign_entry(const struct opt_set *set, const struct opt *opt,
                        const struct spot *at)
{
    char *text;
    int rc;

    if (at->node->kind != YAML_SCALAR)
        return spot_refuse_kind(at, "a plain value");
    if (strchr(at->node->key, opt->separator))
        return spot_refuse_kind(at, "a key without separators");
    text = xasprintf("%s%c%s", at->node->key, opt->separator, at->node->text);
    rc = assign(set, opt, text, at);
    free(text);
    return rc;
}

static int assign_map(const struct opt_set *set, const struct opt *opt,
                      const struct spot *at)
{
    if (at->node->kind != YAML_MAP)
        return spot_refuse_kind(at, "a map of key: value");
    for (size_t i = 0; i < at->node->len; i++) {
        struct spot entry = {
            .path = at->path, .node = &at->node->items[i], .err = at->err};

        if (assign_entry(set, opt, &entry))
            return -1;
    }
    return 0;
}

int spot_assign(const struct opt_set *set, const struct opt *opt,
                const struct spot *at)
{
    switch (opt->type->kind) {
    case OPT_LIST:
        if (at->node->kind == YAML_MAP)
            return spot_refuse_kind(at, "a list");
        return assign_list(set, opt, at);
    case OPT_MAP:
        return assign_map(set, opt, at);
    default:
        if (at->node->kind != YAML_SCALAR)
            return spot_refuse_kind(at, "a plain value");
        return assign(set, opt, at->node->text, at);
    }
}

static void consider_keys(struct suggest *s, const struct opt_block *block)
{
    for (size_t i = 0; i < block->len; i++) {
        if (block->opts[i].key)
            suggest_consider(s, block->opts[i].key);
    }
}

/* A key, and the block that it is of. */
struct meant {
    const struct opt_block *block;
    const struct opt *opt; /* NULL: none */
};

/* What has this very key elsewhere, or the flag of this name. */
static struct meant find_meant(const struct opt_block *here, const char *key)
{
    struct meant m = {here, opt_by_flag_as_key(here, key)};

    for (int b = 0; b < BLOCK_COUNT && !m.opt; b++)
        m = (struct meant){settings_blocks[b],
                           opt_by_key(settings_blocks[b], key)};
    for (int b = 0; b < BLOCK_COUNT && !m.opt; b++)
        m = (struct meant){settings_blocks[b],
                           opt_by_flag_as_key(settings_blocks[b], key)};
    return m;
}

/* What a file may have at the top that is no option. */
static const char *const lists[] = {"classes", CLASSES_WARMUP, VARIANTS};

#define N_LISTS (sizeof(lists) / sizeof(lists[0]))

static int refuse_key(const struct opt_block *block, const char *key,
                      struct err *err)
{
    const char *in = block->name ? " in " : "";
    const char *name = block->name ? block->name : "";
    const struct meant meant = find_meant(block, key);
    struct suggest s = {.word = key};
    char hint[64];

    if (meant.opt)
        return err_set(err, ERR_CONFIG,
                       "unknown key '%s'%s%s; did you mean '%s%s%s'?", key, in,
                       name, meant.block->name ? meant.block->name : "",
                       meant.block->name ? "." : "", meant.opt->key);
    consider_keys(&s, block);
    for (int b = 0; b < BLOCK_COUNT && !block->name; b++) {
        if (settings_blocks[b]->name)
            suggest_consider(&s, settings_blocks[b]->name);
    }
    for (size_t i = 0; !block->name && i < N_LISTS; i++)
        suggest_consider(&s, lists[i]);
    return err_set(err, ERR_CONFIG, "unknown key '%s'%s%s%s", key, in, name,
                   suggest_text(&s, "", hint, sizeof(hint)));
}

int spot_refuse_key(const struct opt_block *block, const struct spot *at)
{
    refuse_key(block, at->node->key, at->err);
    return err_context(at->err, "%s:%zu", at->path, at->node->line);
}

static int load_block(const struct opt_set *set, const struct spot *at)
{
    if (at->node->kind != YAML_MAP)
        return spot_refuse_kind(at, "a map of key: value");
    for (size_t i = 0; i < at->node->len; i++) {
        struct spot entry = {
            .path = at->path, .node = &at->node->items[i], .err = at->err};
        const struct opt *opt = opt_by_key(set->block, entry.node->key);

        if (!opt)
            return spot_refuse_key(set->block, &entry);
        if (spot_assign(set, opt, &entry))
            return -1;
    }
    return 0;
}

static int block_by_name(const char *name, size_t len)
{
    for (int b = 0; b < BLOCK_COUNT; b++) {
        const char *known = settings_blocks[b]->name;

        if (known && strlen(known) == len && memcmp(known, name, len) == 0)
            return b;
    }
    return -1;
}

static int load_entry(struct settings *s, const struct spot *at)
{
    struct opt_set top = settings_set(s, BLOCK_TOP);
    const struct opt *opt = opt_by_key(top.block, at->node->key);
    int block = block_by_name(at->node->key, strlen(at->node->key));

    if (opt)
        return spot_assign(&top, opt, at);
    if (strcmp(at->node->key, "classes") == 0)
        return classes_load(&s->classes, at);
    if (strcmp(at->node->key, CLASSES_WARMUP) == 0)
        return classes_load_warmup(&s->warmup, at);
    if (strcmp(at->node->key, VARIANTS) == 0)
        return variants_load(&s->variants, at);
    if (block >= 0) {
        struct opt_set set = settings_set(s, (enum settings_block)block);

        if (block == BLOCK_STUB)
            s->has_stub = true;

        return load_block(&set, at);
    }
    return spot_refuse_key(top.block, at);
}

int settings_file_read(struct settings_file *file, const char *path,
                       struct err *err)
{
    *file = (struct settings_file){.path = xstrdup(path)};
    buf_init(&file->text, YAML_MAX_FILE);
    if (file_read(path, &file->text, err))
        return -1;
    sha256_bytes(buf_text(&file->text), file->text.len, file->sha256);
    return 0;
}

void settings_file_fini(struct settings_file *file)
{
    free(file->path);
    buf_fini(&file->text);
    *file = (struct settings_file){0};
}

int settings_load_file(struct settings *s, const struct settings_file *file,
                       struct err *err)
{
    struct yaml_node root;
    int rc = 0;

    if (yaml_load_text(&root, file->path, buf_text(&file->text), file->text.len,
                       err))
        return -1;
    for (size_t i = 0; i < root.len && rc == 0; i++) {
        struct spot at = {
            .path = file->path, .node = &root.items[i], .err = err};

        rc = load_entry(s, &at);
    }
    yaml_fini(&root);
    return rc;
}

int settings_load(struct settings *s, const char *path, struct err *err)
{
    struct settings_file file;
    int rc = settings_file_read(&file, path, err);

    if (rc == 0)
        rc = settings_load_file(s, &file, err);
    settings_file_fini(&file);
    return rc;
}

/* ---- --set block.key=value ---- */

int settings_assign(struct settings *s, const char *assignment, struct err *err)
{
    size_t path_len = strcspn(assignment, "=");
    size_t block_len = strcspn(assignment, ".=");
    int shown = (int)strcspn(assignment, "=: "); /* the rest may be a secret */
    bool is_nested = block_len < path_len;
    int block = is_nested ? block_by_name(assignment, block_len) : BLOCK_TOP;
    const char *rest = assignment + (is_nested ? block_len + 1 : 0);
    struct opt_set set;
    const struct opt *opt;
    char *key;
    int rc;

    if (assignment[path_len] != '=')
        return err_set(err, ERR_USAGE, "--set '%.*s': write block.key=value",
                       shown, assignment);
    if (!is_nested && block_by_name(assignment, path_len) >= 0)
        return err_set(err, ERR_USAGE,
                       "--set '%.*s': a block, not a key; write %.*s.key=value",
                       shown, assignment, (int)path_len, assignment);
    if (block < 0)
        return err_set(err, ERR_USAGE, "--set '%.*s': no block '%.*s'", shown,
                       assignment, (int)block_len, assignment);
    set = settings_set(s, (enum settings_block)block);
    key = xstrndup(rest, (size_t)(assignment + path_len - rest));
    opt = opt_by_key(set.block, key);
    if (!opt) {
        rc = refuse_key(set.block, key, err);
    } else {
        if (opt->type->kind == OPT_LIST)
            opt_clear(&set, opt);
        rc = opt_assign(&set, opt, assignment + path_len + 1, err);
    }
    free(key);
    return rc ? err_context(err, "--set %.*s", (int)path_len, assignment) : 0;
}
