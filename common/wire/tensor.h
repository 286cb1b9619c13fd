/* tensor.h - tensors of the Open Inference Protocol: their types, inputs for a
 * model that takes them, and values.  Pure. */
#ifndef COMMON_WIRE_TENSOR_H
#define COMMON_WIRE_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/rng.h"

struct buf;
struct err;

#define TENSOR_MAX_DIMS 8

enum tensor_kind {
    TENSOR_BOOL,
    TENSOR_SIGNED,
    TENSOR_UNSIGNED,
    TENSOR_FLOAT,
    TENSOR_BYTES, /* each with its length before it */
    TENSOR_RAW,   /* numbers that JSON has no form for */
};

struct tensor_type {
    const char *name; /* "FP32" */
    enum tensor_kind kind;
    size_t size; /* of an element; 0: each has its own */
};

/* NULL if there is none of that name, or the name is NULL. */
const struct tensor_type *tensor_type_find(const char *name);

struct tensor {
    char name[128];
    const struct tensor_type *type;
    int64_t dims[TENSOR_MAX_DIMS];
    size_t n_dims;
    int64_t n; /* elements */
};

/* "x FP32 1x16": name, type and shape as KServe v2 has them; "x INT64" is a
 * scalar.  ERR_CONFIG. */
int tensor_parse(const char *text, struct tensor *t, struct err *err);

/* For an option table. */
int tensor_check(const char *text, struct err *err);

/* "[1,16]" */
void tensor_put_shape(const struct tensor *t, struct buf *out);

/* Lists of JSON, flat or nested, whose i-th element put() appends. */
typedef void tensor_put_fn(const struct tensor *t, int64_t i, const void *arg,
                           struct buf *out);
void tensor_put_flat_by(const struct tensor *t, tensor_put_fn *put,
                        const void *arg, struct buf *out);
void tensor_put_nested_by(const struct tensor *t, tensor_put_fn *put,
                          const void *arg, struct buf *out);

/* Values drawn from rng: as a flat list in JSON, as nested lists, or as raw
 * little-endian bytes, of which there are tensor_size(). */
void tensor_put_flat(const struct tensor *t, struct rng *rng, struct buf *out);
void tensor_put_nested(const struct tensor *t, struct rng *rng,
                       struct buf *out);
void tensor_put_raw(const struct tensor *t, struct rng *rng, struct buf *out);
size_t tensor_size(const struct tensor *t);

/* Bytes of the length before each text of raw bytes, little-endian. */
#define TENSOR_LENGTH_SIZE 4

/* Values that are there, as raw bytes, in the same forms; of types with a size.
 * JSON has no form for those that are not finite. */
void tensor_show_flat(const struct tensor *t, const char *raw, struct buf *out);
void tensor_show_nested(const struct tensor *t, const char *raw,
                        struct buf *out);
bool tensor_is_finite(const struct tensor *t, const char *raw);

/* The i-th number of raw bytes of this type; false if there is none. */
bool tensor_element(const struct tensor_type *type, const char *raw, size_t len,
                    size_t i, double *out);

#endif
