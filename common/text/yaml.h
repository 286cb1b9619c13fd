/* yaml.h - a settings file as a tree that knows its lines.
 *
 * Strict: one document; no anchors, aliases, tags or duplicate keys; keys are
 * plain words.  Whatever libyaml ignores silently is an error here.
 */
#ifndef COMMON_BASE_YAML_H
#define COMMON_BASE_YAML_H

#include <stddef.h>

struct err;

#define YAML_MAX_FILE ((size_t)1 << 20)

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_node {
    enum yaml_kind kind;
    size_t line; /* from 1 */
    char *key;   /* of an entry of a map; NULL elsewhere */
    char *text;  /* of a scalar */
    struct yaml_node *items;
    size_t len;
};

/* Read `path` into *root; errors (ERR_CONFIG) start with "path:line: ".  An
 * empty file is an empty map. */
int yaml_load_file(struct yaml_node *root, const char *path, struct err *err);

/* The same from memory; `name` stands for the path in messages. */
int yaml_load_text(struct yaml_node *root, const char *name, const char *text,
                   size_t len, struct err *err);

void yaml_fini(struct yaml_node *root);

#endif
