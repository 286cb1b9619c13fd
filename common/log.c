#include "common/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/printable.h"

static enum log_level current_level = LOG_NORMAL;

void log_set_level(enum log_level level)
{
    current_level = level;
}

static struct {
    void (*call)(void *arg);
    void *arg;
} first;

void log_set_before(void (*before)(void *arg), void *arg)
{
    first.call = before;
    first.arg = arg;
}

/* One write a line, so that lines of several threads do not mix. */
static void print_line(const char *prefix, const char *fmt, va_list ap)
{
    char line[1024];

    if (first.call)
        first.call(first.arg);
    vsnprintf(line, sizeof(line), fmt, ap);
    printable(line, strlen(line), "");
    fprintf(stderr, "%s%s\n", prefix, line);
}

void log_error(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    print_line("tailgate: ", fmt, ap);
    va_end(ap);
}

void log_note(const char *fmt, ...)
{
    va_list ap;

    if (current_level < LOG_NORMAL)
        return;
    va_start(ap, fmt);
    print_line("", fmt, ap);
    va_end(ap);
}
