/* prices.h - what machines cost an hour, by name: one table for every study.
 *
 * A CSV with the columns `machine` and `usd_per_hour` in its first line, in
 * either order; lines that begin with '#' and empty ones are passed over.
 * docs/metrics.md
 */
#ifndef COMMON_SPEC_PRICES_H
#define COMMON_SPEC_PRICES_H

#include <stddef.h>

struct err;
struct settings;

/* The condition that names the machine where cost.machine does not. */
#define PRICES_CONDITION "hardware"

struct price {
    char *machine; /* owned */
    double usd_per_hour;
    size_t line; /* of the file, from 1 */
};

struct prices {
    char *name; /* of the file, for messages; owned */
    struct price *list;
    size_t n;
};

/* ERR_IO if it cannot be read, ERR_CONFIG with file and line if it is no table
 * of prices.  Nothing is held after a failure. */
int prices_read(struct prices *p, const char *path, struct err *err);

/* The same from memory, which is changed; `name` stands for the path. */
int prices_parse(struct prices *p, const char *name, char *text,
                 struct err *err);
void prices_fini(struct prices *p);

/* What such a machine costs an hour: "4xL4" is a row of its own, or else four
 * of "L4".  ERR_CONFIG names the nearest, or those that are known. */
int prices_find(const struct prices *p, const char *machine,
                double *usd_per_hour, struct err *err);

/* Of one replica: cost.machine, or else the condition `hardware`; NULL if the
 * settings name none. */
const char *prices_machine(const struct settings *s);

/* Give the settings the price of that machine.  ERR_CONFIG if they name none.
 */
int prices_apply(const struct prices *p, struct settings *s, struct err *err);

#endif
