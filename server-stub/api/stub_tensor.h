/* stub_tensor.h - tensors of the Open Inference Protocol: as JSON, and as bytes
 * in the way of Triton's binary extension.  Pure. */
#ifndef SERVER_STUB_API_STUB_TENSOR_H
#define SERVER_STUB_API_STUB_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire/tensor.h"

struct buf;
struct json_t;

/* Elements of a tensor of this shape; -1 if that is no list of sizes, or more
 * than anybody sends. */
int64_t tensor_elements(const struct json_t *shape);
int64_t tensor_elements_of(const int64_t *dims, size_t n_dims);

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
