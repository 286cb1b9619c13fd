/* number_list.h - a list of numbers as people write it: '10, 20, 40..200',
 * where
 * .. goes on by the last difference, up to what follows it.  Pure.
 *
 * A number may have a unit behind it, the same for all: '1ms, 2ms..10ms'. */
#ifndef COMMON_BASE_NUMBER_LIST_H
#define COMMON_BASE_NUMBER_LIST_H

#include <stddef.h>

struct err;

#define NUMLIST_MAX  1000
#define NUMLIST_UNIT 16

struct numlist {
    double *items; /* owned */
    size_t len;
    char unit[NUMLIST_UNIT]; /* "": none */
};

/* At least one, none of them twice.  ERR_CONFIG.  numlist_fini() in any case.
 */
int numlist_parse(struct numlist *v, const char *text, struct err *err);
void numlist_fini(struct numlist *v);

/* For an option table. */
int numlist_check(const char *text, struct err *err);

#endif
