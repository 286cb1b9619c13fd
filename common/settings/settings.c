#include "common/settings/settings.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/settings/settings_file.h"
#include "common/settings/variant_settings.h"
#include "common/text/yaml.h"

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
    s->load.is_scenario_found = false;
    s->load.trace.peak_rps = 0;
    s->load.trace.rows = 0;
    s->load.trace.timeline = NULL;
    s->classes = (struct classes){0};
    s->warmup = (struct classes){0};
    s->variants = (struct classes){0};
    s->varied = (struct strlist){0};
    s->texts = NULL;
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
    s->load.is_scenario_found = from->load.is_scenario_found;
    for (int b = 0; b < BLOCK_COUNT; b++) {
        struct opt_set to = settings_set(s, (enum settings_block)b);

        for (size_t i = 0; i < to.block->len; i++)
            opt_copy(&to, from, &to.block->opts[i]);
    }
}

/* The longest automatic cool-down is the window divided by this.  By
 * bench_drain, where p99 is 30 to 70 % of the window, p99 is 2 to 20 % too low
 * without a cool-down, up to 9 % with at most a quarter of the window, and up
 * to 2 % with half of it. */
#define COOLDOWN_PARTS 2

/* A count of requests is exact, a trace ends where it ends, and LoadGen's rules
 * know no cool-down. */
