/* grpc_status.h - the status codes of gRPC and their names.
 *
 * They lie below 100, where HTTP has no statuses, so that either may be the
 * detail of an outcome.
 */
#ifndef COMMON_WIRE_GRPC_STATUS_H
#define COMMON_WIRE_GRPC_STATUS_H

/* Those that somebody asks for by name here. */
enum rpc_status {
    RPC_OK = 0,
    RPC_CANCELLED = 1,
    RPC_UNKNOWN = 2,
    RPC_INVALID_ARGUMENT = 3,
    RPC_DEADLINE_EXCEEDED = 4,
    RPC_NOT_FOUND = 5,
    RPC_RESOURCE_EXHAUSTED = 8,
    RPC_UNIMPLEMENTED = 12,
    RPC_INTERNAL = 13,
    RPC_UNAVAILABLE = 14,
    RPC_STATUS_COUNT = 17,
};

/* "RESOURCE_EXHAUSTED"; NULL if there is no such code. */
const char *rpc_status_name(long code);

/* The code of that name; -1: none has it. */
int rpc_status_find(const char *name);

#endif
