#include "loadgen/api/body_template.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "loadgen/api/api.h"

#define MAX_TEMPLATE ((size_t)64 << 20)

enum field {
    FIELD_PROMPT,
    FIELD_PROMPT_IDS,
    FIELD_MESSAGES,
    FIELD_INPUT_TOKENS,
    FIELD_OUTPUT_TOKENS,
    FIELD_SEQ,
    FIELD_NONCE,
    FIELD_MODEL,
    FIELD_COUNT
};

static const char *const names[FIELD_COUNT] = {
    "prompt",        "prompt_ids", "messages", "input_tokens",
    "output_tokens", "seq",        "nonce",    "model",
};

static void put_field(enum field field, const struct api *api,
                      const struct sample *s, struct buf *out)
{
    const struct sampler *sampler = &api->sampler;
    int64_t number = s->seq;

    switch (field) {
    case FIELD_PROMPT:
        sample_put_text(sampler, s, out);
        return;
    case FIELD_PROMPT_IDS:
        sample_put_ids(sampler, s, out);
        return;
    case FIELD_MESSAGES:
        sample_put_messages(sampler, s, out);
        return;
    case FIELD_MODEL:
        if (api->model)
            jtext_encode(api->model, strlen(api->model), out);
        return;
    case FIELD_NONCE:
        buf_addf(out, "%llu", (unsigned long long)sampler->nonce);
        return;
    case FIELD_INPUT_TOKENS:
        number = sample_input_tokens(sampler, s, api->uses_ids);
        break;
    case FIELD_OUTPUT_TOKENS:
        number = s->output_tokens;
        break;
    default:
        break;
    }
    buf_addf(out, "%lld", (long long)number);
}

/* Does the data set have what the field needs?  Messages come only from a data
 * set. */
static bool is_available(enum field field, const struct dataset *data)
{
    if (!data)
        return field != FIELD_MESSAGES;
    if (field == FIELD_PROMPT)
        return data->forms[FORM_TEXT];
    if (field == FIELD_PROMPT_IDS)
        return data->forms[FORM_IDS];
    if (field == FIELD_MESSAGES)
        return data->forms[FORM_MESSAGES];
    for (size_t i = 0; field == FIELD_INPUT_TOKENS && i < data->n; i++) {
        if (data->items[i].input < 0)
            return false;
    }
    return field != FIELD_INPUT_TOKENS || data->n > 0;
}

/* A word between double braces, without the blanks around it. */
struct word {
    const char *at;
    size_t len;   /* 0: not a word */
    size_t whole; /* with braces and blanks */
};

static struct word word_at(const char *text)
{
    struct word w = {.at = text + 2};
    const char *end;

    w.at += strspn(w.at, " ");
    w.len = strspn(w.at, "abcdefghijklmnopqrstuvwxyz"
                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");
    end = w.at + w.len;
    end += strspn(end, " ");
    if (strncmp(end, "}}", 2) != 0)
        w.len = 0;
    w.whole = (size_t)(end + 2 - text);
    return w;
}

static void add_part(struct template *t, struct template_part part)
{
    t->parts = xrealloc(t->parts, t->len + 1, sizeof(*t->parts));
    t->parts[t->len++] = part;
}

static int refuse(const char *name, size_t len, const struct dataset *data,
                  struct err *err)
{
    struct buf known;

    buf_init(&known, 300);
    for (int f = 0; f < FIELD_COUNT; f++) {
        if (is_available((enum field)f, data))
            buf_addf(&known, "%s%s", known.len > 0 ? ", " : "", names[f]);
    }
    for (size_t i = 0; data && i < data->columns.len; i++)
        buf_addf(&known, ", %s", data->columns.items[i]);
    err_set(err, ERR_CONFIG, "unknown field {{%.*s}}; known are %s", (int)len,
            name, buf_text(&known));
    buf_fini(&known);
    return -1;
}

/* Built-in fields take precedence, if the data set has what they need. */
static int resolve(struct template_part *part, const char *name, size_t len,
                   const struct dataset *data, struct err *err)
{
    for (int f = 0; f < FIELD_COUNT; f++) {
        if (strlen(names[f]) == len && memcmp(names[f], name, len) == 0 &&
            is_available((enum field)f, data)) {
            part->field = f;
            return 0;
        }
    }
    part->column = data ? dataset_column(data, name, len) : -1;
    if (part->column < 0)
        return refuse(name, len, data, err);
    return dataset_require(data, part->column, err);
}

int template_init(struct template *t, struct buf *text,
                  const struct dataset *data, struct err *err)
{
    const char *all;
    const char *at;
    size_t start = 0;

    *t = (struct template){0};
    buf_init(&t->text, MAX_TEMPLATE);
    buf_swap(&t->text, text);
    all = buf_text(&t->text);
    for (at = all; (at = strstr(at, "{{")); at++) {
        const struct word word = word_at(at);
        struct template_part part = {.start = start, .field = -1, .column = -1};

        if (word.len == 0)
            continue;
        part.len = (size_t)(at - all) - start;
        if (resolve(&part, word.at, word.len, data, err))
            return -1;
        add_part(t, part);
        start = (size_t)(at - all) + word.whole;
    }
    add_part(t, (struct template_part){.start = start,
                                       .len = t->text.len - start,
                                       .field = -1,
                                       .column = -1});
    return 0;
}

void template_fini(struct template *t)
{
    buf_fini(&t->text);
    free(t->parts);
}

bool template_has_fields(const struct template *t)
{
    return t->len > 1;
}

bool template_has(const struct template *t, const char *name)
{
    for (size_t i = 0; i < t->len; i++) {
        int field = t->parts[i].field;

        if (field >= 0 && strcmp(names[field], name) == 0)
            return true;
    }
    return false;
}

void template_write(const struct template *t, const struct api *api,
                    const struct sample *sample, struct buf *body)
{
    for (size_t i = 0; i < t->len; i++) {
        const struct template_part *part = &t->parts[i];

        buf_add(body, buf_text(&t->text) + part->start, part->len);
        if (part->field >= 0)
            put_field((enum field)part->field, api, sample, body);
        else if (part->column >= 0)
            sample_put_field(&api->sampler, sample, part->column, body);
    }
}
