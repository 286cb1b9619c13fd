#include "loadgen/api/grpc_message.h"

#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/settings/settings.h"
#include "common/wire/tensor.h"
#include "loadgen/api/api.h"
#include "loadgen/api/tensor_inputs.h"

char *message_borrow(const char *text)
{
    return (char *)(uintptr_t)text; /* protobuf-c does not write */
}

void message_pack(const ProtobufCMessage *m, struct buf *out)
{
    size_t len = protobuf_c_message_get_packed_size(m);
    char *at = buf_reserve(out, len);

    if (!at)
        return; /* buf says that it has overflowed */
    protobuf_c_message_pack(m, (uint8_t *)at);
    buf_commit(out, len);
}

struct jtext message_text(const char *data, size_t len,
                          ProtobufCBinaryData text)
{
    const char *at =
        text.len > 0 ? memmem(data, len, text.data, text.len) : data;

    return (struct jtext){.at = at, .len = at ? text.len : 0};
}

void message_tensor(ProtobufCBinaryData raw, const struct typed *typed,
                    struct check_tensor *tensor, struct buf *room)
{
    if (raw.len > 0)
        buf_add(room, raw.data, raw.len);
    else
        typed_put_raw(tensor->type, typed, room);
    tensor->raw = buf_text(room);
    tensor->len = room->len;
}

int message_inputs(struct inputs *in, struct api *api, struct err *err)
{
    if (!api->model)
        return err_set(err, ERR_CONFIG, "target.model: which model? (--model)");
    if (inputs_init(in, api, err))
        return -1;
    for (size_t i = 0; i < in->len && api->settings->data.typed; i++) {
        if (in->tensors[i].type->kind == TENSOR_RAW)
            return err_set(err, ERR_CONFIG,
                           "data.typed: %s goes as raw bytes alone",
                           in->tensors[i].type->name);
    }
    return 0;
}
