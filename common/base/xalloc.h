/* xalloc.h - allocation that ends the program when memory runs out. */
#ifndef COMMON_BASE_XALLOC_H
#define COMMON_BASE_XALLOC_H

#include <stdarg.h>
#include <stddef.h>

void *xcalloc(size_t n, size_t size);

/* n and size must be above 0: a shrink to nothing is free(). */
void *xrealloc(void *p, size_t n, size_t size);

char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap)
    __attribute__((format(printf, 1, 0)));

#endif
