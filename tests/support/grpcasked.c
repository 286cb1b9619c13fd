#include "tests/support/grpcasked.h"

#include <stdio.h>
#include <string.h>

#include "common/base/xalloc.h"
#include "server-stub/api/stub_grpc.h"

void grpc_ask(struct grpc_asked *a, const char *datatype, int64_t elements)
{
    memset(a, 0, sizeof(*a));
    inference__model_infer_request__init(&a->req);
    inference__model_infer_request__infer_input_tensor__init(&a->input);
    inference__infer_tensor_contents__init(&a->contents);
    inference__model_infer_request__infer_requested_output_tensor__init(
        &a->output);
    a->shape[0] = elements;
    a->input.name = grpc_text("x");
    a->input.datatype = grpc_text(datatype);
    a->input.n_shape = 1;
    a->input.shape = a->shape;
    a->inputs[0] = &a->input;
    a->outputs[0] = &a->output;
    a->req.id = grpc_text("42");
    a->req.n_inputs = 1;
    a->req.inputs = a->inputs;
    a->req.outputs = a->outputs;
    a->req.parameters = a->parameters;
    a->req.raw_input_contents = a->raw;
}

void grpc_ask_raw(struct grpc_asked *a, const char *datatype, int64_t elements,
                  const char *bytes, size_t len)
{
    grpc_ask(a, datatype, elements);
    a->raw[0] = (ProtobufCBinaryData){len, (uint8_t *)bytes};
    a->req.n_raw_input_contents = 1;
}

static Inference__InferParameter *add_parameter(struct grpc_asked *a,
                                                const char *key)
{
    size_t i = a->req.n_parameters++;

    inference__infer_parameter__init(&a->values[i]);
    inference__model_infer_request__parameters_entry__init(&a->entries[i]);
    a->entries[i].key = grpc_text(key);
    a->entries[i].value = &a->values[i];
    a->parameters[i] = &a->entries[i];
    return &a->values[i];
}

void grpc_ask_text(struct grpc_asked *a, int64_t max_tokens, bool wants_final)
{
    static const char prompt[] = "\x0b\0\0\0hello world";
    Inference__InferParameter *p;

    grpc_ask_raw(a, "BYTES", 1, prompt, sizeof(prompt) - 1);
    a->input.name = grpc_text("text_input");
    p = add_parameter(a, "max_tokens");
    p->parameter_choice_case =
        INFERENCE__INFER_PARAMETER__PARAMETER_CHOICE_INT64_PARAM;
    p->int64_param = max_tokens;
    if (!wants_final)
        return;
    p = add_parameter(a, "triton_enable_empty_final_response");
    p->parameter_choice_case =
        INFERENCE__INFER_PARAMETER__PARAMETER_CHOICE_BOOL_PARAM;
    p->bool_param = 1;
}

void grpc_tell(struct grpc_told *t, const char *path,
               const ProtobufCMessage *message)
{
    size_t len = protobuf_c_message_get_packed_size(message);

    memset(t, 0, sizeof(*t));
    t->message = xcalloc(1, len + 1);
    protobuf_c_message_pack(message, (uint8_t *)t->message);
    snprintf(t->x.path, sizeof(t->x.path), "%s", path);
    t->x.body = t->message;
    t->x.body_len = len;
    t->call.x = &t->x;
    t->is_read = grpc_api_read(&t->x, &t->call);
}
