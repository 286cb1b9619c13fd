/* Finds the meaning of the fields of a data set from their names and contents.
 */
#include "loadgen/payload/data_format.h"

#include <string.h>

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "common/spec/dist.h"
#include "common/text/jscan.h"

#define MAX_NAMES 8

/* In order of preference. */
static const char *const names[ROLE_COUNT][MAX_NAMES] = {
    [ROLE_TEXT] = {"prompt", "text", "question", "instruction", "input"},
    [ROLE_IDS] = {"input_ids", "prompt_ids", "token_ids", "prompt_token_ids"},
    [ROLE_MESSAGES] = {"messages"},
    [ROLE_INPUT] = {"input_tokens", "input_length", "prompt_tokens",
                    "prompt_len"},
    [ROLE_OUTPUT] = {"output_tokens", "output_length", "max_tokens",
                     "max_completion_tokens", "max_new_tokens", "output_len"},
    [ROLE_LABEL] = {"label", "answer", "target", "expected", "reference"},
};

/* ---- checking values ---- */

/* The number of ids in a list of token ids; -1 if it is not one. */
static int64_t count_ids(const char *text, size_t len)
{
    struct jscan s;
    int64_t n = 0;
    int64_t id;

    jscan_init(&s, text, len);
    if (!jscan_array(&s))
        return -1;
    for (; jscan_item(&s); n++) {
        if (!jscan_int(&s, &id) || id < 0)
            return -1;
    }
    return jscan_end(&s) && n > 0 ? n : -1;
}

struct texts {
    struct jtext first; /* .at NULL: none was found */
    struct jtext last;
};

static void take_text(struct jscan *s, struct texts *found)
{
    struct jtext text;

    if (!jscan_string(s, &text))
        return;
    found->last = text;
    if (!found->first.at)
        found->first = text;
}

/* A string, or a list of parts: {"type":"text","text":"..."}, images, ... */
static void read_content(struct jscan *s, struct texts *found)
{
    struct jtext key;

    if (jscan_peek(s) == JSCAN_STRING) {
        take_text(s, found);
        return;
    }
    if (!jscan_array(s))
        return;
    while (jscan_item(s)) {
        if (!jscan_object(s))
            continue;
        while (jscan_key(s, &key)) {
            if (jtext_is(key, "text"))
                take_text(s, found);
            else
                jscan_skip(s);
        }
    }
}

/* NULL, or what is wrong; finds where the texts begin and end. */
static const char *check_messages(const struct dataset *d,
                                  const struct value *v, struct item *item)
{
    const char *text = dataset_text(d, v);
    struct texts found = {0};
    struct jtext key;
    struct jscan s;

    jscan_init(&s, text, v->len);
    if (!jscan_array(&s))
        return "not a list of messages";
    while (jscan_item(&s)) {
        struct jtext role = {0};

        if (!jscan_object(&s))
            return "a message that is not an object";
        while (jscan_key(&s, &key)) {
            if (jtext_is(key, "role"))
                jscan_string(&s, &role);
            else if (jtext_is(key, "content"))
                read_content(&s, &found);
            else
                jscan_skip(&s);
        }
        if (!role.at)
            return "a message without a role";
    }
    if (!found.first.at)
        return "no text in the messages";
    item->head = (uint32_t)(found.first.at - text);
    item->tail = (uint32_t)(found.last.at + found.last.len - text);
    return NULL;
}

/* A whole number, also as text, as in CSV, where an empty field is allowed. */
static const char *check_count(const struct dataset *d, const struct value *v,
                               int32_t *out)
{
    struct jscan s;
    int64_t n;

    if (v->kind == VALUE_TEXT && v->len == 0)
        return NULL;
    jscan_init(&s, dataset_text(d, v), v->len);
    if (!jscan_int(&s, &n) || !jscan_end(&s) || n < 1 || n > DIST_MAX_TOKENS)
        return "not a number of tokens";
    *out = (int32_t)n;
    return NULL;
}

