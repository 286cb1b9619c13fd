/* Warm-up, window and cool-down of real runs: which requests are in which, and
 * that a report on the recording says the same. */
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "common/recording/schema.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/table.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static char *url;
static struct proc stub;

static int start(void **state)
{
    if (tmpdir_setup(state))
        return -1;
    stub = stub_start(ARGS("stub", "--service", "fixed 1ms"), &url);
    return 0;
}

static int end(void **state)
{
    stub_stop(&stub);
    return tmpdir_teardown(state);
}

/* What the rows say is what is said of them. */
static void check_rows(const char *dir, const json_t *summary)
{
    char *path = keepf("%s/requests.tgr", dir);
    json_t *manifest = load_manifest(dir);
    int64_t start_ns = (int64_t)number_at(manifest, "end.window_start_ns");
    int64_t end_ns = (int64_t)number_at(manifest, "end.window_end_ns");
    size_t n;
    struct facts *rows = table_read(path, &schema_requests, &n);
    int before = 0;
    int after = 0;

    for (size_t i = 0; i < n; i++) {
        before += rows[i].due < start_ns;
        after += rows[i].due >= end_ns;
    }
    assert_int_equal(number_at(summary, "requests.in_warmup"), before);
    assert_int_equal(number_at(summary, "requests.in_cooldown"), after);
    assert_int_equal(number_at(summary, "requests.scheduled"),
                     (int)n - before - after);
    assert_int_equal(number_at(manifest, "end.scheduled"), (int)n);
}

/* The recording alone gives the same. */
static void check_report(const char *dir, const json_t *summary)
{
    struct proc_result r = proc_run(ARGS("report", dir, "--format", "json"));
    json_t *again = json_loads(r.out, 0, NULL);

    assert_non_null(again);
    assert_true(json_equal(json_object_get(again, "requests"),
                           json_object_get(summary, "requests")));
    assert_true(json_equal(json_object_get(again, "window"),
                           json_object_get(summary, "window")));
    json_decref(again);
}

TEST(every_scenario_has_its_phases)
{
    static const struct {
        const char *name;
        const char *argv[6];
        int warmup;
        int inside;
    } cases[] = {
        {"open", {"--rate", "500"}, 50, 100},
        {"threads", {"--rate", "500", "-t", "3"}, 50, 100},
        {"closed", {"-c", "5"}, 50, 100},
        {"single", {"--scenario", "single-stream"}, 50, 100},
        {"multi", {"--scenario", "multi-stream"}, 56, 104},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *dir = tmpdir_path(cases[i].name);
        const char *argv[24] = {"tailgate", "run", url,   "--warmup-requests",
                                "50",       "-n",  "100", "--cooldown",
                                "200ms",    "-q",  "-o",  dir};
        struct proc_result r;
        json_t *summary;

        for (size_t k = 0; k < 6 && cases[i].argv[k]; k++)
            argv[12 + k] = cases[i].argv[k];
        r = proc_run(argv);
        run_expect(&r, dir, 0);
        summary = load_summary(dir);
        assert_int_equal(number_at(summary, "requests.in_warmup"),
                         cases[i].warmup);
        assert_int_equal(number_at(summary, "requests.scheduled"),
                         cases[i].inside);
        assert_true(number_at(summary, "requests.in_cooldown") > 0);
        check_rows(dir, summary);
        check_report(dir, summary);
    }
}

/* The lanes of a closed loop agree on one window. */
TEST(threads_of_a_closed_loop_agree)
{
    char *dir = tmpdir_path("lanes");
    struct proc_result r = proc_run(
        ARGS("run", url, "-c", "6", "-t", "3", "--warmup-requests", "50", "-d",
             "200ms", "--cooldown", "100ms", "-q", "-o", dir));
    json_t *summary;

    run_expect(&r, dir, 0);
    summary = load_summary(dir);
    assert_true(number_at(summary, "requests.in_warmup") >= 50);
    assert_true(number_at(summary, "window.length_s") == 0.2);
    check_rows(dir, summary);
    check_report(dir, summary);
}

static bool has_note(const json_t *summary, const char *name)
{
    const json_t *note;
    size_t i;

    json_array_foreach(json_object_get(summary, "notes"), i, note)
    {
        if (strcmp(json_string_value(json_object_get(note, "name")), name) == 0)
            return true;
    }
    return false;
}

/* Answers of 300 ms and windows of 1 s: the load continues by itself, unless a
 * count ends the window. */
