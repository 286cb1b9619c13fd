/* A document as JSON: keys in the order of the tree.  A missing value is null,
 * with the reason in a _note next to it. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "common/base/buf.h"
#include "common/text/json.h"

/* Deeper than any report; what lies below is not walked into. */
#define MAX_DEPTH 16
#define MAX_PATH  1024

static json_t *text_to_json(const char *text)
{
    return json_bytes(text, strlen(text));
}

static json_t *number_to_json(const struct doc_node *n, double value)
{
    if (!isfinite(value))
        return json_null();
    return json_real(n->kind == DOC_NS ? value / 1e6 : value);
}

json_t *doc_value_to_json(const struct doc_node *n)
{
    if (n->is_missing)
        return json_null();
    if (n->is_range)
        return json_pack("[oo]", number_to_json(n, n->number),
                         number_to_json(n, n->high));
    switch (n->kind) {
    case DOC_NULL:
    case DOC_PLOT:
        return json_null();
    case DOC_TEXT:
        return text_to_json(n->text);
    case DOC_BOOL:
        return json_boolean(n->count);
    case DOC_COUNT:
        return json_integer(n->count);
    default:
        return number_to_json(n, n->number);
    }
}

static json_t *node_to_json(const struct doc_node *n);

/* The reason why the value `key` is missing. */
static void put_note(json_t *object, const char *key, const char *note)
{
    char name[MAX_PATH];

    snprintf(name, sizeof(name), "%.*s_note",
             (int)(sizeof(name) - sizeof("_note")), key);
    json_object_set_new(object, name, text_to_json(note));
}

/* "p99.9_ms" -> "p999": the key of a duration has its note without the unit. */
static void put_alias(json_t *object, const struct doc_node *n)
{
    char name[MAX_PATH];
    size_t len = strlen(n->alias);

    json_object_set(object, n->alias, json_object_get(object, n->key));
    if (!n->is_missing || !n->note)
        return;
    len -= len > 3 && strcmp(n->alias + len - 3, "_ms") == 0 ? 3 : 0;
    snprintf(name, sizeof(name), "%.*s", (int)len, n->alias);
    put_note(object, name, n->note);
}

static void put_node(json_t *object, const struct doc_node *n)
{

    if (n->is_text_only)
        return;
    if (!n->key) {
        for (const struct doc_node *c = n->first; c; c = c->next) {
            if (n->type == DOC_SECTION || n->type == DOC_ROWS)
                put_node(object, c);
        }
        return;
    }
    json_object_set_new(object, n->key, node_to_json(n));
    if (n->is_missing && n->note && n->note_key)
        json_object_set_new(object, n->note_key, text_to_json(n->note));
    else if (n->is_missing && n->note)
        put_note(object, n->key, n->note);
    if (n->alias)
        put_alias(object, n);
}

static json_t *node_to_json(const struct doc_node *n)
{
    json_t *all;

    if (n->type == DOC_VALUE)
        return doc_value_to_json(n);
    if (n->type == DOC_LINE)
        return text_to_json(n->text);
    all = n->type == DOC_LIST || n->type == DOC_TABLE ? json_array()
                                                      : json_object();
    for (const struct doc_node *c = n->first; c; c = c->next) {
        if (json_is_object(all))
            put_node(all, c);
        else if (!c->is_text_only)
            json_array_append_new(all, node_to_json(c));
    }
    return all;
}

json_t *doc_to_json(const struct doc *d)
{
    return node_to_json(doc_root(d));
}

void doc_json(struct doc_node *in, const char *key, const json_t *json)
{
    struct doc_node *n;
    const char *name;
    json_t *part;
    size_t i;

    if (json_is_string(json)) {
        doc_text(in, key, NULL, json_string_value(json));
    } else if (json_is_integer(json)) {
        doc_count(in, key, NULL, json_integer_value(json));
    } else if (json_is_real(json)) {
        doc_number(in, key, NULL, json_real_value(json));
    } else if (json_is_boolean(json)) {
        doc_bool(in, key, NULL, json_is_true(json));
    } else if (json_is_object(json) || json_is_array(json)) {
        n = json_is_object(json) ? doc_section(in, key, NULL)
                                 : doc_list(in, key, NULL);
        json_object_foreach((json_t *)(uintptr_t)json, name, part)
        {
            doc_json(n, name, part);
        }
        json_array_foreach(json, i, part)
        {
            doc_json(n, NULL, part);
        }
    } else {
        doc_null(in, key, NULL);
    }
}

void doc_render_json(const struct doc *d, struct buf *out)
{
    json_t *json = doc_to_json(d);

    json_print(json, out);
    json_decref(json);
}

/* Keys by their names and places in lists by their numbers, with dots between
 * them.  An empty object or list has no line. */
static void put_leaves(const json_t *json, const char *path, int depth,
                       struct buf *out)
{
    const char *between = path[0] ? "." : "";
    char below[MAX_PATH];
    const char *key;
    json_t *part;
    size_t i;

    if (depth == MAX_DEPTH || !(json_is_object(json) || json_is_array(json))) {
        buf_addf(out, "%s ", path);
        json_print_value(json, out);
        buf_adds(out, "\n");
        return;
    }
    json_object_foreach((json_t *)(uintptr_t)json, key, part)
    {
        snprintf(below, sizeof(below), "%s%s%s", path, between, key);
        put_leaves(part, below, depth + 1, out);
    }
    json_array_foreach(json, i, part)
    {
        snprintf(below, sizeof(below), "%s%s%zu", path, between, i);
        put_leaves(part, below, depth + 1, out);
    }
}

void doc_render_full(const struct doc *d, struct buf *out)
{
    json_t *json = doc_to_json(d);

    doc_render_text(d, out);
    buf_adds(out, "\nevery value, by its name in the JSON report\n");
    put_leaves(json, "", 0, out);
    json_decref(json);
}
