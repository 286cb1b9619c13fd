#include "common/base/xalloc.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void out_of_memory(void)
{
    fputs("fatal: out of memory\n", stderr);
    abort();
}

void *xcalloc(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (!p)
        out_of_memory();
    return p;
}

void *xrealloc(void *p, size_t n, size_t size)
{
    void *q;

    assert(n > 0 && size > 0);
    if (n > SIZE_MAX / size)
        out_of_memory();
    q = realloc(p, n * size);
    if (!q)
        out_of_memory();
    return q;
}

char *xstrndup(const char *s, size_t n)
{
    char *p = xcalloc(n + 1, 1);

    memcpy(p, s, n);
    return p;
}

char *xstrdup(const char *s)
{
    return xstrndup(s, strlen(s));
}

char *xvasprintf(const char *fmt, va_list ap)
{
    char *s;

    if (vasprintf(&s, fmt, ap) < 0)
        out_of_memory();
    return s;
}

char *xasprintf(const char *fmt, ...)
{
    va_list ap;
    char *s;

    va_start(ap, fmt);
    s = xvasprintf(fmt, ap);
    va_end(ap);
    return s;
}
