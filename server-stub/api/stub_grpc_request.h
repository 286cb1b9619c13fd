/* stub_grpc_request.h - reading a ModelInferRequest. */
#ifndef SERVER_STUB_API_STUB_GRPC_REQUEST_H
#define SERVER_STUB_API_STUB_GRPC_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/proto/inference.pb-c.h"

struct call;
struct exchange;

#define GRPC_MAX_INPUTS 256

/* NULL if the message cannot be parsed.  The caller frees it. */
Inference__ModelInferRequest *grpc_request_read(const struct exchange *x);
void grpc_request_free(Inference__ModelInferRequest *req);

/* Returns NULL, or what is wrong with it. */
const char *grpc_request_check(const Inference__ModelInferRequest *req);

/* Sets *from to the input of the nth output to send; false if there are no
 * more.
 */
bool grpc_request_output(const Inference__ModelInferRequest *req, size_t nth,
                         size_t *from);

/* Is it for a language model, with a text_input?  Then read what it wants. */
bool grpc_request_is_text(const Inference__ModelInferRequest *req);
bool grpc_request_read_text(const Inference__ModelInferRequest *req,
                            struct call *call);

/* Is this parameter a bool and true? */
bool grpc_request_is_set(const Inference__ModelInferRequest *req,
                         const char *key);

/* Read the limits of the answer's length from the parameters; false, with the
 * reason in call->why, if they cannot be met. */
bool grpc_request_read_bounds(const Inference__ModelInferRequest *req,
                              struct call *call);

#endif
