/* --abort-on: a run of which nothing comes is cut, and says so; a healthy one
 * is let be.  load_summary() checks that every request is accounted for. */
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static const char *text_at(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    return text ? text : "";
}

/* Manifest and summary agree on why, and on how many. */
static void assert_same_end(const json_t *manifest, const json_t *summary)
{
    const json_t *end = json_object_get(manifest, "end");

    assert_string_equal(text_at(end, "aborted"), text_at(summary, "aborted"));
    assert_true(number_at(end, "stopped_by") == 0);
    assert_true(number_at(end, "scheduled") ==
                number_at(summary, "requests.scheduled"));
    assert_true(number_at(summary, "requests.scheduled") >= 10);
}

static bool is_valid(const json_t *summary)
{
    return strcmp(json_string_value(json_object_get(summary, "verdict")),
                  "invalid") != 0;
}

TEST(hopeless_runs_are_cut)
{
    static const struct {
        const char *fault;
        const char *slo;
        const char *rule; /* as it is said again */
    } cases[] = {
        {"status=503", "e2e p50 < 10s", "errors > 50%"},
        {"status=503 p=60%", "lag p50 < 10s", "errors > 0.3"}, /* met so far */
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *dir = tmpdir_path(i ? "some" : "all");
        char *abort_on = keepf("%s over 1s", cases[i].rule);
        char *want = keepf("ABORTED %s: ", cases[i].rule);
        char *url;
        struct proc stub =
            stub_start(ARGS("stub", "--fault", cases[i].fault), &url);
        struct proc_result r = proc_run(ARGS(
            "run", "-v", url, "--rate", "200", "--duration", "60s",
            "--abort-on", abort_on, "--slo", cases[i].slo, "-q", "-o", dir));
        json_t *summary = load_summary(dir);
        json_t *manifest = load_manifest(dir);

        stub_stop(&stub);
        /* What was due when it was cut, and not yet sent, is unsent: on a busy
         * machine the numbers are withdrawn as well. */
        proc_expect(&r, is_valid(summary) ? 1 : 4);
        assert_true(number_at(summary, "window.length_s") < 60);
        assert_non_null(strstr(r.out, want));
        assert_non_null(
            strstr(text_at(summary, "aborted"), want + strlen("ABORTED ")));
        assert_same_end(manifest, summary);
    }
}

TEST(healthy_runs_are_let_be)
{
    char *dir = tmpdir_path("healthy");
    char *url;
    struct proc stub =
        stub_start(ARGS("stub", "--fault", "status=503 p=10%"), &url);
    struct proc_result r =
        proc_run(ARGS("run", "-v", url, "--rate", "200", "--duration", "1500ms",
                      "--abort-on", "errors > 50% over 1s", "-q", "-o", dir));
    json_t *summary = load_summary(dir);

    stub_stop(&stub);
    run_expect(&r, dir, 0);
    assert_true(json_is_null(json_object_get(summary, "aborted")));
    assert_null(strstr(r.out, "ABORTED"));
    assert_true(number_at(summary, "window.length_s") == 1.5);
}

TEST(a_rule_that_cannot_be_read_is_wrong_usage)
{
    struct proc_result r =
        proc_run(ARGS("run", "null://", "--rate", "1", "--abort-on",
                      "errors < 5%", "-o", tmpdir_path("usage")));

    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "'errors < 5%' is not an abort rule"));
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
