/* `run` and `report` as a user sees them: files, exit codes, what is printed.
 */
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/keep.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static char *stub_url; /* of the stub that serves all tests here */
static struct proc stub;

static int start_stub(void **state)
{
    if (tmpdir_setup(state))
        return -1;
    stub = stub_start(ARGS("stub", "--service", "fixed 1ms"), &stub_url);
    return 0;
}

static int end_stub(void **state)
{
    stub_stop(&stub);
    return tmpdir_teardown(state);
}

static struct proc_result must_run(const char *const *argv, int status)
{
    struct proc_result r = proc_run(argv);

    proc_expect(&r, status);
    return r;
}

static const char *text_at(const json_t *json, const char *block,
                           const char *key)
{
    const json_t *at = json_object_get(json, block);

    return json_string_value(json_object_get(at, key));
}

TEST(report_repeats_the_run)
{
    const char *dir = tmpdir_path("repeat");
    struct proc_result run =
        proc_run(ARGS("run", stub_url, "--rate", "300", "--duration", "1s",
                      "--slo", "e2e p90 < 5s", "-q", "-o", dir));
    struct proc_result report = must_run(ARGS("report", dir), run.status);
    struct proc_result json =
        must_run(ARGS("report", dir, "--format", "json"), run.status);
    json_t *saved = load_summary(dir);
    json_t *printed = json_loads(json.out, 0, NULL);

    run_expect(&run, dir, 0);
    assert_string_equal(run.out, report.out);
    assert_string_equal(run.err, "");
    assert_true(json_equal(saved, printed));
    json_decref(printed);
}

TEST(a_settings_file_and_flags_over_it)
{
    static const char text[] = "name: my run\n"
                               "target: {headers: {x-team: a}, timeout: 3s}\n"
                               "load: {rate: 1, duration: 1s, seed: 5}\n"
                               "slo: [e2e p99 < 1s]\n"
                               "conditions: {hardware: none}\n";
    char *file = tmpdir_write("s.yaml", text, strlen(text));
    const char *dir = tmpdir_path("file");
    json_t *manifest;
    json_t *used;

    run_for(ARGS("run", file, "--url", stub_url, "--rate", "400", "--label",
                 "batch=8", "--slo", "errors < 50%", "--set",
                 "load.duration=500ms", "-q", "-o", dir),
            dir, 0);
    manifest = load_manifest(dir);
    used = json_object_get(manifest, "settings");
    assert_string_equal(text_at(used, "load", "rate"), "400/s");
    assert_string_equal(text_at(used, "load", "duration"), "500ms");
    assert_string_equal(text_at(used, "load", "seed"), "5");
    assert_string_equal(text_at(used, "target", "timeout"), "3s");
    assert_string_equal(text_at(used, "conditions", "hardware"), "none");
    assert_string_equal(text_at(used, "conditions", "batch"), "8");
    assert_int_equal(json_array_size(json_object_get(used, "slo")), 1);
    assert_string_equal(text_at(manifest, "asked", "file"), file);
}

TEST(secrets_stay_out_of_the_recording)
{
    const char *dir = tmpdir_path("secret");
    json_t *manifest;
    char *text;

    run_for(ARGS("run", stub_url, "--rate", "100", "-n", "5", "-H",
                 "Authorization: Bearer sk-planted", "-H",
                 "x-api-key:sk-planted", "--header=cookie: sk-planted", "-q",
                 "-o", dir),
            dir, 0);
    manifest = load_manifest(dir);
    text = json_dumps(manifest, 0);
    assert_null(strstr(text, "sk-planted"));
    assert_non_null(strstr(text, "(redacted)"));
    free(text);
}

TEST(nothing_is_overwritten)
{
    char *dir = tmpdir_path("kept");
    char *other = keepf("%s/notes.txt", dir);
    struct proc_result r;
    struct stat st;

    run_for(ARGS("run", "null://", "--rate", "100", "-n", "3", "-q", "-o", dir),
            dir, 0);
    tmpdir_write("kept/notes.txt", "mine", 4);
    r = must_run(
        ARGS("run", "null://", "--rate", "100", "-n", "4", "-q", "-o", dir), 2);
    assert_non_null(strstr(r.err, "is not empty; --force replaces"));
    run_for(ARGS("run", "null://", "--rate", "100", "-n", "4", "-q", "--force",
                 "-o", dir),
            dir, 0);
    assert_int_equal(stat(other, &st), 0);
}

/* A body from a file, a method of one's own, many requests on few
 * connections. */
TEST(bodies_methods_and_keep_alive)
{
    static const char *const methods[] = {"POST", "PUT", "HEAD", "GET"};
    char *body = tmpdir_write("body.json", "{\"a\": 1}", 8);
    char *at_body = keepf("@%s", body);

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        const char *dir = tmpdir_path(methods[i]);
        json_t *summary;

        run_for(ARGS("run", stub_url, "-X", methods[i], "--body", at_body, "-c",
                     "2", "-n", "50", "-q", "-o", dir),
                dir, 0);
        summary = load_summary(dir);
        assert_true(number_at(summary, "requests.ok") == 50);
        assert_true(number_at(summary, "requests.opened_connection") == 2);
        assert_true(number_at(summary, "bytes_out_per_s") > 0);
    }
}

