/* units.h - durations, rates, sizes, counts and shares, as people write them.
 *
 * What a printer writes, the parser reads back to the same value: sizes are
 * printed as counts, shares as numbers.  A parser takes the whole text or
 * refuses it with one line that shows an example (ERR_CONFIG).
 */
#ifndef COMMON_BASE_UNITS_H
#define COMMON_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* Enough for every printer here. */
#define UNITS_TEXT 48

/* 250ms, 2s, 1h30m, 1.5s; units ns us µs ms s m h d; only 0 needs none.  Never
 * negative. */
int units_parse_duration(const char *text, int64_t *ns, struct err *err);
const char *units_print_duration(int64_t ns, char out[static UNITS_TEXT]);

/* 50, 50/s, 2/m, 0.5, 10k, 1e3, 100/10s: above 0 (1e-12 to 1e15), in events a
 * second. */
int units_parse_rate(const char *text, double *per_second, struct err *err);
const char *units_print_rate(double per_second, char out[static UNITS_TEXT]);

/* 512, 64k (1024), 1MiB, 10MB (10^6), in bytes. */
int units_parse_size(const char *text, int64_t *bytes, struct err *err);

/* 1000, 10k (1000), 1e3, 1.5M: a whole number, not negative. */
int units_parse_count(const char *text, int64_t *count, struct err *err);
const char *units_print_count(int64_t count, char out[static UNITS_TEXT]);

/* 0.1%, 99.9% or 0.001: a share of one, 0 to 1. */
int units_parse_share(const char *text, double *share, struct err *err);

/* 1, 0.5, 2.25: a plain number, not negative. */
int units_parse_number(const char *text, double *value, struct err *err);

/* Is the number that was read of this text 0, or 1e-12 to 1e15?  What is beyond
 * is a slip, and a product of a few such would be no number. */
int units_check_range(const char *text, double value, struct err *err);

/* The shortest decimal that reads back as the same double; in plain digits
 * from 1e-12 to 1e15, as far as the parsers go. */
const char *units_print_number(double value, char out[static UNITS_TEXT]);

/* For reading, not for parsing back: three digits and a fitting unit. */
const char *units_show_duration(double ns, char out[static UNITS_TEXT]);
/* Long ones: 42s, 4m08s, 1h02m. */
const char *units_show_span(int64_t ns, char out[static UNITS_TEXT]);
const char *units_show_size(double bytes, char out[static UNITS_TEXT]);
const char *units_show_rate(double per_second, char out[static UNITS_TEXT]);

/* Four digits, or as many as a whole number of a thousand and more has. */
const char *units_show_number(double value, char out[static UNITS_TEXT]);

#endif
