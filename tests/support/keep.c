#include "tests/support/keep.h"

#include <stdarg.h>
#include <stddef.h>

#include "common/base/xalloc.h"

/* Never freed: to the leak checker they are in use. */
static void **kept;
static size_t n;

void *keep(void *memory)
{
    if ((n & (n - 1)) == 0)
        kept = xrealloc(kept, n ? 2 * n : 1, sizeof(*kept));
    kept[n++] = memory;
    return memory;
}

char *keepf(const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = keep(xvasprintf(format, args));
    va_end(args);
    return text;
}