int64_t load_cooldown_ns(const struct load_settings *load)
{
    int64_t most_ns = load_longest_ns(load) / COOLDOWN_PARTS;
    bool is_ended_by_time = load->requests == 0 && load->min_requests == 0 &&
                            load->min_duration_ns == 0;

    if (load->cooldown_ns != OPT_AUTO)
        return load->cooldown_ns;
    if (!is_ended_by_time || load->scenario == SCENARIO_OFFLINE ||
        load->scenario == SCENARIO_TRACE || load->seeds == SEEDS_MLPERF)
        return 0;
    return load->drain_ns >= 0 && load->drain_ns < most_ns ? load->drain_ns
                                                           : most_ns;
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
    s->texts = from->texts;
    clone_classes(&s->classes, &from->classes);
    clone_classes(&s->warmup, &from->warmup);
    clone_classes(&s->variants, &from->variants);
    for (size_t i = 0; i < from->varied.len; i++)
        strlist_add(&s->varied, from->varied.items[i]);
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

const struct opt *settings_find(const char *name, size_t len,
                                enum settings_block *block)
{
    size_t block_len = strcspn(name, ".");
    bool is_nested = block_len < len;
    int found = is_nested ? block_by_name(name, block_len) : BLOCK_TOP;
    const char *rest = is_nested ? name + block_len + 1 : name;
    char *key = xstrndup(rest, (size_t)(name + len - rest));
    const struct opt *opt =
        found >= 0 ? opt_by_key(settings_blocks[found], key) : NULL;

    free(key);
    if (found < 0) { /* a key at the top may have a dot, too: slo.require */
        key = xstrndup(name, len);
        opt = opt_by_key(settings_blocks[BLOCK_TOP], key);
        found = opt ? BLOCK_TOP : BLOCK_COUNT;
        free(key);
    }
    *block = (enum settings_block)found;
    return opt;
}

/* ---- paths ---- */

const char *settings_path_in(const struct opt *opt, const char *text)
{
    static const char table[] = "empirical @";

    switch (opt->path) {
    case OPT_PATH:
        return text;
    case OPT_PATH_AT:
        if (text[0] == '@')
            return text + 1;
        return strncmp(text, table, sizeof(table) - 1) == 0
                   ? text + sizeof(table) - 1
                   : NULL;
    default:
        return NULL;
    }
}

char *settings_path_from(const char *file, const struct opt *opt,
                         const char *text)
{
    const char *path = settings_path_in(opt, text);
    const char *slash = strrchr(file, '/');

    if (!path || !slash || path[0] == '/' || path[0] == '\0')
        return xstrdup(text);
    return xasprintf("%.*s%.*s%s", (int)(path - text), text,
                     (int)(slash + 1 - file), file, path);
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

struct spot spot_inside(const struct spot *at, size_t i)
{
    return (struct spot){
        .path = at->path, .node = &at->node->items[i], .err = at->err};
}

int spot_refuse_kind(const struct spot *at, const char *wanted)
{
    err_set(at->err, ERR_CONFIG, "must be %s", wanted);
    return spot_refuse(at);
}

static int assign(const struct opt_set *set, const struct opt *opt,
                  const char *text, const struct spot *at)
{
    char *value = settings_path_from(at->path, opt, text);
    int rc = opt_assign(set, opt, value, at->err);

    free(value);
    return rc ? spot_refuse(at) : 0;
}

static int assign_list(const struct opt_set *set, const struct opt *opt,
                       const struct spot *at)
{
    if (at->node->kind == YAML_MAP)
        return spot_refuse_kind(at, "a list");
    opt_clear(set, opt);
    if (at->node->kind == YAML_SCALAR)
        return assign(set, opt, at->node->text, at);
    for (size_t i = 0; i < at->node->len; i++) {
        struct spot item = {at->path, &at->node->items[i], at->err,
                            at->node->key, i + 1};

        if (item.node->kind != YAML_SCALAR)
            return spot_refuse_kind(&item, "one value, not a list or a block");
        if (assign(set, opt, item.node->text, &item))
            return -1;
    }
    return 0;
}

static int assign_map(const struct opt_set *set, const struct opt *opt,
                      const struct spot *at)
{
    if (at->node->kind != YAML_MAP)
        return spot_refuse_kind(at, "a map of key: value");
    for (size_t i = 0; i < at->node->len; i++) {
        struct spot entry = spot_inside(at, i);
        char *text;
        int rc;

        if (entry.node->kind != YAML_SCALAR)
            return spot_refuse_kind(&entry, "one value, not a list or a block");
        if (strchr(entry.node->key, opt->separator))
            return spot_refuse_kind(&entry, "a key without separators");
        text = xasprintf("%s%c%s", entry.node->key, opt->separator,
                         entry.node->text);
        rc = assign(set, opt, text, &entry);
        free(text);
        if (rc)
            return -1;
    }
    return 0;
}

int spot_assign(const struct opt_set *set, const struct opt *opt,
                const struct spot *at)
{
    switch (opt->type->kind) {
    case OPT_LIST:
        return assign_list(set, opt, at);
    case OPT_MAP:
        return assign_map(set, opt, at);
    default:
        if (at->node->kind != YAML_SCALAR)
            return spot_refuse_kind(at, "one value, not a list or a block");
        return assign(set, opt, at->node->text, at);
    }
}

/* What a file can have at the top that is not an option. */
static const char *const lists[] = {"classes", CLASSES_WARMUP, VARIANTS};

#define N_LISTS (sizeof(lists) / sizeof(lists[0]))

static int refuse_key(const struct opt_block *block, const char *key,
                      struct err *err)
{
    const char *in = block->name ? " in " : "";
    const char *name = block->name ? block->name : "";
    const struct opt *meant = opt_by_flag_as_key(block, key);
    const char *its_block = block->name;
    struct suggest s = {.word = key};
    char hint[64];

    /* The option of another block that has this key, or whose flag it is. */
    for (int b = 0; b < BLOCK_COUNT && !meant; b++) {
        meant = opt_by_key(settings_blocks[b], key);
        its_block = settings_blocks[b]->name;
    }
    for (int b = 0; b < BLOCK_COUNT && !meant; b++) {
        meant = opt_by_flag_as_key(settings_blocks[b], key);
        its_block = settings_blocks[b]->name;
    }
    if (meant)
        return err_set(err, ERR_CONFIG,
                       "unknown key '%s'%s%s; did you mean '%s%s%s'?", key, in,
                       name, its_block ? its_block : "", its_block ? "." : "",
                       meant->key);
    for (size_t i = 0; i < block->len; i++) {
        if (block->opts[i].key)
            suggest_consider(&s, block->opts[i].key);
    }
    for (int b = BLOCK_TOP + 1; b < BLOCK_COUNT && !block->name; b++)
        suggest_consider(&s, settings_blocks[b]->name);
    for (size_t i = 0; !block->name && i < N_LISTS; i++)
        suggest_consider(&s, lists[i]);
    return err_set(err, ERR_CONFIG, "unknown key '%s'%s%s%s", key, in, name,
                   suggest_text(&s, "", hint, sizeof(hint)));
}

static int spot_refuse_key(const struct opt_block *block, const struct spot *at)
{
    refuse_key(block, at->node->key, at->err);
    return err_context(at->err, "%s:%zu", at->path, at->node->line);
}

int spot_load_block(const struct opt_set *set, struct class_settings *c,
                    const struct spot *at)
{
    if (at->node->kind != YAML_MAP)
        return spot_refuse_kind(at, "a map of key: value");
    for (size_t i = 0; i < at->node->len; i++) {
        struct spot entry = spot_inside(at, i);
        const struct opt *opt = opt_by_key(set->block, entry.node->key);

        if (!opt)
            return spot_refuse_key(set->block, &entry);
        if (c)
            class_note_said(c, opt);
        if (spot_assign(set, opt, &entry))
            return -1;
    }
    return 0;
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
        return spot_load_block(&set, NULL, at);
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
    strmap_fini(&file->given);
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
    size_t len = strcspn(assignment, "=");
    size_t block_len = strcspn(assignment, ".=");
    int shown = (int)strcspn(assignment, "=: "); /* the rest can be a secret */
    enum settings_block block;
    const struct opt *opt = settings_find(assignment, len, &block);
    struct opt_set set;
    int rc = -1;

    if (assignment[len] != '=')
        return err_set(err, ERR_USAGE, "'%.*s': write block.key=value", shown,
                       assignment);
    if (block_len == len && block_by_name(assignment, len) >= 0)
        return err_set(err, ERR_USAGE,
                       "'%.*s' is a block; write %.*s.key=value", shown,
                       assignment, (int)len, assignment);
    if (block == BLOCK_COUNT)
        return err_set(err, ERR_USAGE, "'%.*s': there is no block '%.*s'",
                       shown, assignment, (int)block_len, assignment);
    set = settings_set(s, block);
    if (opt) {
        if (opt->type->kind == OPT_LIST)
            opt_clear(&set, opt);
        rc = opt_assign(&set, opt, assignment + len + 1, err);
    } else {
        const char *rest = assignment + (block_len < len ? block_len + 1 : 0);
        char *key = xstrndup(rest, (size_t)(assignment + len - rest));

        refuse_key(set.block, key, err);
        free(key);
    }
    return rc ? err_context(err, "%.*s", (int)len, assignment) : 0;
}

/* ---- the line of a key ---- */

static const struct yaml_node *find(const struct yaml_node *in, const char *key,
                                    size_t len)
{
    for (size_t i = 0; in && in->kind == YAML_MAP && i < in->len; i++) {
        const char *name = in->items[i].key;

        if (strlen(name) == len && memcmp(name, key, len) == 0)
            return &in->items[i];
    }
    return NULL;
}

/* The node of "load.rate", or with `or_block` that of its block if the file
 * does not have the key; what follows a colon or a blank is not part of the
 * key. */
static const struct yaml_node *find_key(const struct yaml_node *root,
                                        const char *key, bool or_block)
{
    size_t len = strcspn(key, ": ");
    size_t block_len = strcspn(key, ".: ");
    enum settings_block block;
    const struct opt *opt = settings_find(key, len, &block);
    const struct yaml_node *in = find(root, key, block_len);
    const struct yaml_node *node = block_len < len ? NULL : in;

    if (block_len < len)
        node = find(in, key + block_len + 1, len - block_len - 1);
    if (!node && opt && opt->old_key)
        node = find(in, opt->old_key, strlen(opt->old_key));
    return node || !or_block ? node : in;
}

/* The list that a message begins with, "classes: ..."; NULL: none. */
static const char *list_of(const char *message)
{
    for (size_t i = 0; i < N_LISTS; i++) {
        size_t len = strlen(lists[i]);

        if (strcmp(lists[i], CLASSES_WARMUP) != 0 &&
            strncmp(message, lists[i], len) == 0 && message[len] == ':')
            return lists[i];
    }
    return NULL;
}

/* "classes: chat: data.file: ..." is about a key of that class: `key` is moved
 * to it, and the node of the class is returned; otherwise the root. */
static const struct yaml_node *enter_item(const struct yaml_node *root,
                                          const char **key)
{
    const char *list_name = list_of(*key);
    const struct yaml_node *list =
        list_name ? find(root, list_name, strlen(list_name)) : NULL;
    const char *name = list ? *key + strlen(list_name) : NULL;

    for (size_t i = 0; list && i < list->len; i++) {
        const struct yaml_node *its = find(&list->items[i], "name", 4);
        const char *wanted = name + strspn(name, ": ");
        size_t len = strcspn(wanted, ":");

        if (its && its->text && strlen(its->text) == len &&
            memcmp(its->text, wanted, len) == 0) {
            *key = wanted + len;
            *key += strspn(*key, ": ");
            return &list->items[i];
        }
    }
    return root;
}

/* Is it a key, a block or a list that a settings file can have? */
static bool is_key(const char *key)
{
    enum settings_block block;

    for (size_t i = 0; i < N_LISTS; i++) {
        if (strcmp(key, lists[i]) == 0)
            return true;
    }
    return settings_find(key, strlen(key), &block) ||
           block_by_name(key, strlen(key)) >= 0;
}

size_t settings_line_of(const struct settings_file *file, const char *key,
                        const char *item)
{
    struct yaml_node root;
    struct err ignored = {0};
    const struct yaml_node *in;
    const struct yaml_node *node;
    const struct yaml_node *list;
    size_t line;

    if (!file->sha256[0] ||
        yaml_load_text(&root, file->path, buf_text(&file->text), file->text.len,
                       &ignored))
        return 0;
    in = enter_item(&root, &key);
    node = find_key(in, key, true);
    line = node ? node->line : in != &root ? in->line : 0;
    list = item ? find(in, key, strcspn(key, ":")) : NULL;
    for (size_t i = 0; list && list->kind == YAML_LIST && i < list->len; i++) {
        const struct yaml_node *one = &list->items[i];

        if (one->kind == YAML_SCALAR && strcmp(one->text, item) == 0) {
            line = one->line;
            break;
        }
    }
    yaml_fini(&root);
    return line;
}

size_t settings_line_of_key(const struct settings_file *file, const char *key)
{
    struct yaml_node root;
    struct err ignored = {0};
    const struct yaml_node *node;
    size_t line;

    if (!file->sha256[0] ||
        yaml_load_text(&root, file->path, buf_text(&file->text), file->text.len,
                       &ignored))
        return 0;
    node = find_key(&root, key, false);
    line = node ? node->line : 0;
    yaml_fini(&root);
    return line;
}

int settings_blame(const struct settings_file *file, struct err *err)
{
    bool is_flag = err->code == ERR_CONFIG &&
                   settings_name_as_given(file, err->msg, sizeof(err->msg));
    size_t len = strcspn(err->msg, ": ");
    char key[64];
    size_t line;

    if (is_flag || !file->sha256[0] || err->code != ERR_CONFIG ||
        len >= sizeof(key))
        return -1;
    memcpy(key, err->msg, len);
    key[len] = '\0';
    /* "load.rate requires ..." begins with a key, "data ..." with a word. */
    if (!is_key(key) || (err->msg[len] == ' ' && !strchr(key, '.') &&
                         strcmp(key, CLASSES_WARMUP) != 0))
        return -1;
    line = settings_line_of(file, list_of(err->msg) ? err->msg : key, NULL);
    return line > 0 ? err_context(err, "%s:%zu", file->path, line)
                    : err_context(err, "%s", file->path);
}
