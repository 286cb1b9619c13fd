#include "tests/support/outcome.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_ARGS     40

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

void run_for(const char *const *argv, const char *dir, int status)
{
    struct proc run = proc_start(argv);

    run_must_end(&run, dir, status);
}

struct json_t *run_on_stub(const char *const *stub, const char *const *run,
                           const char *dir, int status)
{
    const char *argv[MAX_ARGS] = {NULL};
    char *url;
    struct proc server = stub_start(stub, &url);
    const char *const more[] = {url, "-q", "-o", dir};
    size_t n = 0;

    for (; run[n]; n++) {
        assert_true(n + COUNT(more) < MAX_ARGS - 1);
        argv[n] = run[n];
    }
    memcpy(argv + n, more, sizeof(more));
    run_for(argv, dir, status);
    stub_stop(&server);
    free(url);
    return load_summary(dir);
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

bool was_quiet(const struct json_t *summary)
{
    const json_t *checks =
        json_object_get(json_object_get(summary, "trust"), "checks");
    json_t *check;
    size_t i;

    assert_true(json_array_size(checks) > 0);
    json_array_foreach(checks, i, check)
    {
        if (!json_is_true(json_object_get(check, "ok")))
            return false;
    }
    return true;
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
