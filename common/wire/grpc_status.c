#include "common/wire/grpc_status.h"

#include <stddef.h>
#include <string.h>

static const char *const names[RPC_STATUS_COUNT] = {
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
};

const char *rpc_status_name(long code)
{
    return code >= 0 && code < RPC_STATUS_COUNT ? names[code] : NULL;
}

int rpc_status_find(const char *name)
{
    for (int i = 0; i < RPC_STATUS_COUNT; i++) {
        if (strcmp(names[i], name) == 0)
            return i;
    }
    return -1;
}