static const char *check_value(const struct dataset *d, enum role role,
                               const struct value *v, struct item *item)
{
    int64_t ids;

    switch (role) {
    case ROLE_TEXT:
        if (v->kind != VALUE_TEXT)
            return "not a text";
        return v->len == 0 ? "is empty" : NULL;
    case ROLE_IDS:
        ids =
            v->kind == VALUE_JSON ? count_ids(dataset_text(d, v), v->len) : -1;
        if (ids < 0)
            return "not a list of token ids";
        if (ids > DIST_MAX_TOKENS)
            return "more than 3,000,000 tokens";
        item->input = (int32_t)ids;
        return NULL;
    case ROLE_MESSAGES:
        return check_messages(d, v, item);
    case ROLE_INPUT:
        return check_count(d, v, &item->input);
    case ROLE_OUTPUT:
        return check_count(d, v, &item->output);
    default:
        return NULL; /* a label may be anything */
    }
}

/* ---- all samples ---- */

/* Token ids come after the number of tokens, which they override. */
static int check_item(struct dataset *d, size_t i, struct err *err)
{
    struct item *item = &d->items[i];

    for (int r = ROLE_COUNT - 1; r >= 0; r--) {
        const struct value *v =
            d->role[r] >= 0 ? dataset_value(d, i, d->role[r]) : NULL;
        const char *wrong = v ? check_value(d, (enum role)r, v, item) : NULL;

        if (wrong)
            return data_fail(d, item->line, err, "%s: %s",
                             d->columns.items[d->role[r]], wrong);
        if (!v && d->lacks[r] == 0)
            d->lacks[r] = item->line;
    }
    return 0;
}

/* The field that data.prompt names; the first sample shows its form. */
static int place_prompt(struct dataset *d, const char *name, struct err *err)
{
    int column = dataset_column(d, name, strlen(name));
    const struct value *v = column >= 0 ? dataset_value(d, 0, column) : NULL;
    enum role role = ROLE_TEXT;

    if (!v) {
        data_fail(d, d->items[0].line, err, "has no field '%s'", name);
        return err_context(err, "data.prompt");
    }
    if (v->kind == VALUE_JSON)
        role = count_ids(dataset_text(d, v), v->len) > 0 ? ROLE_IDS
                                                         : ROLE_MESSAGES;
    for (int f = 0; f < FORM_COUNT; f++)
        d->role[f] = f == (int)role ? column : -1;
    return 0;
}

static int place_named(struct dataset *d, enum role role, const char *name,
                       const char *key, struct err *err)
{
    if (!name)
        return 0;
    d->role[role] = dataset_column(d, name, strlen(name));
    if (d->role[role] < 0) {
        data_fail(d, d->items[0].line, err, "has no field '%s'", name);
        return err_context(err, "data.%s", key);
    }
    return dataset_require(d, d->role[role], err);
}

/* Some names ("input") are a text in one file and a table in the next: a field
 * that is not a text in the first sample is not the prompt. */
int columns_resolve(struct dataset *d, const struct data_settings *s,
                    struct err *err)
{
    const struct value *text = NULL;

    for (int r = 0; r < ROLE_COUNT; r++) {
        d->role[r] = -1;
        for (int i = 0; i < MAX_NAMES && names[r][i] && d->role[r] < 0; i++)
            d->role[r] = dataset_column(d, names[r][i], strlen(names[r][i]));
    }
    if (d->role[ROLE_TEXT] >= 0)
        text = dataset_value(d, 0, d->role[ROLE_TEXT]);
    if (text && text->kind != VALUE_TEXT)
        d->role[ROLE_TEXT] = -1;
    if ((s->prompt && place_prompt(d, s->prompt, err)) ||
        place_named(d, ROLE_OUTPUT, s->output, "output", err) ||
        place_named(d, ROLE_LABEL, s->label, "label", err))
        return -1;
    for (size_t i = 0; i < d->n; i++) {
        if (check_item(d, i, err))
            return -1;
    }
    for (int f = 0; f < FORM_COUNT; f++)
        d->forms[f] = d->role[f] >= 0 && d->lacks[f] == 0;
    return 0;
}