TEST(keys_that_scripts_rely_on)
{
    static const char *const numbers[] = {"schema",
                                          "window.start_s",
                                          "window.length_s",
                                          "window.warmup_s",
                                          "requests.scheduled",
                                          "offered_rps",
                                          "throughput_rps",
                                          "goodput_rps",
                                          "attainment",
                                          "measures.e2e.n",
                                          "measures.e2e.p50_ms",
                                          "measures.e2e.ok.p50_ms",
                                          "measures.e2e.sent.p50_ms",
                                          "measures.service.p50_ms",
                                          "measures.lag.p50_ms",
                                          "measures.ttfb.p50_ms",
                                          "measures.ttft.p50_ms",
                                          "measures.connect.n"};
    const char *dir = tmpdir_path("keys");
    json_t *summary;

    run_for(ARGS("run", stub_url, "--rate", "100", "--warmup", "200ms",
                 "--duration", "1s", "-q", "-o", dir),
            dir, 0);
    summary = load_summary(dir);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        number_at(summary, numbers[i]);
    assert_true(json_is_string(json_object_get(summary, "verdict")));
    assert_true(number_at(summary, "window.start_s") == 0.2);
    assert_true(number_at(summary, "window.length_s") == 1);
}

/* Over before it has begun, so to speak. */
TEST(a_run_of_three_requests)
{
    const char *dir = tmpdir_path("three");
    json_t *summary;

    run_for(ARGS("run", "null://", "-c", "1", "-n", "3", "-q", "-o", dir), dir,
            0);
    summary = load_summary(dir);
    assert_true(number_at(summary, "requests.ok") == 3);
}

/* Open and closed loop, several targets, more threads than cores: nothing is
 * lost, and connections are kept. */
TEST(several_threads)
{
    static const char *const loads[][2] = {{"--rate", "600"}, {"-c", "9"}};

    for (size_t i = 0; i < 2; i++) {
        char *dir = tmpdir_path(i ? "threads-closed" : "threads-open");
        struct proc_result r = proc_run(
            ARGS("run", stub_url, stub_url, loads[i][0], loads[i][1], "-t", "3",
                 "-n", "600", "--preconnect", i ? "0" : "6", "-q", "-o", dir));
        json_t *summary;

        run_expect(&r, dir, 0);
        summary = load_summary(dir);
        assert_true(number_at(summary, "requests.ok") == 600);
        /* Each client two; one or two in flight, or all that were due while
         * somebody was held up. */
        assert_true(
            number_at(summary, "requests.opened_connection") <=
                (i ? 18 : 300) ||
            (i == 0 && number_at(summary, "measures.e2e.max_ms") > 200));
    }
}

/* Of two targets one answers after 20 ms at the earliest: each transport
 * records which target a request went to.  Whether it is a straggler is tested
 * on made recordings (unit.target_rows, integration.scaling). */
TEST(requests_know_their_target)
{
    static const char *const transports[] = {"--transport=native", "--http2",
                                             "--transport=curl"};
    char *slow_url;
    struct proc slow =
        stub_start(ARGS("stub", "--service", "fixed 20ms"), &slow_url);
    const char *urls[] = {stub_url, slow_url};

    for (size_t i = 0; i < COUNT(transports); i++) {
        char *dir = tmpdir_path(transports[i]);
        const json_t *targets;

        run_for(ARGS("run", stub_url, slow_url, "-c", "2", "-n", "100",
                     transports[i], "-q", "-o", dir),
                dir, 0);
        targets = json_object_get(load_summary(dir), "targets");
        assert_int_equal(json_array_size(targets), 2);
        for (size_t k = 0; k < 2; k++) {
            const json_t *t = json_array_get(targets, k);

            assert_string_equal(json_string_value(json_object_get(t, "name")),
                                urls[k]);
            assert_true(number_at(t, "n") == 50);
            assert_true(number_at(t, "ok") == 50);
        }
        assert_true(number_at(json_array_get(targets, 1), "e2e_p50_ms") > 19);
    }
    stub_stop(&slow);
}

/* Its first line of progress, whenever that comes; then it is to end. */
static char *progress_of(struct proc *run)
{
    struct proc_result r;
    char *line = NULL;

    while (!line || !strstr(line, "lag p50 ")) {
        line = proc_read_error(run);
    }
    assert_int_equal(kill(run->pid, SIGTERM), 0);
    r = proc_wait(run);
    proc_expect(&r, 128 + SIGTERM);
    return line;
}

/* Not in the first second, and how long it will take only where that is known.
 */
TEST(progress_says_what_it_knows)
{
    char *dir = tmpdir_path("by-count");
    struct proc count =
        proc_start(ARGS("run", "null://", "--arrival", "constant", "--rate",
                        "100", "-n", "1M", "-o", dir));
    struct proc time =
        proc_start(ARGS("run", "null://", "--rate", "100", "--duration", "1h",
                        "-o", tmpdir_path("by-time")));
    char *by_count = progress_of(&count);
    char *by_time = progress_of(&time);

    assert_non_null(strstr(by_count, "s: "));
    assert_null(strstr(by_count, " 1s"));
    assert_null(strstr(by_count, "s of "));
    assert_non_null(strstr(by_count, " of 1000000 sent"));
    assert_non_null(strstr(by_time, "s of 3600s: "));
}

TEST(validate_prints_the_plan)
{
    struct proc_result r =
        must_run(ARGS("validate", "http://h/", "http://i/", "--rate", "50",
                      "--duration", "2s", "--slo", "e2e p99 < 1s"),
                 0);

    assert_non_null(strstr(r.out, "open loop, poisson 50/s, window 2s"));
    assert_non_null(
        strstr(r.out, "GET http://h/\n           and 1 more URLs in turn\n"));
    assert_non_null(strstr(r.out, "about 100 in the window"));
    assert_non_null(strstr(r.out, "TOO SHORT"));
}

GROUP_FIXTURE(start_stub, end_stub)
