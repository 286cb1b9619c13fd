#include "common/base/err.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/str.h"

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
    va_list ap;

    assert(err->code == ERR_NONE);
    err->code = code;
    va_start(ap, fmt);
    vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
    va_end(ap);
    printable(err->msg, strlen(err->msg), "");
    return -1;
}

int err_context(struct err *err, const char *fmt, ...)
{
    char old[sizeof(err->msg)];
    va_list ap;
    int n;

    assert(err->code != ERR_NONE);
    memcpy(old, err->msg, sizeof(old));
    va_start(ap, fmt);
    n = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof(err->msg))
        return -1;
    /* A message that is too long is cut. */
    if (snprintf(err->msg + n, sizeof(err->msg) - (size_t)n, ": %s", old) < 0)
        err->msg[n] = '\0';
    printable(err->msg, strlen(err->msg), "");
    return -1;
}
