/* The scanner and jansson agree on what is JSON and on what is in it, but for
 * what common/text/jscan.h names; and whatever one asks for, each value is
 * taken once and checked. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/text/jscan.h"
#include "tests/support/jtree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_json(const char *text, size_t len)
{
    struct jscan s;

    jscan_init(&s, text, len);
    return jscan_skip(&s) && jscan_end(&s);
}

/* ---- by asking ---- */

static void ask(struct jscan *s, unsigned *dice);

static void ask_object(struct jscan *s, unsigned *dice)
{
    struct jtext key;

    if (!jscan_object(s))
        return;
    while (jscan_key(s, &key)) {
        jtext_is(key, "choices");
        ask(s, dice);
    }
}

static void ask_array(struct jscan *s, unsigned *dice)
{
    if (!jscan_array(s))
        return;
    while (jscan_item(s))
        ask(s, dice);
}

static void ask(struct jscan *s, unsigned *dice)
{
    struct jtext text;
    int64_t i;
    double d;
    bool is_true;

    *dice = *dice * 1103515245 + 12345;
    switch ((*dice >> 16) % 8) {
    case 0:
        jscan_string(s, &text);
        break;
    case 1:
        jscan_int(s, &i);
        break;
    case 2:
        jscan_number(s, &d);
        break;
    case 3:
        jscan_bool(s, &is_true);
        break;
    case 4:
    case 5:
        ask_array(s, dice);
        break;
    default:
        ask_object(s, dice);
    }
}

static bool is_json_by_asking(const char *text, size_t len)
{
    unsigned dice = (unsigned)len;
    struct jscan s;

    jscan_init(&s, text, len);
    ask(&s, &dice);
    return jscan_end(&s);
}

/* ---- by jansson ---- */

static int depth(const json_t *json)
{
    int deepest = 0;
    const char *key;
    json_t *value;
    size_t i;

    json_object_foreach((json_t *)json, key, value)
    {
        int d = depth(value);

        deepest = d > deepest ? d : deepest;
    }
    json_array_foreach(json, i, value)
    {
        int d = depth(value);

        deepest = d > deepest ? d : deepest;
    }
    return json_is_object(json) || json_is_array(json) ? deepest + 1 : 0;
}

/* May jansson have refused what we take? */
static bool is_known(const json_error_t *error)
{
    enum json_error_code code = json_error_code(error);

    return code == json_error_numeric_overflow ||
           code == json_error_null_byte_in_key ||
           strncmp(error->text, "invalid Unicode '\\u", 19) == 0;
}

/* One that jscan_number() does not take? */
static bool has_long_number(const char *text, size_t len)
{
    size_t run = 0;

    for (size_t i = 0; i < len && run < JSCAN_MAX_NUMBER; i++)
        run = text[i] && strchr("+-.0123456789Ee", text[i]) ? run + 1 : 0;
    return run >= JSCAN_MAX_NUMBER;
}

static void compare(const char *text, size_t len)
{
    json_error_t error;
    json_t *theirs = jtree_of_jansson(text, len, &error);
    json_t *ours;

    if (is_json(text, len) != (theirs != NULL)) {
        if (theirs ? depth(theirs) <= JSCAN_MAX_DEPTH : !is_known(&error))
            abort();
    } else if (theirs) {
        ours = jtree_read(text, len);
        if (!json_equal(ours, theirs) && !has_long_number(text, len))
            abort();
        json_decref(ours);
    }
    json_decref(theirs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;

    if (is_json(text, size) != is_json_by_asking(text, size))
        abort();
    if (size == 0 || !memchr(text, '\0', size))
        compare(text, size);
    else if (is_json(text, size))
        abort();
    return 0;
}
