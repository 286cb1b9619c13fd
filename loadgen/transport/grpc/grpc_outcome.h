/* grpc_outcome.h - the outcome of a gRPC call.
 *
 * C-core turns everything into a status, even a connection that broke; only its
 * words distinguish that from a status of the server.  Pure.
 */
#ifndef LOADGEN_TRANSPORT_GRPC_OUTCOME_H
#define LOADGEN_TRANSPORT_GRPC_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "common/measure/measure.h"

struct rpc_ending {
    int code;            /* enum rpc_status */
    const char *details; /* of the status; "" if there are none */
    bool has_begun;      /* a message was received */
    bool is_late;        /* its deadline has passed ... */
    bool is_aging;       /* ... or is nearer than its beginning */
};

struct rpc_verdict {
    enum outcome outcome;
    int64_t detail; /* the status, or enum connect_detail */
    char text[160]; /* why, for the user */
};

struct rpc_verdict rpc_judge(const struct rpc_ending *e);

#endif
