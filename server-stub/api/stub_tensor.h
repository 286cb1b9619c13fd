/* stub_tensor.h - tensors of the Open Inference Protocol: as JSON, and as bytes
 * in the form of Triton's binary extension.  Pure. */
#ifndef SERVER_STUB_API_STUB_TENSOR_H
#define SERVER_STUB_API_STUB_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire/tensor.h"

struct buf;
struct json_t;

/* Number of elements of this shape; -1 if it is not a list of sizes, or too
 * large. */
int64_t tensor_elements(const struct json_t *shape);
int64_t tensor_elements_of(const int64_t *dims, size_t n_dims);

/* Append values, in lists or lists of lists, as bytes.  False if one does not
 * fit the type, or there are not n. */
bool tensor_encode(const struct tensor_type *type, const struct json_t *data,
                   int64_t n, struct buf *out);

/* The reverse: a list of n values.  NULL if the bytes are not n elements, or
 * JSON cannot represent them.  The caller owns the reference. */
struct json_t *tensor_decode(const struct tensor_type *type, const char *bytes,
                             size_t len, int64_t n);

/* Are these bytes n elements? */
bool tensor_is_whole(const struct tensor_type *type, const char *bytes,
                     size_t len, int64_t n);

/* Outputs have this name and the number of the input that they return. */
#define TENSOR_OUTPUT "output"

/* The number in an output's name; false if there is no such output.  `name` may
 * be NULL. */
bool tensor_output_index(const char *name, size_t n_inputs, size_t *nth);

#endif
