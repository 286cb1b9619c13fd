/* tensor.h - tensors of the Open Inference Protocol: as JSON, and as bytes in
 * the way of Triton's binary extension.  Pure. */
#ifndef SERVER_STUB_API_TENSOR_H
#define SERVER_STUB_API_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct json_t;

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

/* Elements of a tensor of this shape; -1 if that is no list of sizes, or more
 * than anybody sends. */
int64_t tensor_elements(const struct json_t *shape);

/* Values, in lists or lists of lists, one after the other as bytes.  False if
 * one does not fit the type, or there are not n. */
bool tensor_encode(const struct tensor_type *type, const struct json_t *data,
                   int64_t n, struct buf *out);

/* The other way round: a list of n.  NULL if the bytes are not n elements, or
 * have no form in JSON.  The caller owns the reference. */
struct json_t *tensor_decode(const struct tensor_type *type, const char *bytes,
                             size_t len, int64_t n);

/* Are these bytes n elements? */
bool tensor_is_whole(const struct tensor_type *type, const char *bytes,
                     size_t len, int64_t n);

#endif
