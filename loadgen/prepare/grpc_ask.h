/* grpc_ask.h - what a server of gRPC says of itself and its model before a run:
 * is it ready, and what does the model take. */
#ifndef LOADGEN_PREPARE_GRPC_ASK_H
#define LOADGEN_PREPARE_GRPC_ASK_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct settings;
struct target_settings;

/* Add what ModelMetadata says of the inputs to data.tensors; what it leaves
 * open becomes 1.  ERR_IO, ERR_STOPPED. */
int grpc_ask_tensors(struct settings *s, struct err *err);

/* Is the server of the first URL ready, and the model if one is named?  By
 * ServerReady and ModelReady, GetModelStatus or gRPC's own health check, as the
 * API has it; a server that has none of them and says so is.  1: it is; 0: not
 * yet, and `seen` says why; -1 with err set: it cannot be asked. */
int grpc_ask_ready(const struct target_settings *s, int64_t timeout_ns,
                   char *seen, size_t size, struct err *err);

#endif
