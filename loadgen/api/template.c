#include "loadgen/api/template.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/xalloc.h"
#include "loadgen/api/api.h"

#define MAX_TEMPLATE ((size_t)64 << 20)

struct template_field {
    const char *name;
    void (*put)(const struct api *api, const struct sample *s, struct buf *out);
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
    (void)api;
    buf_addf(out, "%lld", (long long)s->prompt_tokens);
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

static const struct template_field fields[] = {
    {"prompt", put_prompt},
    {"prompt_ids", put_ids},
    {"input_tokens", put_input_tokens},
    {"output_tokens", put_output_tokens},
    {"seq", put_seq},
    {"nonce", put_nonce},
    {"model", put_model},
};

static const struct template_field *find(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (strlen(fields[i].name) == len &&
            memcmp(fields[i].name, name, len) == 0)
            return &fields[i];
    }
    return NULL;
}

/* A word between double braces, blanks around it aside. */
struct word {
    const char *at;
    size_t len;   /* 0: there is none */
    size_t whole; /* with braces and blanks */
};

static struct word word_at(const char *text)
{
    struct word w = {.at = text + 2};
    const char *end;

    w.at += strspn(w.at, " ");
    w.len = strspn(w.at, "abcdefghijklmnopqrstuvwxyz_");
    end = w.at + w.len;
    end += strspn(end, " ");
    if (strncmp(end, "}}", 2) != 0)
        w.len = 0;
    w.whole = (size_t)(end + 2 - text);
    return w;
}

static void add_part(struct template *t, size_t start, size_t end,
                     const struct template_field *field)
{
    t->parts = xrealloc(t->parts, t->len + 1, sizeof(*t->parts));
    t->parts[t->len++] = (struct template_part){start, end - start, field};
}

int template_init(struct template *t, struct buf *text, struct err *err)
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
        const struct template_field *field = find(word.at, word.len);

        if (word.len == 0)
            continue;
        if (!field)
            return err_set(err, ERR_CONFIG,
                           "there is no {{%.*s}}; there are prompt, "
                           "prompt_ids, input_tokens, output_tokens, seq, "
                           "nonce, model",
                           (int)word.len, word.at);
        add_part(t, start, (size_t)(at - all), field);
        start = (size_t)(at - all) + word.whole;
    }
    add_part(t, start, t->text.len, NULL);
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
    }
}
