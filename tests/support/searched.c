#include "tests/support/searched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/keep.h"
#include "tests/support/tmpdir.h"

char *searched_file(const char *name, const char *settings)
{
    return tmpdir_write(name, settings, strlen(settings));
}

json_t *searched_json(const char *dir, const char *name)
{
    char *path = keepf("%s/%s", dir, name);
    json_t *json = json_load_file(path, 0, NULL);

    assert_non_null(json);
    return keep(json);
}

const char *searched_text(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    assert_non_null(text);
    return text;
}

int searched_status(const json_t *json)
{
    static const struct {
        const char *outcome;
        int status;
    } rows[] = {
        {"found", 0},  {"estimated", 0},    {"at least", 0},  {"never", 1},
        {"budget", 4}, {"client limit", 4}, {"undecided", 4}, {"not probed", 4},
    };
    const char *outcome = searched_text(json, "outcome");

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(outcome, rows[i].outcome) == 0)
            return rows[i].status;
    }
    fail_msg("unknown outcome: %s", outcome);
    return -1;
}

struct searched searched_run(const char *name, const char *settings)
{
    struct searched s = {.dir = tmpdir_path(name)};
    char *file_name = keepf("%s.yaml", name);
    char *file = searched_file(file_name, settings);

    s.r = proc_run(ARGS("search", file, "-q", "-o", s.dir));
    s.json = searched_json(s.dir, "summary.json");
    return s;
}

void searched_fini(struct searched *s)
{
    json_decref(s->json);
}
