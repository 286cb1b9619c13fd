/* json.h - JSON files and values, as jansson trees. */
#ifndef COMMON_BASE_JSON_H
#define COMMON_BASE_JSON_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct json_t;

/* The caller owns *json.  ERR_CONFIG if the file cannot be read, ERR_FORMAT if
 * it is not a JSON object; *json is NULL or unchanged then. */
int json_read_file(const char *path, struct json_t **json, struct err *err);

/* What a crash may have done to a JSON file: "is missing", "is empty" or "is
 * damaged" (not a JSON object), static; NULL if it can be read. */
const char *json_loss(const char *path);

/* Write indented, with keys in the order of insertion, by file_replace(). */
int json_write_file(const char *path, const struct json_t *json,
                    struct err *err);

/* Append the same text with a newline at the end.  Characters that a terminal
 * obeys are escaped (\u009b). */
void json_print(const struct json_t *json, struct buf *out);

/* Append a value of any type on one line, without a newline. */
void json_print_value(const struct json_t *json, struct buf *out);

/* Any bytes as a JSON string, which must be UTF-8 without NUL.  An incomplete
 * character at the end is dropped.  If that is not enough, every byte that is
 * not printable (common/base/str.h) becomes '?'. */
struct json_t *json_bytes(const char *bytes, size_t len);

/* Append the text as a JSON string, which is also a YAML string. */
void json_print_text(const char *text, struct buf *out);

/* The integer member `key` of an object, or `missing`. */
int64_t json_get_int(const struct json_t *object, const char *key,
                     int64_t missing);

#endif
