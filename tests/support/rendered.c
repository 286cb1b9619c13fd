#include "tests/support/rendered.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/report/doc.h"
#include "analyzer/report/report.h"
#include "analyzer/report/run_doc.h"
#include "common/base/buf.h"
#include "common/base/xalloc.h"
#include "tests/support/keep.h"

char *report_rendered(const struct report_ops *ops, const struct summary *s)
{
    struct buf out;
    char *text;

    buf_init(&out, 1 << 20);
    ops->render(s, &out);
    assert_false(out.overflowed);
    text = keepf("%s", buf_text(&out));
    buf_fini(&out);
    return text;
}

char *report_verbose(const struct summary *s)
{
    struct buf out;
    char *text;

    buf_init(&out, 1 << 20);
    doc_put(run_doc(s), DOC_AS_TEXT, &out);
    assert_false(out.overflowed);
    text = keepf("%s", buf_text(&out));
    buf_fini(&out);
    return text;
}

void assert_says(const char *text, const char *fmt, ...)
{
    char *want;
    va_list ap;

    va_start(ap, fmt);
    want = xvasprintf(fmt, ap);
    va_end(ap);
    if (!strstr(text, want))
        print_error("'%s' is not in:\n%s", want, text);
    assert_non_null(strstr(text, want));
    free(want);
}

json_t *report_parsed(const struct summary *s)
{
    char *text = report_rendered(&report_json, s);
    json_error_t error;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);

    assert_non_null(json);
    assert_int_equal(text[strlen(text) - 1], '\n');
    return keep(json);
}

const json_t *part_at(const json_t *json, const char *path)
{
    const char *start = path;

    while (json && *start) {
        size_t len = strcspn(start, "/");
        char *key = xstrndup(start, len);

        json = json_is_array(json)
                   ? json_array_get(json, strtoul(key, NULL, 10))
                   : json_object_get(json, key);
        free(key);
        start += len + (start[len] == '/');
    }
    if (!json)
        print_error("no %s\n", path);
    assert_non_null(json);
    return json;
}

void assert_number_at(const json_t *json, const char *path, double want)
{
    const json_t *value = part_at(json, path);

    assert_true(json_is_number(value));
    if (fabs(json_number_value(value) - want) > 1e-9 * fabs(want))
        print_error("%s: %.17g, want %.17g\n", path, json_number_value(value),
                    want);
    assert_true(fabs(json_number_value(value) - want) <= 1e-9 * fabs(want));
}

void assert_text_at(const json_t *json, const char *path, const char *want)
{
    assert_true(json_is_string(part_at(json, path)));
    assert_string_equal(json_string_value(part_at(json, path)), want);
}
