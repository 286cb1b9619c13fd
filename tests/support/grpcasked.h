/* grpcasked.h - requests of gRPC as a client would send them, and the stub's
 * calls with them. */
#ifndef TESTS_SUPPORT_GRPCASKED_H
#define TESTS_SUPPORT_GRPCASKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/proto/inference.pb-c.h"
#include "server-stub/front/call.h"
#include "server-stub/front/front.h"

#define KSERVE  "/inference.GRPCInferenceService/"
#define SERVING "/tensorflow.serving."

/* A request with one input, and room for what it may have. */
struct grpc_asked {
    Inference__ModelInferRequest req;
    Inference__ModelInferRequest__InferInputTensor input;
    Inference__ModelInferRequest__InferInputTensor *inputs[1];
    Inference__InferTensorContents contents;
    Inference__ModelInferRequest__InferRequestedOutputTensor output;
    Inference__ModelInferRequest__InferRequestedOutputTensor *outputs[1];
    Inference__InferParameter values[2];
    Inference__ModelInferRequest__ParametersEntry entries[2];
    Inference__ModelInferRequest__ParametersEntry *parameters[2];
    ProtobufCBinaryData raw[2];
    int64_t shape[4];
};

/* One input 'x' with a number of elements of this type, and no contents yet. */
void grpc_ask(struct grpc_asked *a, const char *datatype, int64_t elements);

/* The same with its contents as bytes, which are borrowed. */
void grpc_ask_raw(struct grpc_asked *a, const char *datatype, int64_t elements,
                  const char *bytes, size_t len);

/* A prompt of two tokens. */
void grpc_ask_text(struct grpc_asked *a, int64_t max_tokens, bool wants_final);

/* The call and its exchange; the message is the caller's to free. */
struct grpc_told {
    struct exchange x;
    struct call call;
    char *message;
    bool is_read;
};

/* As the stub reads it. */
void grpc_tell(struct grpc_told *t, const char *path,
               const ProtobufCMessage *message);

#endif
