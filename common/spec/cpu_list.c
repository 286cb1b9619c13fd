#include "common/spec/cpu_list.h"

#include <ctype.h>
#include <stdlib.h>

#include "common/base/err.h"

/* A number below CPUS_MAX, and *text is moved past it; or -1. */
static long read_number(const char **text)
{
    char *end;
    long n;

    if (!isdigit((unsigned char)**text))
        return -1;
    n = strtol(*text, &end, 10);
    *text = end;
    return n < CPUS_MAX ? n : -1;
}

/* "2" or "2-5". */
static int read_range(const char **text, struct cpus *out)
{
    long from = read_number(text);
    long to = from;

    if (from >= 0 && **text == '-') {
        (*text)++;
        to = read_number(text);
    }
    if (from < 0 || to < from || (size_t)(to - from) >= CPUS_MAX - out->len)
        return -1;
    for (long cpu = from; cpu <= to; cpu++)
        out->cpu[out->len++] = (int)cpu;
    return 0;
}

int cpus_parse(const char *text, struct cpus *out, struct err *err)
{
    const char *at = text;
    int rc;

    out->len = 0;
    rc = read_range(&at, out);
    while (rc == 0 && *at == ',') {
        at++;
        rc = read_range(&at, out);
    }
    if (rc || *at)
        return err_set(err, ERR_CONFIG,
                       "'%s' is not a list of CPUs; write 0,2-3", text);
    return 0;
}

int cpus_check(const char *text, struct err *err)
{
    return cpus_parse(text, &(struct cpus){0}, err);
}
