/* compare_json_parts.h - parts of the JSON that comparisons and histories
 * share. */
#ifndef ANALYZER_COMPARE_COMPARE_JSON_PARTS_H
#define ANALYZER_COMPARE_COMPARE_JSON_PARTS_H

#include <stdbool.h>

struct difference;
struct json_t;
struct quantity;

/* "ms", "rps", "share". */
const char *compare_json_unit(const struct quantity *q);

/* In that unit; null if it is not there or among the failures. */
struct json_t *compare_json_value(const struct quantity *q, double x,
                                  bool has_it);

struct json_t *compare_json_difference(const struct difference *d);

#endif
