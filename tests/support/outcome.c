#include "tests/support/outcome.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/clk.h"
#include "common/recording/schema.h"
#include "tests/support/keep.h"
#include "tests/support/table.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_ARGS     40

void must_end(struct proc *p, int status)
{
    struct proc_result r = proc_wait(p);

    proc_expect(&r, status);
}

void run_must_end(struct proc *p, const char *dir, int status)
{
    struct proc_result r = proc_wait(p);

    run_expect(&r, dir, status);
}

struct json_t *run_must_fail(struct proc *p, const char *dir)
{
    struct proc_result r = proc_wait(p);
    json_t *summary = load_summary(dir);

    if (number_at(summary, "requests.unsent") > 0)
        proc_expect(&r, 4);
    else
        run_expect(&r, dir, 1);
    return summary;
}

void run_must_time_out(struct proc *p, const char *dir, int n, const char *text)
{
    json_t *summary = run_must_fail(p, dir);

    assert_int_equal(number_at(summary, "requests.unsent") +
                         failures_saying(summary, "timeout", text),
                     n);
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
    return load_summary(dir);
}

/* -1: there is none yet. */
static int64_t find_outcome(const char *path, enum outcome outcome, int64_t seq)
{
    size_t n;
    struct facts *rows = table_read(path, &schema_requests, &n);
    int64_t found = -1;

    for (size_t i = 0; i < n && found < 0; i++) {
        if (rows[i].outcome == (int64_t)outcome && rows[i].seq > seq)
            found = rows[i].seq;
    }
    return found;
}

int64_t wait_for_outcome(const char *dir, enum outcome outcome, int64_t seq)
{
    char *path = keepf("%s/requests.tgr", dir);
    int64_t found = -1;

    wait_for_rows(dir);
    for (int tries = 0; found < 0 && tries < 2000; tries++) {
        found = find_outcome(path, outcome, seq);
        if (found < 0)
            clk_sleep_ns(10 * NS_PER_MS);
    }
    assert_true(found >= 0);
    return found;
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
