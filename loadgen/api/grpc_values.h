/* grpc_values.h - the values of a tensor in messages: as raw bytes, and as the
 * repeated fields of their types, there and back. */
#ifndef LOADGEN_API_GRPC_VALUES_H
#define LOADGEN_API_GRPC_VALUES_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct tensor_type;

/* One of the lists, by the type's kind and size; the others are NULL.  As
 * protobuf-c has them: bool is int, whatever is signed and up to 32 bits wide
 * is int32_t. */
struct typed {
    size_t n;
    protobuf_c_boolean *bools;
    int32_t *ints;
    int64_t *longs;
    uint32_t *uints;
    uint64_t *ulongs;
    float *floats;
    double *doubles;
    ProtobufCBinaryData *texts;
};

/* Raw bytes as a list, in the arena; texts point into `raw`. */
struct typed typed_from_raw(const struct tensor_type *type, const char *raw,
                            size_t len, struct arena *a);

/* Append a list as raw bytes. */
void typed_put_raw(const struct tensor_type *type, const struct typed *t,
                   struct buf *out);

/* The first of texts that are raw bytes, with their lengths; .data NULL if
 * there is none. */
ProtobufCBinaryData typed_first_text(const char *raw, size_t len);

#endif
