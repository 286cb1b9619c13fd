/* tensor_inputs.h - the input tensors of a model and where their values come
 * from; for the APIs that take tensors. */
#ifndef LOADGEN_API_TENSOR_INPUTS_H
#define LOADGEN_API_TENSOR_INPUTS_H

#include <stddef.h>

#include "common/base/rng.h"
#include "common/wire/tensor.h"

struct api;
struct buf;
struct err;
struct sample;
struct sampler;

struct inputs {
    struct tensor *tensors;
    size_t len;
    const struct tensor *prompt; /* the one that gets the prompt of the data
                                    set; NULL: none */
};

/* In zeroed memory: parse data.tensors.  A data set of tensors is divided into
 * samples of one of each, in their order; prompts go into the first tensor of
 * type BYTES.  ERR_CONFIG.  inputs_fini() may follow either way. */
int inputs_init(struct inputs *in, struct api *api, struct err *err);
void inputs_fini(struct inputs *in);

/* The values of one request, tensor by tensor: the bytes of the data set or, if
 * it has none, its prompt in every element of one tensor and random values in
 * the others. */
struct values {
    const char *raw;
    struct rng rng;
    const struct tensor *prompt;
    const struct sampler *sampler;
    const struct sample *sample;
};

struct values values_of(const struct inputs *in, const struct api *api,
                        const struct sample *sample);

/* Append the values of the next tensor: as raw bytes, tensor_size() of them
 * except for a prompt; as a flat or nested JSON list. */
void values_put_raw(struct values *v, const struct tensor *t, struct buf *out);
void values_put_flat(struct values *v, const struct tensor *t, struct buf *out);
void values_put_nested(struct values *v, const struct tensor *t,
                       struct buf *out);

/* Append the raw bytes of all tensors; those of the i-th end at ends[i]. */
void values_put_all(struct values *v, const struct inputs *in, struct buf *out,
                    size_t *ends);

#endif
