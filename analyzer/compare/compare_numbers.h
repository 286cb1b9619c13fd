/* compare_numbers.h - numbers of a comparison for people. */
#ifndef ANALYZER_COMPARE_COMPARE_NUMBERS_H
#define ANALYZER_COMPARE_COMPARE_NUMBERS_H

#include <stdbool.h>

#include "analyzer/compare/quantity.h"

#define SHOW_TEXT 64

/* A value: 12.3ms, 50.1/s, 99.5%; "failed" for INFINITY. */
const char *show_value(const struct quantity *q, double value,
                       char out[static SHOW_TEXT]);

/* The same with its sign. */
const char *show_difference(const struct quantity *q, double value,
                            char out[static SHOW_TEXT]);

/* "A", "B", ..., "Z", "A1", ... */
const char *show_side(size_t side, char out[static SHOW_TEXT]);

#endif
