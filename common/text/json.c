#include "common/text/json.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"

#define MAX_FILE ((size_t)64 << 20)

int json_read_file(const char *path, struct json_t **json, struct err *err)
{
    json_error_t problem;
    struct buf text;
    int rc = 0;

    buf_init(&text, MAX_FILE);
    if (file_read(path, &text, err)) {
        buf_fini(&text);
        return -1;
    }
    *json =
        json_loadb(buf_text(&text), text.len, JSON_REJECT_DUPLICATES, &problem);
    if (!*json)
        rc = err_set(err, ERR_FORMAT, "%s:%d: %s", path, problem.line,
                     problem.text);
    else if (!json_is_object(*json)) {
        json_decref(*json);
        *json = NULL;
        rc = err_set(err, ERR_FORMAT, "%s: not a JSON object", path);
    }
    buf_fini(&text);
    return rc;
}

const char *json_loss(const char *path)
{
    json_t *json = NULL;
    const char *why = NULL;
    struct stat st;

    if (stat(path, &st) < 0)
        why = "is missing";
    else if (st.st_size == 0)
        why = "is empty";
    else if (json_read_file(path, &json, &(struct err){0}))
        why = "is damaged";
    json_decref(json);
    return why;
}

/* jansson escapes only C0 controls, and passes whole characters. */
static int append_printable(const char *data, size_t len, void *arg)
{
    struct buf *out = arg;

    printable_add_json(data, len, out);
    return out->overflowed ? -1 : 0;
}

void json_print(const struct json_t *json, struct buf *out)
{
    json_dump_callback(json, append_printable, out,
                       JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    buf_adds(out, "\n");
}

void json_print_value(const struct json_t *json, struct buf *out)
{
    json_dump_callback(json, append_printable, out,
                       JSON_COMPACT | JSON_ENCODE_ANY |
                           JSON_REAL_PRECISION(15));
}

int json_write_file(const char *path, const struct json_t *json,
                    struct err *err)
{
    struct buf text;
    int rc;

    buf_init(&text, MAX_FILE);
    json_print(json, &text);
    if (text.overflowed)
        rc = err_set(err, ERR_IO, "%s: would be larger than %zu bytes", path,
                     text.max);
    else
        rc = file_replace(path, buf_text(&text), text.len, err);
    buf_fini(&text);
    return rc;
}

/* Length of an incomplete UTF-8 character at the end. */
static size_t incomplete_len(const char *bytes, size_t len)
{
    size_t n = 1;
    unsigned lead;

    while (n < 3 && n < len && (bytes[len - n] & 0xc0) == 0x80)
        n++;
    lead = len > 0 ? (unsigned char)bytes[len - n] : 0;
    if (lead < 0xc2 || lead > 0xf4)
        return 0;
    return n < (lead >= 0xf0 ? 4U : lead >= 0xe0 ? 3U : 2U) ? n : 0;
}

struct json_t *json_bytes(const char *bytes, size_t len)
{
    bool has_nul = memchr(bytes, '\0', len);
    json_t *json =
        has_nul ? NULL : json_stringn(bytes, len - incomplete_len(bytes, len));
    char *plain;

    if (json)
        return json;
    plain = xstrndup(bytes, len);
    printable(plain, len, "");
    json = json_stringn(plain, len);
    free(plain);
    return json;
}

void json_print_text(const char *text, struct buf *out)
{
    json_t *json = json_bytes(text, strlen(text));

    json_print_value(json, out);
    json_decref(json);
}

int64_t json_get_int(const struct json_t *object, const char *key,
                     int64_t missing)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) ? json_integer_value(value) : missing;
}
