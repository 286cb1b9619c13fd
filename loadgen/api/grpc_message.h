/* grpc_message.h - what the gRPC APIs share: memory for messages of protobuf-c,
 * values of tensors as raw bytes and as typed lists, packing. */
#ifndef LOADGEN_API_GRPC_MESSAGE_H
#define LOADGEN_API_GRPC_MESSAGE_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

#include "common/text/jscan.h"
#include "loadgen/api/tensor_inputs.h"

struct check_tensor;

/* ---- memory for one message, released all at once ---- */

#define ARENA_FIRST 4096

struct arena_chunk;

/* A small message fits into `first`, so that reading it does not call malloc.
 * Must not move between init and fini. */
struct arena {
    ProtobufCAllocator allocator; /* for protobuf-c; its free does nothing */
    struct arena_chunk *chunks;   /* beyond the first; owned */
    size_t used;
    _Alignas(max_align_t) char first[ARENA_FIRST];
};

void arena_init(struct arena *a);
void arena_fini(struct arena *a);

/* Never NULL; not zeroed. */
void *arena_take(struct arena *a, size_t size);

/* Room for n pointers, for the lists of protobuf-c. */
static inline void *arena_take_pointers(struct arena *a, size_t n)
{
    return arena_take(a, n * sizeof(void *));
}

/* ---- values of a tensor as one of the repeated fields of a message ---- */

/* As in protobuf-c: bool is int, other types of less than 32 bits have 32. */
enum list_kind {
    LIST_NONE,
    LIST_BOOL,
    LIST_INT32,
    LIST_INT64,
    LIST_UINT32,
    LIST_UINT64,
    LIST_FLOAT,
    LIST_DOUBLE,
    LIST_TEXT, /* ProtobufCBinaryData */
    LIST_COUNT
};

struct typed {
    enum list_kind kind;
    size_t n;
    void *list;
};

/* Where a message has the list of a kind; all zero: it has none. */
struct list_field {
    size_t n_at;
    size_t list_at;
};
#define LIST_FIELD(message, field)                                             \
    {                                                                          \
        offsetof(message, n_##field), offsetof(message, field)                 \
    }

/* Put a list into a message, and find the list of a message; `fields` has
 * LIST_COUNT items.  Borrowed. */
void typed_fill(void *message, const struct list_field *fields,
                const struct typed *t);
struct typed typed_find(const void *message, const struct list_field *fields);

/* Convert raw bytes to a list, in the arena; texts point into `raw`. */
struct typed typed_from_raw(const struct tensor_type *type, const char *raw,
                            size_t len, struct arena *a);

/* The first of the texts in raw bytes, each with its length before it; .data
 * NULL: there is none. */
ProtobufCBinaryData typed_first_text(const char *raw, size_t len);

/* ---- messages ---- */

/* A text for a field of a message that is only written. */
char *message_borrow(const char *text);

/* Append the encoded message; out->overflowed if it does not fit. */
void message_pack(const ProtobufCMessage *m, struct buf *out);

/* Find bytes that were read from a message in the encoded message, which
 * outlives the decoded one.  .at NULL: they are not in it. */
struct jtext message_text(const char *data, size_t len,
                          ProtobufCBinaryData text);

/* The values of a tensor of an answer: its raw bytes or, if there are none, its
 * list. */
void message_tensor(ProtobufCBinaryData raw, const struct typed *typed,
                    struct check_tensor *tensor, struct buf *room);

/* inputs_init(), after a check that the model is known and that the inputs can
 * be sent as data.typed asks.  ERR_CONFIG. */
int message_inputs(struct inputs *in, struct api *api, struct err *err);

#endif
