/* units.h - durations, rates, sizes, counts, shares and lists of numbers as
 * people write them.
 *
 * A parser accepts the whole text or rejects it with a one-line message that
 * shows an example (ERR_CONFIG).  The print functions write what the parsers
 * read back to the same value; the show functions round, for people.
 */
#ifndef COMMON_BASE_UNITS_H
#define COMMON_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* Buffer size that is enough for every function here. */
#define UNITS_TEXT 48

/* 250ms, 2s, 1h30m, 1.5s, or 0 without a unit.  Units are ns us µs ms s m h d.
 * Never negative. */
int units_parse_duration(const char *text, int64_t *ns, struct err *err);
const char *units_print_duration(int64_t ns, char out[static UNITS_TEXT]);

/* 2026-12-31T23:59:59Z or 2026-12-31T23:59:59.5Z (UTC), @1798761599.5 (seconds
 * since 1970), or +10s (after now_ns): nanoseconds since 1970. */
int units_parse_instant(const char *text, int64_t now_ns, int64_t *ns,
                        struct err *err);

/* 50, 50/s, 2/m, 0.5, 10k, 1e3, 100/10s: events per second, 1e-12 to 1e15. */
int units_parse_rate(const char *text, double *per_second, struct err *err);
const char *units_print_rate(double per_second, char out[static UNITS_TEXT]);

/* 512, 64k (1024), 1MiB, 10MB (10^6): bytes.  Printed as a count. */
int units_parse_size(const char *text, int64_t *bytes, struct err *err);

/* 1000, 10k (1000), 1e3, 1.5M: a whole number, not negative. */
int units_parse_count(const char *text, int64_t *count, struct err *err);
const char *units_print_count(int64_t count, char out[static UNITS_TEXT]);

/* 0.1%, 99.9% or 0.001: a share from 0 to 1.  Printed as a number. */
int units_parse_share(const char *text, double *share, struct err *err);

/* 1, 0.5, 2.25: a plain number, not negative. */
int units_parse_number(const char *text, double *value, struct err *err);

/* ERR_CONFIG unless `value`, which was read from `text`, is 0 or between 1e-12
 * and 1e15.  Anything else is a typing error, and a product of several such
 * values would overflow. */
int units_check_range(const char *text, double value, struct err *err);

/* The shortest decimal that reads back as the same double, without an exponent
 * from 1e-12 to 1e15. */
const char *units_print_number(double value, char out[static UNITS_TEXT]);

/* For people: three digits and a suitable unit. */
const char *units_show_duration(double ns, char out[static UNITS_TEXT]);
const char *units_show_size(double bytes, char out[static UNITS_TEXT]);
const char *units_show_rate(double per_second, char out[static UNITS_TEXT]);

/* Long durations: 42s, 4m08s, 1h02m. */
const char *units_show_span(int64_t ns, char out[static UNITS_TEXT]);

/* Four significant digits; a value from 1000 on as a whole number. */
const char *units_show_number(double value, char out[static UNITS_TEXT]);

/* A list of numbers: '10, 20, 40..200', where '..' continues by the last
 * difference up to the value after it.  The numbers may have a unit, the same
 * for all: '1ms, 2ms..10ms'. */
#define NUMLIST_MAX  1000
#define NUMLIST_UNIT 16

struct numlist {
    double *items; /* owned */
    size_t len;
    char unit[NUMLIST_UNIT]; /* "" if there is none */
};

/* At least one value, no value twice.  ERR_CONFIG.  Call numlist_fini() in any
 * case. */
int numlist_parse(struct numlist *v, const char *text, struct err *err);
void numlist_fini(struct numlist *v);

/* numlist_parse() as a check for an option table. */
int numlist_check(const char *text, struct err *err);

#endif
