/* values.h - a list of numbers as people write it: '10, 20, 40..200', where
 * .. goes on by the last difference, up to what follows it.  Pure.
 *
 * A number may have a unit behind it, the same for all: '1ms, 2ms..10ms'. */
#ifndef COMMON_VALUES_H
#define COMMON_VALUES_H

#include <stddef.h>

struct err;

#define VALUES_MAX  1000
#define VALUES_UNIT 16

struct values {
    double *items; /* owned */
    size_t len;
    char unit[VALUES_UNIT]; /* "": none */
};

/* At least one, none of them twice.  ERR_CONFIG.  values_fini() in any case. */
int values_parse(struct values *v, const char *text, struct err *err);
void values_fini(struct values *v);

/* For an option table. */
int values_check(const char *text, struct err *err);

#endif
