/* Where in its file a setting stands, for messages that come when the file has
 * long been read: it is read again then. */
#include "common/settings.h"

#include <string.h>

#include "common/err.h"
#include "common/yaml.h"

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

/* "load.rate", or else the block that it would stand in. */
static size_t line_of_key(const struct yaml_node *root, const char *key)
{
    size_t len = strcspn(key, ".");
    const struct yaml_node *block = find(root, key, len);
    const struct yaml_node *node =
        key[len] ? find(block, key + len + 1, strlen(key + len + 1)) : NULL;

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
    for (int b = 0; b < BLOCK_COUNT; b++) {
        if (has_key(settings_blocks[b], key))
            return true;
    }
    return false;
}

size_t settings_line_of(const char *path, const char *key, const char *item)
{
    struct yaml_node root;
    struct err ignored = {0};
    const struct yaml_node *list;
    size_t line;

    if (yaml_load_file(&root, path, &ignored))
        return 0;
    line = line_of_key(&root, key);
    list = item ? find(&root, key, strlen(key)) : NULL;
    if (list && list->kind == YAML_LIST)
        line = line_of_item(list, item);
    yaml_fini(&root);
    return line;
}

int settings_blame(const char *path, struct err *err)
{
    size_t len = strcspn(err->msg, ": ");
    char key[64];
    size_t line;

    if (err->code != ERR_CONFIG || err->msg[len] != ':' || len >= sizeof(key))
        return -1;
    memcpy(key, err->msg, len);
    key[len] = '\0';
    if (!is_key(key))
        return -1;
    line = settings_line_of(path, key, NULL);
    return line > 0 ? err_context(err, "%s:%zu", path, line)
                    : err_context(err, "%s", path);
}
