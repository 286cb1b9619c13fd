/* stub_grpc_pack.h - messages of protobuf-c into a buffer. */
#ifndef SERVER_STUB_API_STUB_GRPC_PACK_H
#define SERVER_STUB_API_STUB_GRPC_PACK_H

#include <protobuf-c/protobuf-c.h>

#include "common/base/buf.h"

/* Nothing if it does not fit. */
static inline void grpc_pack(const ProtobufCMessage *message, struct buf *out)
{
    size_t len = protobuf_c_message_get_packed_size(message);
    char *room = buf_reserve(out, len);

    if (room)
        buf_commit(out, protobuf_c_message_pack(message, (uint8_t *)room));
}

/* Packing changes no text, but the fields are not declared so. */
static inline char *grpc_text(const char *text)
{
    return (char *)text;
}

#endif
