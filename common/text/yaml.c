#include "common/text/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"

#define MAX_DEPTH 8
#define DECORATED "anchors, aliases and tags are not allowed"

struct loader {
    yaml_parser_t parser;
    const char *name;
    const char *text;
    struct err *err;
};

static int refuse(struct loader *l, size_t line, const char *what)
{
    return err_set(l->err, ERR_CONFIG, "%s:%zu: %s", l->name, line, what);
}

/* What libyaml says of common mistakes, and what to look for. */
static const struct {
    const char *says;
    const char *means;
    bool is_at_context; /* the line of the context is the one to look at */
} problems[] = {
    {"did not find expected key",
     "the indentation does not fit the lines above, or there is one bracket "
     "too many",
     false},
    {"did not find expected ',' or ']'", "a ',' or ']' is missing", false},
    {"did not find expected ',' or '}'", "a ',' or '}' is missing", false},
    {"could not find expected ':'",
     "a ':' is missing after the key, or the line belongs to the one above",
     true},
    {"mapping values are not allowed in this context",
     "the indentation is wrong, or a value with a ':' needs quotes", false},
    {"found character that cannot start any token",
     "a tab or a character that needs quotes", false},
    {"found unexpected end of stream", "a quote is not closed", true},
};

/* libyaml reports the line of every problem except encoding errors. */
static int next_event(struct loader *l, yaml_event_t *event)
{
    const yaml_parser_t *p = &l->parser;
    size_t line;

    if (yaml_parser_parse(&l->parser, event))
        return 0;
    line = p->error == YAML_READER_ERROR ? 1 : p->problem_mark.line + 1;
    for (size_t i = 0; p->error == YAML_READER_ERROR && i < p->problem_offset;
         i++)
        line += l->text[i] == '\n';
    for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++) {
        if (!p->problem || strcmp(p->problem, problems[i].says) != 0)
            continue;
        if (problems[i].is_at_context)
            line = p->context_mark.line + 1;
        return refuse(l, line, problems[i].means);
    }
    return refuse(l, line, p->problem ? p->problem : "not YAML");
}

static struct yaml_node *add_item(struct yaml_node *parent)
{
    parent->items =
        xrealloc(parent->items, parent->len + 1, sizeof(*parent->items));
    parent->items[parent->len] = (struct yaml_node){0};
    return &parent->items[parent->len++];
}

static int read_node(struct loader *l, struct yaml_node *node,
                     const yaml_event_t *event, int depth);

static bool is_decorated(const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        return e->data.scalar.anchor || e->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT:
        return e->data.sequence_start.anchor || e->data.sequence_start.tag;
    case YAML_MAPPING_START_EVENT:
        return e->data.mapping_start.anchor || e->data.mapping_start.tag;
    default:
        return false;
    }
}

static int read_entry(struct loader *l, struct yaml_node *map,
                      const yaml_event_t *event, int depth)
{
    size_t line = event->start_mark.line + 1;
    struct yaml_node *entry;
    yaml_event_t value;
    const char *key;
    int rc;

    if (event->type != YAML_SCALAR_EVENT)
        return refuse(l, line, "a key must be a plain word");
    if (is_decorated(event))
        return refuse(l, line, DECORATED);
    key = (const char *)event->data.scalar.value;
    if (strlen(key) != event->data.scalar.length)
        return refuse(l, line, "a NUL character in a key");
    for (size_t i = 0; i < map->len; i++) {
        if (strcmp(map->items[i].key, key) == 0)
            return err_set(l->err, ERR_CONFIG,
                           "%s:%zu: duplicate key '%s', first on line %zu",
                           l->name, line, key, map->items[i].line);
    }
    entry = add_item(map);
    entry->key = xstrdup(key);
    if (next_event(l, &value))
        return -1;
    rc = read_node(l, entry, &value, depth);
    yaml_event_delete(&value);
    entry->line = line;
    return rc;
}

