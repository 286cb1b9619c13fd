#include "common/wire/status.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"

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

struct statuses statuses_range(int from, int to)
{
    struct statuses s = {0};

    for (int i = from; i < to; i++)
        s.has[i] = true;
    return s;
}

int statuses_parse(const char *text, struct statuses *s, struct err *err)
{
    *s = (struct statuses){0};
    for (;;) {
        size_t len = strcspn(text, ",");
        int status = len == 3 ? (int)strtol(text, NULL, 10) : 0;
        bool is_class = len == 3 && strncmp(text + 1, "xx", 2) == 0;
        bool is_number = strspn(text, "0123456789") == len;

        if (status < 1 || status > 599 || (is_class && status > 5) ||
            (!is_class && (!is_number || status < 100)))
            return err_set(err, ERR_CONFIG,
                           "'%.*s' is not an HTTP status; write 200 or 2xx",
                           (int)len, text);
        if (is_class)
            memset(s->has + (size_t)status * 100, 1, 100);
        else
            s->has[status] = true;
        if (!text[len])
            return 0;
        text += len + 1;
        text += strspn(text, " ");
    }
}

int statuses_check(const char *text, struct err *err)
{
    struct statuses s;

    return statuses_parse(text, &s, err);
}
