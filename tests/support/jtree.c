#include "tests/support/jtree.h"

#include "common/base/buf.h"

#define MAX_STRING ((size_t)1 << 24)

static json_t *read_value(struct jscan *s);

/* What the string means, for buf_fini(). */
static void decode(struct buf *out, struct jtext text)
{
    buf_init(out, MAX_STRING);
    jtext_decode(text, out);
}

static json_t *read_object(struct jscan *s)
{
    json_t *object = json_object();
    struct jtext key;

    jscan_object(s);
    while (jscan_key(s, &key)) {
        json_t *value = read_value(s);
        struct buf name;

        decode(&name, key);
        if (!value ||
            json_object_set_new(object, buf_text(&name), value) != 0 ||
            !jtext_is(key, buf_text(&name)))
            s->has_failed = true;
        buf_fini(&name);
    }
    return object;
}

static json_t *read_array(struct jscan *s)
{
    json_t *array = json_array();

    jscan_array(s);
    while (jscan_item(s)) {
        if (json_array_append_new(array, read_value(s)) != 0)
            s->has_failed = true;
    }
    return array;
}

static json_t *read_string(struct jscan *s)
{
    struct jtext text;
    json_t *string;
    struct buf value;

    if (!jscan_string(s, &text))
        return NULL;
    decode(&value, text);
    string = json_stringn(buf_text(&value), value.len);
    buf_fini(&value);
    return string;
}

static json_t *read_number(struct jscan *s)
{
    struct jscan before = *s;
    int64_t i;
    double d;

    if (jscan_int(s, &i))
        return json_integer(i);
    *s = before;
    return jscan_number(s, &d) ? json_real(d) : NULL;
}

static json_t *read_value(struct jscan *s)
{
    bool is_true;

    switch (jscan_peek(s)) {
    case JSCAN_OBJECT:
        return read_object(s);
    case JSCAN_ARRAY:
        return read_array(s);
    case JSCAN_STRING:
        return read_string(s);
    case JSCAN_NUMBER:
        return read_number(s);
    case JSCAN_BOOL:
        return jscan_bool(s, &is_true) ? json_boolean(is_true) : NULL;
    default:
        return jscan_skip(s) ? json_null() : NULL;
    }
}

json_t *jtree_read(const char *text, size_t len)
{
    struct jscan s;
    json_t *tree;

    jscan_init(&s, text, len);
    tree = read_value(&s);
    if (jscan_end(&s))
        return tree;
    json_decref(tree);
    return NULL;
}

json_t *jtree_of_jansson(const char *text, size_t len, json_error_t *error)
{
    return json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, error);
}
