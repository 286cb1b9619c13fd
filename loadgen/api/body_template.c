#include "loadgen/api/body_template.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "loadgen/api/api.h"

#define MAX_TEMPLATE ((size_t)64 << 20)

struct template_field {
    const char *name;
    void (*put)(const struct api *api, const struct sample *s, struct buf *out);

    /* Does the data set have what it needs?  Optional. */
    bool (*is_in)(const struct dataset *data);
};

static void put_prompt(const struct api *api, const struct sample *s,
                       struct buf *out)
{
    sample_put_text(&api->sampler, s, out);
}

static void put_ids(const struct api *api, const struct sample *s,
                    struct buf *out)
{
    sample_put_ids(&api->sampler, s, out);
}

static void put_input_tokens(const struct api *api, const struct sample *s,
                             struct buf *out)
{
    buf_addf(out, "%lld",
             (long long)sample_input_tokens(&api->sampler, s, api->uses_ids));
}

static void put_output_tokens(const struct api *api, const struct sample *s,
                              struct buf *out)
{
    (void)api;
    buf_addf(out, "%lld", (long long)s->output_tokens);
}

static void put_seq(const struct api *api, const struct sample *s,
                    struct buf *out)
{
    (void)api;
    buf_addf(out, "%lld", (long long)s->seq);
}

static void put_nonce(const struct api *api, const struct sample *s,
                      struct buf *out)
{
    (void)s;
    buf_addf(out, "%llu", (unsigned long long)api->sampler.nonce);
}

static void put_model(const struct api *api, const struct sample *s,
                      struct buf *out)
{
    (void)s;
    api_put_escaped(out, api->model ? api->model : "");
}

static void put_messages(const struct api *api, const struct sample *s,
                         struct buf *out)
{
    sample_put_messages(&api->sampler, s, out);
}

static bool has_text(const struct dataset *data)
{
    return data->forms[FORM_TEXT];
}

static bool has_ids(const struct dataset *data)
{
    return data->forms[FORM_IDS];
}

static bool has_messages(const struct dataset *data)
{
    return data->forms[FORM_MESSAGES];
}

static bool has_lengths(const struct dataset *data)
{
    for (size_t i = 0; i < data->n; i++) {
        if (data->items[i].input < 0)
            return false;
    }
    return data->n > 0;
}

static const struct template_field fields[] = {
    {"prompt", put_prompt, has_text},
    {"prompt_ids", put_ids, has_ids},
    {"messages", put_messages, has_messages},
    {"input_tokens", put_input_tokens, has_lengths},
    {"output_tokens", put_output_tokens, NULL},
    {"seq", put_seq, NULL},
    {"nonce", put_nonce, NULL},
    {"model", put_model, NULL},
};

/* Messages come only from a data set. */
static bool is_available(const struct template_field *f,
                         const struct dataset *data)
{
    return data ? !f->is_in || f->is_in(data) : f->is_in != has_messages;
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
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const struct template_field *f = &fields[i];

        if (is_available(f, data))
            buf_addf(&known, "%s%s", known.len > 0 ? ", " : "", f->name);
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
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const struct template_field *f = &fields[i];

        if (strlen(f->name) == len && memcmp(f->name, name, len) == 0 &&
            is_available(f, data)) {
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
        struct template_part part = {.start = start, .column = -1};

        if (word.len == 0)
            continue;
        part.len = (size_t)(at - all) - start;
        if (resolve(&part, word.at, word.len, data, err))
            return -1;
        add_part(t, part);
        start = (size_t)(at - all) + word.whole;
    }
    add_part(t, (struct template_part){
                    .start = start, .len = t->text.len - start, .column = -1});
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
        const struct template_field *field = t->parts[i].field;

        if (field && strcmp(field->name, name) == 0)
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
        if (part->field)
            part->field->put(api, sample, body);
        else if (part->column >= 0)
            sample_put_field(&api->sampler, sample, part->column, body);
    }
}
