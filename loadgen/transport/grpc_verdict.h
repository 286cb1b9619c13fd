/* grpc_verdict.h - what the end of a call of gRPC comes to.
 *
 * C-core makes a status of everything, also of a connection that broke; only
 * its words tell those apart from what a server said.  Pure.
 */
#ifndef LOADGEN_TRANSPORT_GRPC_VERDICT_H
#define LOADGEN_TRANSPORT_GRPC_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/measure/measure.h"

struct rpc_ending {
    int code;            /* enum rpc_status */
    const char *details; /* of the status; "" if there are none */
    bool has_begun;      /* a message of the answer has come */
    bool is_late;        /* its deadline has passed ... */
    bool is_aging;       /* ... or is nearer than its beginning */
};

struct rpc_verdict {
    enum outcome outcome;
    int64_t detail; /* of a status its code, of a connection enum connect_detail
                     */
    char text[160]; /* why, for people */
};

struct rpc_verdict rpc_judge(const struct rpc_ending *e);

#endif
