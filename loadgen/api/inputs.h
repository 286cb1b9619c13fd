/* inputs.h - the tensors that a model takes, and where their values come from;
 * for the APIs of models that take tensors. */
#ifndef LOADGEN_API_INPUTS_H
#define LOADGEN_API_INPUTS_H

#include <stddef.h>

#include "common/rng.h"
#include "common/tensor.h"

struct api;
struct buf;
struct err;
struct sample;

struct inputs {
    struct tensor *tensors;
    size_t len;
};

/* In zeroed memory: those of data.tensors; a data set is cut into samples of
 * one of each, in their order.  ERR_CONFIG.  inputs_fini() may follow either
 * way. */
int inputs_init(struct inputs *in, struct api *api, struct err *err);
void inputs_fini(struct inputs *in);

/* The values of one request, tensor by tensor: the data set's bytes or, if
 * there are none, rng's. */
struct values {
    const char *raw;
    struct rng rng;
};

struct values values_of(const struct api *api, const struct sample *sample);

/* Those of the next tensor, as raw bytes and as lists of JSON. */
void values_put_raw(struct values *v, const struct tensor *t, struct buf *out);
void values_put_flat(struct values *v, const struct tensor *t, struct buf *out);
void values_put_nested(struct values *v, const struct tensor *t,
                       struct buf *out);

#endif
