/* stub_grpc.h - the gRPC APIs of the stub: KServe v2 with Triton's streams,
 * TensorFlow Serving, and any other method, whose message is returned. */
#ifndef SERVER_STUB_API_STUB_GRPC_H
#define SERVER_STUB_API_STUB_GRPC_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

#include "common/base/buf.h"

struct api_ops;
struct call;
struct exchange;
struct page_view;

extern const struct api_ops api_grpc_text;           /* ModelInfer of text */
extern const struct api_ops api_grpc_tensors;        /* ... of anything else */
extern const struct api_ops api_grpc_stream_text;    /* ModelStreamInfer */
extern const struct api_ops api_grpc_stream_tensors; /* ... of anything else */
extern const struct api_ops api_grpc_predict;        /* PredictionService */
extern const struct api_ops api_grpc_plain;          /* anything else */

/* Like api_read(). */
bool grpc_api_read(const struct exchange *x, struct call *call);

/* Like page_write(), for the methods about the server itself. */
bool grpc_page_write(const char *path, const struct page_view *view,
                     struct buf *out);

/* Append a message; nothing if it does not fit. */
static inline void grpc_pack(const ProtobufCMessage *message, struct buf *out)
{
    size_t len = protobuf_c_message_get_packed_size(message);
    char *room = buf_reserve(out, len);

    if (room)
        buf_commit(out, protobuf_c_message_pack(message, (uint8_t *)room));
}

/* The text fields of protobuf-c are not const, but packing does not change
 * them.
 */
static inline char *grpc_text(const char *text)
{
    return (char *)text;
}

#endif
