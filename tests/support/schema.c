#include "tests/support/schema.h"

#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/keep.h"
#include "tests/support/test.h"

#define MAX_DEPTH 32

/* Where in the document, and the schema that references are resolved in. */
struct at {
    const json_t *root;
    const char *path;
    int depth;
};

static const char *check(struct at at, const json_t *schema,
                         const json_t *json);

static struct at below(struct at at, const char *name)
{
    at.path = keepf("%s/%s", at.path, name);
    at.depth++;
    return at;
}

/* ---- keywords ---- */

static bool is_type(const char *name, const json_t *json)
{
    return (strcmp(name, "object") == 0 && json_is_object(json)) ||
           (strcmp(name, "array") == 0 && json_is_array(json)) ||
           (strcmp(name, "string") == 0 && json_is_string(json)) ||
           (strcmp(name, "integer") == 0 && json_is_integer(json)) ||
           (strcmp(name, "number") == 0 && json_is_number(json)) ||
           (strcmp(name, "boolean") == 0 && json_is_boolean(json)) ||
           (strcmp(name, "null") == 0 && json_is_null(json));
}

static const char *check_type(struct at at, const json_t *type,
                              const json_t *json)
{
    if (json_is_string(type) && is_type(json_string_value(type), json))
        return NULL;
    for (size_t i = 0; i < json_array_size(type); i++) {
        if (is_type(json_string_value(json_array_get(type, i)), json))
            return NULL;
    }
    return keepf("%s: another type than the schema has", at.path);
}

static const char *check_required(struct at at, const json_t *keys,
                                  const json_t *json)
{
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *key = json_string_value(json_array_get(keys, i));

        if (json_is_object(json) && !json_object_get(json, key))
            return keepf("%s: '%s' is missing", at.path, key);
    }
    return NULL;
}

static const json_t *by_pattern(const json_t *patterns, const char *key)
{
    const char *pattern;
    json_t *schema;

    json_object_foreach((json_t *)(uintptr_t)patterns, pattern, schema)
    {
        regex_t re;
        bool is_match;

        assert_int_equal(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);
        is_match = regexec(&re, key, 0, NULL, 0) == 0;
        regfree(&re);
        if (is_match)
            return schema;
    }
    return NULL;
}

/* properties, patternProperties and additionalProperties. */
static const char *check_members(struct at at, const json_t *schema,
                                 const json_t *json)
{
    const json_t *others = json_object_get(schema, "additionalProperties");
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        const json_t *own =
            json_object_get(json_object_get(schema, "properties"), key);
        const char *fault;

        if (!own)
            own = by_pattern(json_object_get(schema, "patternProperties"), key);
        if (!own && json_is_false(others))
            return keepf("%s: '%s' is not in the schema", at.path, key);
        if (!own)
            own = others;
        fault = own ? check(below(at, key), own, value) : NULL;
        if (fault)
            return fault;
    }
    return NULL;
}

static const char *check_items(struct at at, const json_t *schema,
                               const json_t *json)
{
    const json_t *items = json_object_get(schema, "items");
    const json_t *min = json_object_get(schema, "minItems");
    const json_t *max = json_object_get(schema, "maxItems");
    size_t n = json_array_size(json);

    if (!json_is_array(json))
        return NULL;
    if (min && (json_int_t)n < json_integer_value(min))
        return keepf("%s: too short", at.path);
    if (max && (json_int_t)n > json_integer_value(max))
        return keepf("%s: too long", at.path);
    for (size_t i = 0; items && i < n; i++) {
        const char *fault =
            check(below(at, keepf("%zu", i)), items, json_array_get(json, i));

        if (fault)
            return fault;
    }
    return NULL;
}

/* The fault in the last of them, which says more than "none of them". */
static const char *check_any(struct at at, const json_t *choices,
                             const json_t *json)
{
    const char *first = NULL;

    for (size_t i = 0; i < json_array_size(choices); i++) {
        const char *fault = check(at, json_array_get(choices, i), json);

        if (!fault)
            return NULL;
        first = first ? first : fault;
    }
    return first;
}

static const json_t *referred(struct at at, const char *ref)
{
    static const char prefix[] = "#/$defs/";
    const json_t *found;

    assert_int_equal(strncmp(ref, prefix, strlen(prefix)), 0);
    found = json_object_get(json_object_get(at.root, "$defs"),
                            ref + strlen(prefix));
    assert_non_null(found);
    return found;
}

static bool is_known(const char *keyword)
{
    static const char *const known[] = {"$schema",    "$defs",
                                        "$ref",       "title",
                                        "type",       "required",
                                        "items",      "description",
                                        "properties", "minItems",
                                        "maxItems",   "patternProperties",
                                        "anyOf",      "additionalProperties"};

    for (size_t i = 0; i < COUNT(known); i++) {
        if (strcmp(keyword, known[i]) == 0)
            return true;
    }
    return false;
}

static const char *check(struct at at, const json_t *schema, const json_t *json)
{
    const json_t *ref = json_object_get(schema, "$ref");
    const json_t *any = json_object_get(schema, "anyOf");
    const json_t *type = json_object_get(schema, "type");
    const char *fault = NULL;
    const char *keyword;
    json_t *ignored;

    assert_true(at.depth < MAX_DEPTH);
    json_object_foreach((json_t *)(uintptr_t)schema, keyword, ignored)
    {
        if (!is_known(keyword))
            fail_msg("the validator does not know '%s'", keyword);
    }
    if (ref)
        fault = check(at, referred(at, json_string_value(ref)), json);
    if (!fault && any)
        fault = check_any(at, any, json);
    if (!fault && type)
        fault = check_type(at, type, json);
    if (!fault)
        fault = check_required(at, json_object_get(schema, "required"), json);
    if (!fault)
        fault = check_members(at, schema, json);
    return fault ? fault : check_items(at, schema, json);
}

/* ---- documents ---- */

json_t *schema_load(const char *name)
{
    char *path =
        keepf("%s/docs/schema/%s.json", getenv("TAILGATE_SOURCE"), name);
    json_error_t error;
    json_t *schema = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

    if (!schema)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    return schema;
}

const char *schema_fault(const json_t *schema, const json_t *json)
{
    return check((struct at){.root = schema, .path = ""}, schema, json);
}

void assert_schema(const char *name, const json_t *json)
{
    json_t *schema = schema_load(name);
    const char *fault = schema_fault(schema, json);

    if (fault)
        fail_msg("docs/schema/%s.json: %s", name, fault);
    json_decref(schema);
}

void assert_schema_text(const char *name, const char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, 0, &error);

    if (!json)
        fail_msg("%s: no JSON: %s", name, error.text);
    assert_schema(name, json);
    json_decref(json);
}

void assert_schema_file(const char *name, const char *path)
{
    json_error_t error;
    json_t *json = json_load_file(path, 0, &error);

    if (!json)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    assert_schema(name, json);
    json_decref(json);
}

void assert_described(const json_t *schema)
{
    const char *key;
    json_t *part;
    size_t i;

    json_object_foreach(json_object_get(schema, "properties"), key, part)
    {
        const char *text =
            json_string_value(json_object_get(part, "description"));

        if (!text || !text[0])
            fail_msg("'%s' has no description", key);
    }
    json_object_foreach((json_t *)(uintptr_t)schema, key, part)
    {
        assert_described(part);
    }
    json_array_foreach(schema, i, part)
    {
        assert_described(part);
    }
}
