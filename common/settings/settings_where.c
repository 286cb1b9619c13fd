/* Where in its file a setting stands, for messages. */
#include "common/settings/settings.h"

#include <string.h>

#include "common/base/err.h"
#include "common/base/yaml.h"
#include "common/settings/variant_settings.h"

#define CLASSES "classes"

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

/* "load.rate", or else the block that it would stand in; what follows a colon
 * is no part of it. */
static size_t line_of_key(const struct yaml_node *root, const char *key)
{
    size_t len = strcspn(key, ".:");
    const char *rest = key[len] == '.' ? key + len + 1 : NULL;
    const struct yaml_node *block = find(root, key, len);
    const struct yaml_node *node =
        rest ? find(block, rest, strcspn(rest, ":")) : NULL;

    if (node)
        return node->line;
    return block ? block->line : 0;
}

static size_t line_of_item(const struct yaml_node *list, const char *text)
{
    for (size_t i = 0; i < list->len; i++) {
        const struct yaml_node *item = &list->items[i];

        if (item->kind == YAML_SCALAR && strcmp(item->text, text) == 0)
            return item->line;
    }
    return list->line;
}

/* The lists whose items have keys of their own. */
static const char *const lists[] = {CLASSES, VARIANTS};

/* Which of them a message begins with, "classes: ..."; NULL: none. */
static const char *list_of(const char *message)
{
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        size_t len = strlen(lists[i]);

        if (strncmp(message, lists[i], len) == 0 && message[len] == ':')
            return lists[i];
    }
    return NULL;
}

/* Of a class or a variant, by its name. */
static const struct yaml_node *find_item(const struct yaml_node *root,
                                         const char *of, const char *name,
                                         size_t len)
{
    const struct yaml_node *list = find(root, of, strlen(of));

    for (size_t i = 0; list && i < list->len; i++) {
        const struct yaml_node *its = find(&list->items[i], "name", 4);

        if (its && its->text && strlen(its->text) == len &&
            memcmp(its->text, name, len) == 0)
            return &list->items[i];
    }
    return NULL;
}

/* "classes: chat: data.file: ..." is about a key of that class: then the key
 * moves on to it, and its node is where to look.  */
static const struct yaml_node *enter_item(const struct yaml_node *root,
                                          const char **key)
{
    const char *list = list_of(*key);
    const char *name = list ? *key + strlen(list) : NULL;
    const struct yaml_node *item;

    if (!list)
        return root;
    name += strspn(name, ": ");
    item = find_item(root, list, name, strcspn(name, ":"));
    if (!item)
        return root;
    *key = name + strcspn(name, ":");
    *key += strspn(*key, ": ");
    return item;
}

/* Has the block this key, or is it the block? */
static bool has_key(const struct opt_block *block, const char *key)
{
    size_t len = block->name ? strlen(block->name) : 0;

    if (!block->name)
        return opt_by_key(block, key);
    if (strncmp(block->name, key, len) != 0)
        return false;
    return !key[len] || (key[len] == '.' && opt_by_key(block, key + len + 1));
}

/* Is it a key that a settings file may have? */
static bool is_key(const char *key)
{
    if (strcmp(key, CLASSES) == 0 || strcmp(key, CLASSES_WARMUP) == 0 ||
        strcmp(key, VARIANTS) == 0)
        return true;
    for (int b = 0; b < BLOCK_COUNT; b++) {
        if (has_key(settings_blocks[b], key))
            return true;
    }
    return false;
}

size_t settings_line_of(const struct settings_file *file, const char *key,
                        const char *item)
{
    struct yaml_node root;
    struct err ignored = {0};
    const struct yaml_node *in;
    const struct yaml_node *list;
    size_t line;

    if (!file->sha256[0] ||
        yaml_load_text(&root, file->path, buf_text(&file->text), file->text.len,
                       &ignored))
        return 0;
    in = enter_item(&root, &key);
    line = line_of_key(in, key);
    if (line == 0 && in != &root)
        line = in->line;
    list = item ? find(in, key, strcspn(key, ":")) : NULL;
    if (list && list->kind == YAML_LIST)
        line = line_of_item(list, item);
    yaml_fini(&root);
    return line;
}

int settings_blame(const struct settings_file *file, struct err *err)
{
    size_t len = strcspn(err->msg, ": ");
    char key[64];
    size_t line;

    if (!file->sha256[0] || err->code != ERR_CONFIG || err->msg[len] != ':' ||
        len >= sizeof(key))
        return -1;
    memcpy(key, err->msg, len);
    key[len] = '\0';
    if (!is_key(key))
        return -1;
    line = settings_line_of(file, list_of(err->msg) ? err->msg : key, NULL);
    return line > 0 ? err_context(err, "%s:%zu", file->path, line)
                    : err_context(err, "%s", file->path);
}
