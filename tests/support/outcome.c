#include "tests/support/outcome.h"

#include <jansson.h>
#include <string.h>

void must_end(struct proc *p, int status)
{
    struct proc_result r = proc_wait(p);

    proc_expect(&r, status);
    proc_result_fini(&r);
}

void run_must_end(struct proc *p, const char *dir, int status)
{
    struct proc_result r = proc_wait(p);

    run_expect(&r, dir, status);
    proc_result_fini(&r);
}

double failures_of(const struct json_t *summary, const char *outcome)
{
    const json_t *kinds =
        json_object_get(json_object_get(summary, "requests"), "by_outcome");

    return json_number_value(json_object_get(kinds, outcome));
}

static bool has_text(const json_t *object, const char *key, const char *text)
{
    const char *value = json_string_value(json_object_get(object, key));

    return value && strcmp(value, text) == 0;
}

double failures_saying(const struct json_t *summary, const char *outcome,
                       const char *text)
{
    const json_t *kinds = json_object_get(summary, "failures");
    double n = 0;
    json_t *kind;
    size_t i;

    json_array_foreach(kinds, i, kind)
    {
        if (has_text(kind, "outcome", outcome) && has_text(kind, "text", text))
            n += json_number_value(json_object_get(kind, "count"));
    }
    return n;
}

bool check_failed(const struct json_t *summary, const char *name)
{
    const json_t *checks =
        json_object_get(json_object_get(summary, "trust"), "checks");
    json_t *check;
    size_t i;

    json_array_foreach(checks, i, check)
    {
        if (has_text(check, "name", name))
            return json_is_false(json_object_get(check, "ok"));
    }
    return false;
}
