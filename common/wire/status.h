/* status.h - status codes: the names of the gRPC codes, and sets of HTTP
 * statuses.
 *
 * gRPC codes are below 100, where HTTP has no statuses, so that either can be
 * the detail of an outcome.
 */
#ifndef COMMON_WIRE_STATUS_H
#define COMMON_WIRE_STATUS_H

#include <stdbool.h>

struct err;

/* The gRPC codes that the code here refers to. */
enum rpc_status {
    RPC_OK = 0,
    RPC_CANCELLED = 1,
    RPC_UNKNOWN = 2,
    RPC_INVALID_ARGUMENT = 3,
    RPC_DEADLINE_EXCEEDED = 4,
    RPC_NOT_FOUND = 5,
    RPC_PERMISSION_DENIED = 7,
    RPC_RESOURCE_EXHAUSTED = 8,
    RPC_UNIMPLEMENTED = 12,
    RPC_INTERNAL = 13,
    RPC_UNAVAILABLE = 14,
    RPC_UNAUTHENTICATED = 16,
    RPC_STATUS_COUNT = 17,
};

/* "RESOURCE_EXHAUSTED"; NULL for an unknown code. */
const char *rpc_status_name(long code);

#define STATUSES_MAX 600

/* A set of HTTP statuses. */
struct statuses {
    bool has[STATUSES_MAX];
};

/* "200,201" or "2xx".  ERR_CONFIG. */
int statuses_parse(const char *text, struct statuses *s, struct err *err);

/* statuses_parse() as a check for an option table. */
int statuses_check(const char *text, struct err *err);

/* The statuses from `from` up to, but not including, `to`. */
struct statuses statuses_range(int from, int to);

static inline bool statuses_have(const struct statuses *s, int status)
{
    return status >= 0 && status < STATUSES_MAX && s->has[status];
}

#endif
