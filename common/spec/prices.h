/* prices.h - prices of machines per hour, by name: one table for every study.
 *
 * A CSV with the columns `machine` and `usd_per_hour` in its first line, in
 * either order; empty lines and lines that begin with '#' are ignored.
 * docs/metrics-slo.md
 */
#ifndef COMMON_SPEC_PRICES_H
#define COMMON_SPEC_PRICES_H

#include <stddef.h>

struct err;
struct settings;

/* The condition that names the machine if cost.machine does not. */
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

#define PRICES_MAX ((size_t)1 << 20) /* bytes of the file */

/* ERR_IO if it cannot be read, ERR_CONFIG with file and line if it is not a
 * table of prices.  After a failure prices_fini() is not needed. */
int prices_read(struct prices *p, const char *path, struct err *err);

/* The same from memory, which is changed; `name` stands for the path. */
int prices_parse(struct prices *p, const char *name, char *text,
                 struct err *err);
void prices_fini(struct prices *p);

/* The price of a machine per hour.  "4xL4" without its own row is four times
 * "L4".  ERR_CONFIG suggests a similar name, or lists the known ones. */
int prices_find(const struct prices *p, const char *machine,
                double *usd_per_hour, struct err *err);

/* The machine of one replica: cost.machine, otherwise the condition `hardware`;
 * NULL if the settings have neither. */
const char *prices_machine(const struct settings *s);

/* Set the price of that machine in the settings.  ERR_CONFIG if they name none.
 */
int prices_apply(const struct prices *p, struct settings *s, struct err *err);

#endif
