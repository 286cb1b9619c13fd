/* tensor.h - tensors of the Open Inference Protocol: types, generated inputs
 * and values.  Pure. */
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
    TENSOR_BYTES, /* strings, each preceded by its length */
    TENSOR_RAW,   /* numbers that JSON cannot represent */
};

struct tensor_type {
    const char *name; /* "FP32" */
    enum tensor_kind kind;
    size_t size; /* of an element; 0: varies */
    int tf;      /* number in TensorFlow's DataType; 0: not supported there */
};

/* NULL if the name is unknown or NULL. */
const struct tensor_type *tensor_type_find(const char *name);

/* By its number in TensorFlow; NULL if that is unknown. */
const struct tensor_type *tensor_type_of_tf(int number);

struct tensor {
    char name[128];
    const struct tensor_type *type;
    int64_t dims[TENSOR_MAX_DIMS];
    size_t n_dims;
    int64_t n; /* elements */
};

/* "x FP32 1x16": name, type and shape as in KServe v2; "x INT64" is a scalar.
 * ERR_CONFIG. */
int tensor_parse(const char *text, struct tensor *t, struct err *err);

/* tensor_parse() as a check for an option table. */
int tensor_check(const char *text, struct err *err);

/* "[1,16]" */
void tensor_put_shape(const struct tensor *t, struct buf *out);

/* Append a JSON list, flat or nested; put() appends the i-th element. */
typedef void tensor_put_fn(const struct tensor *t, int64_t i, const void *arg,
                           struct buf *out);
void tensor_put_flat_by(const struct tensor *t, tensor_put_fn *put,
                        const void *arg, struct buf *out);
void tensor_put_nested_by(const struct tensor *t, tensor_put_fn *put,
                          const void *arg, struct buf *out);

/* Append values drawn from rng: as a flat JSON list, as nested lists, or as
 * tensor_size() raw little-endian bytes. */
void tensor_put_flat(const struct tensor *t, struct rng *rng, struct buf *out);
void tensor_put_nested(const struct tensor *t, struct rng *rng,
                       struct buf *out);
void tensor_put_raw(const struct tensor *t, struct rng *rng, struct buf *out);
size_t tensor_size(const struct tensor *t);

/* Size of the length that precedes each string in raw bytes, little-endian. */
#define TENSOR_LENGTH_SIZE 4

/* Append the values of raw bytes in the same forms; only for types with a size.
 * JSON cannot represent values that are not finite. */
void tensor_show_flat(const struct tensor *t, const char *raw, struct buf *out);
void tensor_show_nested(const struct tensor *t, const char *raw,
                        struct buf *out);
bool tensor_is_finite(const struct tensor *t, const char *raw);

/* An integer of up to 8 little-endian bytes. */
uint64_t tensor_bits(const char *raw, size_t size);

/* Read the i-th number from raw bytes of this type; false if there is none. */
bool tensor_element(const struct tensor_type *type, const char *raw, size_t len,
                    size_t i, double *out);

#endif
