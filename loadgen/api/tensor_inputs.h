/* tensor_inputs.h - the tensors that a model takes, and where their values come
 * from; for the APIs of models that take tensors. */
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
    const struct tensor *prompt; /* which of them is the prompt of the data set;
                                    NULL: none */
};

/* In zeroed memory: those of data.tensors; a data set of tensors is cut into
 * samples of one of each, in their order, and prompts go into the first one of
 * type BYTES.  ERR_CONFIG.  inputs_fini() may follow either way. */
int inputs_init(struct inputs *in, struct api *api, struct err *err);
void inputs_fini(struct inputs *in);

/* The values of one request, tensor by tensor: the data set's bytes or, if
 * there are none, its prompt in every element of one and rng's in the others.
 */
struct values {
    const char *raw;
    struct rng rng;
    const struct tensor *prompt;
    const struct sampler *sampler;
    const struct sample *sample;
};

struct values values_of(const struct inputs *in, const struct api *api,
                        const struct sample *sample);

/* Those of the next tensor, as raw bytes, of which there are tensor_size() but
 * for a prompt, and as lists of JSON. */
void values_put_raw(struct values *v, const struct tensor *t, struct buf *out);
void values_put_flat(struct values *v, const struct tensor *t, struct buf *out);
void values_put_nested(struct values *v, const struct tensor *t,
                       struct buf *out);

/* The raw bytes of all of them in a row; those of the i-th end at ends[i]. */
void values_put_all(struct values *v, const struct inputs *in, struct buf *out,
                    size_t *ends);

#endif
