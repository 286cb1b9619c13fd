#include "loadgen/api/inputs.h"

#include <stdlib.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/settings.h"
#include "common/xalloc.h"
#include "loadgen/api/api.h"

static int parse_tensors(struct inputs *in, const struct strlist *texts,
                         struct err *err)
{
    in->tensors = xcalloc(texts->len, sizeof(*in->tensors));
    for (size_t i = 0; i < texts->len; i++) {
        if (tensor_parse(texts->items[i], &in->tensors[in->len++], err))
            return err_context(err, "data.tensors");
    }
    return 0;
}

static int cut_data(const struct inputs *in, struct api *api, struct err *err)
{
    size_t size = 0;

    if (!api->sampler.data)
        return 0;
    for (size_t i = 0; i < in->len; i++) {
        if (in->tensors[i].type->kind == TENSOR_BYTES)
            return err_set(err, ERR_CONFIG,
                           "data.tensors: %s has no fixed size, and cannot "
                           "come from a file",
                           in->tensors[i].name);
        size += tensor_size(&in->tensors[i]);
    }
    return sampler_cut(&api->sampler, size, err);
}

int inputs_init(struct inputs *in, struct api *api, struct err *err)
{
    const struct strlist *texts = &api->settings->data.tensors;

    if (texts->len == 0)
        return err_set(err, ERR_CONFIG,
                       "data.tensors: what does the model take? ('x FP32 "
                       "1x16')");
    return parse_tensors(in, texts, err) || cut_data(in, api, err) ? -1 : 0;
}

void inputs_fini(struct inputs *in)
{
    free(in->tensors);
}

struct values values_of(const struct api *api, const struct sample *sample)
{
    return (struct values){
        .raw = api->sampler.data ? sample_raw(&api->sampler, sample) : NULL,
        .rng = sample->rng};
}

void values_put_raw(struct values *v, const struct tensor *t, struct buf *out)
{
    if (!v->raw) {
        tensor_put_raw(t, &v->rng, out);
        return;
    }
    buf_add(out, v->raw, tensor_size(t));
    v->raw += tensor_size(t);
}

void values_put_flat(struct values *v, const struct tensor *t, struct buf *out)
{
    if (!v->raw) {
        tensor_put_flat(t, &v->rng, out);
        return;
    }
    tensor_show_flat(t, v->raw, out);
    v->raw += tensor_size(t);
}

void values_put_nested(struct values *v, const struct tensor *t,
                       struct buf *out)
{
    if (!v->raw) {
        tensor_put_nested(t, &v->rng, out);
        return;
    }
    tensor_show_nested(t, v->raw, out);
    v->raw += tensor_size(t);
}