/* Read the items of a list, or the entries of a map, up to its end. */
static int read_items(struct loader *l, struct yaml_node *parent, int depth)
{
    bool is_list = parent->kind == YAML_LIST;
    yaml_event_type_t end =
        is_list ? YAML_SEQUENCE_END_EVENT : YAML_MAPPING_END_EVENT;

    for (;;) {
        yaml_event_t event;
        int rc = 0;
        bool done;

        if (next_event(l, &event))
            return -1;
        done = event.type == end;
        if (!done)
            rc = is_list ? read_node(l, add_item(parent), &event, depth)
                         : read_entry(l, parent, &event, depth);
        yaml_event_delete(&event);
        if (rc || done)
            return rc;
    }
}

static int read_node(struct loader *l, struct yaml_node *node,
                     const yaml_event_t *event, int depth)
{
    const char *text;

    node->line = event->start_mark.line + 1;
    if (depth == MAX_DEPTH)
        return refuse(l, node->line, "nested too deeply");
    if (event->type == YAML_ALIAS_EVENT || is_decorated(event))
        return refuse(l, node->line, DECORATED);
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        text = (const char *)event->data.scalar.value;
        if (strlen(text) != event->data.scalar.length)
            return refuse(l, node->line, "a NUL character in a value");
        node->kind = YAML_SCALAR;
        node->text = xstrdup(text);
        return 0;
    case YAML_SEQUENCE_START_EVENT:
        node->kind = YAML_LIST;
        return read_items(l, node, depth + 1);
    case YAML_MAPPING_START_EVENT:
        node->kind = YAML_MAP;
        return read_items(l, node, depth + 1);
    default:
        return refuse(l, node->line, "not a value");
    }
}

/* Stream start, at most one document, stream end. */
static int read_stream(struct loader *l, struct yaml_node *root)
{
    bool has_root = false;

    *root = (struct yaml_node){.kind = YAML_MAP, .line = 1};
    for (;;) {
        yaml_event_t event;
        yaml_event_type_t type;
        int rc = 0;

        if (next_event(l, &event))
            return -1;
        type = event.type;
        if (type == YAML_DOCUMENT_START_EVENT && has_root)
            rc = refuse(l, event.start_mark.line + 1,
                        "the file must contain only one document");
        else if (type != YAML_STREAM_START_EVENT &&
                 type != YAML_STREAM_END_EVENT &&
                 type != YAML_DOCUMENT_START_EVENT &&
                 type != YAML_DOCUMENT_END_EVENT) {
            has_root = true;
            rc = read_node(l, root, &event, 0);
        }
        yaml_event_delete(&event);
        if (rc || type == YAML_STREAM_END_EVENT)
            return rc;
    }
}

int yaml_load_text(struct yaml_node *root, const char *name, const char *text,
                   size_t len, struct err *err)
{
    struct loader l = {.name = name, .text = text, .err = err};
    int rc;

    if (!yaml_parser_initialize(&l.parser))
        return err_set(err, ERR_IO, "cannot initialize libyaml");
    yaml_parser_set_input_string(&l.parser, (const unsigned char *)text, len);
    rc = read_stream(&l, root);
    yaml_parser_delete(&l.parser);
    if (!rc && root->kind != YAML_MAP)
        rc = refuse(&l, root->line, "expected 'key: value' lines");
    if (rc)
        yaml_fini(root);
    return rc;
}

int yaml_load_file(struct yaml_node *root, const char *path, struct err *err)
{
    struct buf text;
    int rc;

    buf_init(&text, YAML_MAX_FILE);
    rc = file_read(path, &text, err);
    if (rc == 0)
        rc = yaml_load_text(root, path, buf_text(&text), text.len, err);
    buf_fini(&text);
    return rc;
}

void yaml_fini(struct yaml_node *root)
{
    for (size_t i = 0; i < root->len; i++)
        yaml_fini(&root->items[i]);
    free(root->items);
    free(root->key);
    free(root->text);
    *root = (struct yaml_node){0};
}