TEST(long_answers_have_a_cool_down)
{
    static const struct {
        const char *name;
        const char *argv[6];
        bool continues;
    } cases[] = {
        {"auto", {"--rate", "100", "-d", "1s", "-t", "1"}, true},
        {"auto3", {"--rate", "100", "-d", "1s", "-t", "3"}, true},
        {"none", {"--rate", "100", "-d", "1s", "--cooldown", "0s"}, false},
        {"count", {"--rate", "100", "-n", "100"}, false},
        {"clients", {"-c", "8", "-d", "1s"}, true},
    };
    char *slow;
    struct proc server =
        stub_start(ARGS("stub", "--service", "llm", "--prefill", "1us",
                        "--decode", "10ms", "--decode-item", "0s", "--batching",
                        "continuous", "--max-running", "500"),
                   &slow);
    char *target = keepf("%s/v1/completions", slow);

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *dir = tmpdir_path(cases[i].name);
        const char *argv[24] = {"tailgate",     "run", target, "-q",
                                "--input-len",  "5",   "-o",   dir,
                                "--output-len", "30"};
        struct proc_result r;
        json_t *summary;

        for (size_t k = 0; k < 6 && cases[i].argv[k]; k++)
            argv[10 + k] = cases[i].argv[k];
        r = proc_run(argv);
        run_expect(&r, dir, 0);
        summary = load_summary(dir);
        assert_int_equal(number_at(summary, "window.cooldown_s") > 0,
                         cases[i].continues);
        assert_true(number_at(summary, "window.cooldown_s") <= 0.5);
        assert_int_equal(number_at(summary, "requests.in_cooldown") > 0,
                         cases[i].continues);
        if (!cases[i].continues)
            assert_true(has_note(summary, "drain"));
        check_report(dir, summary);
    }
    stub_stop(&server);
}

/* Answers of a second: when the SLO is decided, nothing more is sent, and those
 * in flight are waited for.  compare says that the run ended early. */
TEST(a_decided_run_waits_for_its_answers)
{
    char *slow;
    struct proc server = stub_start(
        ARGS("stub", "--service", "fixed 1s", "--replicas", "64"), &slow);
    char *dir = tmpdir_path("decided");
    struct proc_result r =
        proc_run(ARGS("run", slow, "-q", "--rate", "30", "-d", "40s", "--stop",
                      "decided", "--slo", "e2e p50 < 20s", "-o", dir));
    json_t *summary;

    stub_stop(&server);
    run_expect(&r, dir, 0);
    summary = load_summary(dir);
    if (r.status == 0) /* a run that cannot be trusted decides nothing */
        assert_non_null(
            strstr(json_string_value(json_object_get(summary, "decided")),
                   "e2e p50 < 20s passes"));
    assert_true(number_at(summary, "window.length_s") < 40);
    assert_int_equal(number_at(summary, "requests.failed"), 0);
    check_report(dir, summary);
    if (r.status == 0) {
        r = proc_run(ARGS("compare", dir, dir, "--slo", "e2e p50 < 19s"));
        assert_non_null(strstr(r.out, "before the planned end of its window"));
    }
}

/* Long prompts before the window and short ones from then on, whichever source
 * sends them. */
TEST(a_warm_up_has_data_of_its_own)
{
    static const char *const loads[] = {
        "{rate: 500, requests: 50, warmup_requests: 30, cooldown: 50ms}",
        "{rate: 500, duration: 200ms, warmup: 100ms}",
        "{clients: 6, requests: 60, warmup_requests: 30}",
    };

    for (size_t i = 0; i < COUNT(loads); i++) {
        char *name = keepf("own%zu", i);
        char *dir = tmpdir_path(name);
        char *text = keepf("target: {url: \"%s/v1/completions\"}\n"
                           "load: %s\n"
                           "client: {threads: 3}\n"
                           "data: {input_tokens: 20, output_tokens: 5}\n"
                           "warmup_data: {input_tokens: 300}\n",
                           url, loads[i]);
        char *file = tmpdir_write("own.yaml", text, strlen(text));
        char *path = keepf("%s/requests.tgr", dir);
        struct proc_result r = proc_run(ARGS("run", file, "-q", "-o", dir));
        json_t *manifest;
        struct facts *rows;
        int64_t start_ns;
        size_t n;

        run_expect(&r, dir, 0);
        manifest = load_manifest(dir);
        start_ns = (int64_t)number_at(manifest, "end.window_start_ns");
        rows = table_read(path, &schema_requests, &n);
        assert_true(n > 0);
        for (size_t k = 0; k < n; k++) {
            if (rows[k].outcome == OUTCOME_UNSENT)
                continue;
            assert_int_equal(rows[k].prompt_asked,
                             rows[k].due < start_ns ? 300 : 20);
            assert_int_equal(rows[k].output_asked, 5);
            assert_int_equal(rows[k].class, 0);
        }
    }
}

/* Of one that was killed the rows say when its window began, if it had. */
TEST(a_killed_run_is_worked_out_from_its_rows)
{
    char *dir = tmpdir_path("killed");
    struct proc p =
        proc_start(ARGS("run", "null://", "--rate", "1000", "-d", "10m",
                        "--warmup-requests", "50", "-q", "-o", dir));
    struct proc_result r;
    json_t *summary;
    double before;

    wait_for_rows(dir);
    kill(p.pid, SIGKILL);
    r = proc_wait(&p);
    r = proc_run(ARGS("report", dir, "--format", "json"));
    summary = json_loads(r.out, 0, NULL);
    assert_non_null(summary);
    before = number_at(summary, "requests.in_warmup");
    if (number_at(summary, "requests.scheduled") > 0)
        assert_true(before == 50);
    else
        assert_true(before <= 50);
    json_decref(summary);
}

GROUP_FIXTURE(start, end)
