#include "tests/support/compared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/keep.h"
#include "tests/support/proc.h"

json_t *compare_json(const char *const *argv, int status)
{
    struct proc_result r = proc_run(argv);
    json_t *json = keep(json_loads(r.out, 0, NULL));

    proc_expect(&r, status);
    assert_non_null(json);
    return json;
}

const char *text_at(const json_t *json, const char *key)
{
    return json_string_value(json_object_get(json, key));
}

const json_t *finding_of(const json_t *json, const char *quantity)
{
    json_t *list = json_object_get(json, "findings");
    json_t *item;
    size_t i;

    json_array_foreach(list, i, item)
    {
        if (strcmp(text_at(item, "quantity"), quantity) == 0)
            return item;
    }
    fail_msg("no finding on %s", quantity);
    return NULL;
}
