/* json.h - JSON files, whole.  The tree is jansson's. */
#ifndef COMMON_BASE_JSON_H
#define COMMON_BASE_JSON_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct json_t;

/* The caller owns *json.  ERR_CONFIG if it cannot be read, ERR_FORMAT if it is
 * no JSON object; then *json is NULL or as it was. */
int json_read_file(const char *path, struct json_t **json, struct err *err);

/* Is the file gone, or what a crash may leave of it?  "is missing", "is empty"
 * or "is damaged" (no JSON object), static; NULL: it can be read. */
const char *json_loss(const char *path);

/* Indented, keys in the order they were put, replaced in one step. */
int json_write_file(const char *path, const struct json_t *json,
                    struct err *err);

/* The same text, with a newline at its end.  What a terminal would obey is
 * escaped (\u009b). */
void json_print(const struct json_t *json, struct buf *out);

/* One value, which may be no object, in a line; without a newline. */
void json_print_value(const struct json_t *json, struct buf *out);

/* Any bytes as a string: JSON takes UTF-8 alone, and its readers no NUL.  A
 * character that is cut off at the end is dropped; where that is not all,
 * whatever a terminal cannot show (common/base/printable.h) becomes '?'. */
struct json_t *json_bytes(const char *bytes, size_t len);

/* The text as a string of JSON, which is one of YAML too. */
void json_print_text(const char *text, struct buf *out);

/* Member of an object as a number; `missing` if there is none. */
int64_t json_get_int(const struct json_t *object, const char *key,
                     int64_t missing);

#endif
