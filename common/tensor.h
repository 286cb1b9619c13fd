/* tensor.h - inputs of a model that takes numbers: what they look like, and
 * values for them. */
#ifndef COMMON_TENSOR_H
#define COMMON_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/rng.h"

struct buf;
struct err;

#define TENSOR_MAX_DIMS 8

struct dtype;

struct tensor {
    char name[128];
    const struct dtype *dtype;
    int64_t dims[TENSOR_MAX_DIMS];
    size_t n_dims;
    int64_t n; /* elements */
};

/* "x FP32 1x16": name, type and shape as KServe v2 has them; "x INT64" is a
 * scalar.  ERR_CONFIG. */
int tensor_parse(const char *text, struct tensor *t, struct err *err);

/* For an option table. */
int tensor_check(const char *text, struct err *err);

const char *tensor_dtype(const struct tensor *t);

/* Some types have no numbers in JSON. */
bool tensor_has_json(const struct tensor *t);

/* "[1,16]" */
void tensor_put_shape(const struct tensor *t, struct buf *out);

/* Values drawn from rng: as a flat list in JSON, as nested lists, or as raw
 * little-endian bytes, of which there are tensor_size(). */
void tensor_put_flat(const struct tensor *t, struct rng *rng, struct buf *out);
void tensor_put_nested(const struct tensor *t, struct rng *rng,
                       struct buf *out);
void tensor_put_raw(const struct tensor *t, struct rng *rng, struct buf *out);
size_t tensor_size(const struct tensor *t);

/* The i-th number of raw bytes of this type; false if there is none. */
bool tensor_element(const char *dtype, const char *raw, size_t len, size_t i,
                    double *out);

#endif
