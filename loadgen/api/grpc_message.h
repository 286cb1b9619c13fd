/* grpc_message.h - what the APIs of gRPC do with messages, whatever is in them.
 */
#ifndef LOADGEN_API_GRPC_MESSAGE_H
#define LOADGEN_API_GRPC_MESSAGE_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

#include "common/base/jscan.h"
#include "loadgen/api/grpc_values.h"

struct api;
struct buf;
struct check_tensor;
struct err;
struct inputs;

/* A text for a field of a message that is written and no more. */
char *message_borrow(const char *text);

/* Append it as it goes over the wire; out->overflowed if it does not fit. */
void message_pack(const ProtobufCMessage *m, struct buf *out);

/* The same bytes as they stand in the message that they were read from, which
 * outlives what was read.  .at NULL: they do not. */
struct jtext message_text(const char *data, size_t len,
                          ProtobufCBinaryData text);

/* A tensor of an answer: its raw bytes or, if there are none, its list. */
void message_tensor(ProtobufCBinaryData raw, const struct typed *typed,
                    struct check_tensor *tensor, struct buf *room);

/* What a request is made from: the model is known, and so are the inputs, each
 * of which can go as is asked.  ERR_CONFIG. */
int message_inputs(struct inputs *in, struct api *api, struct err *err);

#endif
