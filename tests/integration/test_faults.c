/* Servers, clients and disks that die: every request is accounted for.
 *
 * load_summary() checks the identity of the counts each time. */
#include <jansson.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

TEST(server_killed_mid_run)
{
    char *dir = tmpdir_path("killed-server");
    char *url;
    struct proc stub = stub_start(ARGS("stub", "--delay", "20ms"), &url);
    struct proc run =
        proc_start(ARGS("run", url, "--rate", "400", "--duration", "3s",
                        "--slo", "errors < 1%", "-q", "-o", dir));
    struct proc_result r;
    json_t *summary;
    double failed;

    wait_for_rows(dir);
    kill(stub.pid, SIGKILL);
    must_end(&stub, 128 + SIGKILL);
    r = proc_wait(&run);
    summary = load_summary(dir);
    failed = number_at(summary, "requests.failed");
    assert_true(number_at(summary, "requests.ok") > 0);
    assert_true(number_at(summary, "requests.unsent") == 0);
    if (failed == 0)
        print_message("the run was over: a busy machine\n");
    run_expect(&r, dir,
               failed < 0.01 * number_at(summary, "requests.scheduled") ? 0
                                                                        : 1);
    /* Resets are those that it had when it was killed. */
    assert_true(failures_of(summary, "connect") +
                    failures_of(summary, "reset") ==
                failed);
}

/* A server that does not answer one in ten, so that some requests are in flight
 * when the end comes, whenever that is. */
static void end_client(const char *dir, int signal_number, int status)
{
    char *url;
    struct proc stub =
        stub_start(ARGS("stub", "--fault", "hang=1h every=10"), &url);
    struct proc run =
        proc_start(ARGS("run", url, "--rate", "300", "--duration", "1h",
                        "--timeout", "1h", "-q", "-o", dir));

    wait_for_rows(dir);
    kill(run.pid, signal_number);
    must_end(&run, status);
    stub_stop(&stub);
}

TEST(client_interrupted)
{
    static const struct {
        int signal_number;
        const char *name;
    } cases[] = {{SIGINT, "int"}, {SIGTERM, "term"}};

    for (size_t i = 0; i < 2; i++) {
        int status = 128 + cases[i].signal_number;
        char *dir = tmpdir_path(cases[i].name);
        struct proc report;
        json_t *summary;

        end_client(dir, cases[i].signal_number, status);
        summary = load_summary(dir);
        assert_true(json_is_true(json_object_get(summary, "interrupted")));
        assert_true(number_at(summary, "requests.ok") > 0);
        assert_true(failures_of(summary, "unfinished") > 0);
        assert_true(number_at(summary, "window.length_s") < 3600);
        report = proc_start(ARGS("report", dir));
        must_end(&report, status);
    }
}

TEST(client_killed)
{
    char *dir = tmpdir_path("killed-client");
    struct proc_result r;
    json_t *json;

    end_client(dir, SIGKILL, 128 + SIGKILL);
    r = proc_run(
        ARGS("report", dir, "--format", "json", "--slo", "e2e p50 < 10s"));
    proc_expect(&r, 4); /* it would pass, had it been let */
    json = json_loads(r.out, 0, NULL);
    assert_non_null(json);
    assert_true(json_is_true(json_object_get(json, "interrupted")));
    assert_true(number_at(json, "requests.ok") > 0);
    assert_true(number_at(json, "requests.issued") ==
                number_at(json, "requests.ok") +
                    failures_of(json, "unfinished"));
    assert_true(failures_of(json, "unfinished") ==
                number_at(json, "recording.lost_requests"));
    json_decref(json);
}

/* One connection at 20 answers a second, asked for 200: most are never sent, or
 * so late that their deadline passes, and the run is not to be believed. */
TEST(a_cap_that_closes_the_loop)
{
    json_t *summary = run_on_stub(ARGS("stub", "--delay", "50ms"),
                                  ARGS("run", "--rate", "200", "--duration",
                                       "1s", "-c", "1", "--timeout", "1s"),
                                  tmpdir_path("cap"), 4);

    assert_true(number_at(summary, "requests.unsent") > 0);
    assert_true(number_at(summary, "requests.unsent") +
                    failures_of(summary, "timeout") >
                100);
    assert_true(number_at(summary, "requests.ok") > 0);
    assert_string_equal(json_string_value(json_object_get(summary, "verdict")),
                        "invalid");
}

static void small_files_only(void)
{
    struct rlimit limit = {.rlim_cur = 100000, .rlim_max = 100000};

    setrlimit(RLIMIT_FSIZE, &limit);
}

/* The disk is full: said so, and what was recorded can be read. */
TEST(a_full_disk)
{
    char *dir = tmpdir_path("full");
    struct proc run =
        proc_start_with(ARGS("run", "null://", "--rate", "100k", "--duration",
                             "60s", "--max-burst", "1M", "-q", "-o", dir),
                        small_files_only);
    struct proc_result r = proc_wait(&run);
    json_t *json;

    assert_int_equal(r.status, 3);
    assert_non_null(strstr(r.err, "requests.tgr: File too large"));
    r = proc_run(ARGS("report", dir, "--format", "json"));
    json = json_loads(r.out, 0, NULL);
    assert_non_null(json);
    assert_true(number_at(json, "requests.ok") > 1000);
    json_decref(json);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
