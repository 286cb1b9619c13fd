#include "tests/support/forty.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/outcome.h"

struct json_t *forty_run(int status, const char *const *argv)
{
    struct proc run = proc_start(argv);
    char *dir = tmpdir_path("run");
    json_t *summary;

    run_must_end(&run, dir, status);
    summary = load_summary(dir);
    return summary;
}

void four_time_out(const char *text, const char *const *argv)
{
    struct proc run = proc_start(argv);

    run_must_time_out(&run, tmpdir_path("run"), 4, text);
}

void must_be_ok(struct json_t *summary)
{
    assert_true(number_at(summary, "requests.ok") == FORTY);
    json_decref(summary);
}

void must_all_say(struct json_t *summary, const char *outcome, const char *text)
{
    if (failures_of(summary, outcome) != FORTY ||
        failures_saying(summary, outcome, text) != FORTY) {
        char *said = json_dumps(json_object_get(summary, "failures"), 0);

        print_error("not '%s: %s': %s\n", outcome, text, said);
        free(said);
        fail();
    }
    json_decref(summary);
}

void must_all_mention(struct json_t *summary, const char *outcome,
                      const char *part)
{
    const json_t *kind =
        json_array_get(json_object_get(summary, "failures"), 0);
    const char *text = json_string_value(json_object_get(kind, "text"));

    assert_non_null(text);
    if (!strstr(text, part))
        print_error("'%s' does not say '%s'\n", text, part);
    assert_non_null(strstr(text, part));
    must_all_say(json_incref(summary), outcome, text);
    json_decref(summary);
}

void must_not_start(const char *part, const char *const *argv)
{
    struct proc_result r = proc_run(argv);

    proc_expect(&r, 3);
    if (!strstr(r.err, part))
        fail_msg("'%s' does not say '%s'", r.err, part);
    assert_int_equal(access(tmpdir_path("never"), F_OK), -1);
}
