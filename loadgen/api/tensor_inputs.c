#include "loadgen/api/tensor_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/text/jscan.h"
#include "loadgen/api/api.h"

int inputs_init(struct inputs *in, struct api *api, struct err *err)
{
    const struct strlist *texts = &api->settings->data.tensors;
    const struct dataset *d = api->sampler.data;
    size_t size = 0; /* of a sample in a file of tensors */

    if (texts->len == 0)
        return err_set(err, ERR_CONFIG,
                       "data.tensors is required: the inputs of the model "
                       "('x FP32 1x16')");
    in->tensors = xcalloc(texts->len, sizeof(*in->tensors));
    for (size_t i = 0; i < texts->len; i++) {
        if (tensor_parse(texts->items[i], &in->tensors[in->len++], err))
            return err_context(err, "data.tensors");
    }
    if (!d)
        return 0;
    for (size_t i = 0; d->is_tensors && i < in->len; i++) {
        if (in->tensors[i].type->kind == TENSOR_BYTES)
            return err_set(err, ERR_CONFIG,
                           "data.tensors: %s has no fixed size and cannot "
                           "come from a file",
                           in->tensors[i].name);
        size += tensor_size(&in->tensors[i]);
    }
    if (d->is_tensors)
        return sampler_set_size(&api->sampler, size, err);
    for (size_t i = 0; i < in->len && !in->prompt; i++) {
        if (in->tensors[i].type->kind == TENSOR_BYTES)
            in->prompt = &in->tensors[i];
    }
    if (!in->prompt)
        return err_set(err, ERR_CONFIG,
                       "data.tensors: the prompts of %s require a tensor of "
                       "type BYTES (--tensor 'text BYTES 1'); for a file of "
                       "tensors use --data-format tensors",
                       d->path);
    return 0;
}

void inputs_fini(struct inputs *in)
{
    free(in->tensors);
}

struct values values_of(const struct inputs *in, const struct api *api,
                        const struct sample *sample)
{
    const struct dataset *d = api->sampler.data;
    bool is_raw = d && d->is_tensors;

    return (struct values){.raw = is_raw ? sample_raw(&api->sampler, sample)
                                         : NULL,
                           .rng = sample->rng,
                           .prompt = in->prompt,
                           .sampler = &api->sampler,
                           .sample = sample};
}

/* The length of the prompt, then the prompt.  Its JSON text is decoded in
 * place: it never becomes longer. */
static void put_prompt_raw(const struct values *v, struct buf *out)
{
    size_t at = out->len;
    size_t from = at + TENSOR_LENGTH_SIZE;
    struct jtext text;
    size_t len;

    buf_add(out, (char[TENSOR_LENGTH_SIZE]){0}, TENSOR_LENGTH_SIZE);
    sample_put_text(v->sampler, v->sample, out);
    len = out->len - from;
    if (out->overflowed || !buf_reserve(out, len))
        return; /* buf is marked as overflowed */
    text =
        (struct jtext){.at = out->data + from, .len = len, .has_escapes = true};
    jtext_decode(text, out);
    out->len -= len;
    memmove(out->data + from, out->data + from + len, out->len - from);
    out->data[out->len] = '\0';
    for (size_t i = 0; i < TENSOR_LENGTH_SIZE; i++)
        out->data[at + i] = (char)((out->len - from) >> (8 * i));
}

static void put_prompt(const struct tensor *t, int64_t i, const void *arg,
                       struct buf *out)
{
    const struct values *v = arg;

    (void)t;
    (void)i;
    buf_adds(out, "\"");
    sample_put_text(v->sampler, v->sample, out);
    buf_adds(out, "\"");
}

void values_put_raw(struct values *v, const struct tensor *t, struct buf *out)
{
    if (v->raw) {
        buf_add(out, v->raw, tensor_size(t));
        v->raw += tensor_size(t);
    } else if (t == v->prompt) {
        for (int64_t i = 0; i < t->n; i++)
            put_prompt_raw(v, out);
    } else {
        tensor_put_raw(t, &v->rng, out);
    }
}

void values_put_flat(struct values *v, const struct tensor *t, struct buf *out)
{
    if (v->raw) {
        tensor_show_flat(t, v->raw, out);
        v->raw += tensor_size(t);
    } else if (t == v->prompt) {
        tensor_put_flat_by(t, put_prompt, v, out);
    } else {
        tensor_put_flat(t, &v->rng, out);
    }
}

void values_put_nested(struct values *v, const struct tensor *t,
                       struct buf *out)
{
    if (v->raw) {
        tensor_show_nested(t, v->raw, out);
        v->raw += tensor_size(t);
    } else if (t == v->prompt) {
        tensor_put_nested_by(t, put_prompt, v, out);
    } else {
        tensor_put_nested(t, &v->rng, out);
    }
}

void values_put_all(struct values *v, const struct inputs *in, struct buf *out,
                    size_t *ends)
{
    for (size_t i = 0; i < in->len; i++) {
        values_put_raw(v, &in->tensors[i], out);
        ends[i] = out->len;
    }
}
