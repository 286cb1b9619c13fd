/* stub_grpc_request.h - a ModelInferRequest: is it one, and what does it ask
 * for? */
#ifndef SERVER_STUB_API_STUB_GRPC_REQUEST_H
#define SERVER_STUB_API_STUB_GRPC_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/proto/inference.pb-c.h"

struct call;
struct exchange;

#define GRPC_MAX_INPUTS 256

/* Outputs have this name and their number. */
#define GRPC_OUTPUT "output"

/* NULL if the message is none.  The caller frees it. */
Inference__ModelInferRequest *grpc_request_read(const struct exchange *x);
void grpc_request_free(Inference__ModelInferRequest *req);

/* NULL, or what is wrong with it. */
const char *grpc_request_check(const Inference__ModelInferRequest *req);

/* The nth output that is to be sent is made of this input; false: there are no
 * more. */
bool grpc_request_output(const Inference__ModelInferRequest *req, size_t nth,
                         size_t *from);

/* Does it ask a language model, with a text_input?  Then set what of. */
bool grpc_request_is_text(const Inference__ModelInferRequest *req);
bool grpc_request_read_text(const Inference__ModelInferRequest *req,
                            struct call *call);

/* A parameter that is a bool and true. */
bool grpc_request_is_set(const Inference__ModelInferRequest *req,
                         const char *key);

/* The length of the answer that it asks for among its parameters. */
bool grpc_request_read_bounds(const Inference__ModelInferRequest *req,
                              struct call *call);

#endif
