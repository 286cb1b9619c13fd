/* --launch mpi:N: ranks that stay, compare their clocks and may die.  That they
 * send what one machine sends is in test_launch.c. */
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/text/json.h"
#include "tests/support/farhosts.h"
#include "tests/support/keep.h"
#include "tests/support/mpi.h"
#include "tests/support/proc.h"
#include "tests/support/searched.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static void set_up(void)
{
    if (!mpi_set_up())
        skip();
}

/* ---- the end of a rank ---- */

/* All ranks have written rows. */
static void wait_for_ranks(const char *dir, int n)
{
    while (access(keepf("%s.shards", dir), F_OK) < 0)
        clk_sleep_ns(10 * NS_PER_MS);
    for (int i = 0; i < n; i++)
        wait_for_rows(keepf("%s.shards/%d", dir, i));
}

/* The run would take ten minutes. */
static void lose(int rank, int how)
{
    char *dir = tmpdir_path(keepf("lost%d-%d", rank, how));
    struct proc run =
        proc_start(ARGS("run", "null://", "-R", "100", "-d", "600s", "--launch",
                        "mpi:3", "-q", "-o", dir));
    struct proc_result r;

    wait_for_ranks(dir, 3);
    kill(mpi_rank(rank), how);
    r = proc_wait(&run);
    proc_expect(&r, 4);
    if (!strstr(r.err, keepf("rank %d", rank)) || !strstr(r.err, "was lost"))
        fail_msg("%s", r.err);
    for (int other = 0; other < 3; other++) {
        if (other != rank && strstr(r.out, keepf("ABORTED rank %d", other)))
            fail_msg("%s", r.out);
    }
    json_decref(load_summary(dir));
    assert_int_equal(access(keepf("%s.shards", dir), F_OK), -1);
    mpi_expect_none();
}

TEST_WITH(a_lost_rank_ends_the_run, tmpdir_setup, tmpdir_teardown)
{
    set_up();
    lose(1, SIGKILL);
    lose(2, SIGSTOP);
}

TEST_WITH(the_first_rank_may_be_lost, tmpdir_setup, tmpdir_teardown)
{
    set_up();
    lose(0, SIGKILL);
    lose(0, SIGSTOP);
}

/* Ctrl-C: what is recorded is kept, and all ranks agree on why it ended. */
TEST_WITH(an_interruption_ends_all_ranks, tmpdir_setup, tmpdir_teardown)
{
    char *dir = tmpdir_path("run");
    struct proc run;
    struct proc_result r;
    json_t *summary;

    set_up();
    run = proc_start(ARGS("run", "null://", "-R", "100", "-d", "600s",
                          "--launch", "mpi:2", "-q", "-o", dir));
    wait_for_ranks(dir, 2);
    kill(run.pid, SIGINT);
    r = proc_wait(&run);
    proc_expect(&r, 128 + SIGINT);
    summary = load_summary(dir);
    assert_true(number_at(summary, "requests.ok") > 0);
    json_decref(summary);
    mpi_expect_none();
}

/* What is left was cut, and is no result of the server. */
TEST_WITH(the_end_of_mpirun_ends_the_run, tmpdir_setup, tmpdir_teardown)
{
    char *dir = tmpdir_path("run");
    struct proc run;
    struct proc_result r;
    struct err err = {0};
    char *status;

    set_up();
    run = proc_start(ARGS("run", "null://", "-R", "100", "-d", "600s",
                          "--launch", "mpi:2", "-q", "-o", dir));
    wait_for_ranks(dir, 2);
    assert_int_equal(file_read_text(keepf("/proc/%d/status", mpi_rank(0)),
                                    1 << 16, &status, &err),
                     0);
    kill((pid_t)strtol(strstr(status, "PPid:") + 5, NULL, 10), SIGKILL);
    free(status);
    r = proc_wait(&run);
    proc_expect(&r, 4);
    assert_non_null(strstr(r.err, "the ranks have ended: signal 9"));
    json_decref(load_summary(dir));
    mpi_expect_none();
}

/* It would take ten minutes: all ranks are ended, and started again. */
TEST_WITH(ranks_that_take_too_long_are_not_complete, tmpdir_setup,
          tmpdir_teardown)
{
    char *dir = tmpdir_path("run");
    struct proc_result r;

    set_up();
    r = proc_run(ARGS("run", "null://", "-R", "100", "-d", "600s", "--launch",
                      "mpi:2", "--launch-lead", "1s", "--launch-limit", "8s",
                      "-q", "-o", dir));
    proc_expect(&r, 4);
    assert_non_null(strstr(r.err, "within 8s; starting all shards again"));
    assert_non_null(strstr(r.err, "shard 1 of 2 was killed"));
    json_decref(load_summary(dir));
    mpi_expect_none();
}

/* They would wait for ten minutes. */
TEST_WITH(an_interruption_ends_ranks_that_prepare, tmpdir_setup,
          tmpdir_teardown)
{
    char *dir = tmpdir_path("run");
    char *url = keepf("http://127.0.0.1:%d/", refusing_port());
    int64_t began_ns;
    struct proc run;
    struct proc_result r;

    set_up();
    run = proc_start(ARGS("run", url, "-R", "100", "-d", "1s", "--wait-ready",
                          "600s", "--launch", "mpi:2", "-q", "-o", dir));
    while (access(keepf("%s.shards/plan.json", dir), F_OK) < 0)
        clk_sleep_ns(10 * NS_PER_MS);
    began_ns = clk_now(&clk_monotonic);
    kill(run.pid, SIGINT);
    r = proc_wait(&run);
    proc_expect(&r, 128 + SIGINT);
    assert_true(clk_now(&clk_monotonic) - began_ns < 15 * NS_PER_S);
    assert_int_equal(access(dir, F_OK), -1);
    mpi_expect_none();
}

/* Half of all requests fail, which ends a run that would take ten minutes. */
TEST_WITH(the_abort_rule_is_about_all_ranks, tmpdir_setup, tmpdir_teardown)
{
    static const char text[] =
        "load: {arrival: constant, rate: 100, duration: 600s, seed: 3,\n"
        "  abort_on: errors > 40% over 3s}\n"
        "target: {timeout: 2s}\n";
    char *file = tmpdir_write("s.yaml", text, strlen(text));
    char *dir = tmpdir_path("run");
    char *good;
    char *bad;
    struct proc stubs[2];
    struct proc_result r;

    set_up();
    stubs[0] = stub_start(ARGS("stub"), &good);
    stubs[1] = stub_start(ARGS("stub", "--fault", "status=503"), &bad);
    r = proc_run(ARGS("run", file, "--url", good, "--url", bad, "--launch",
                      "mpi:2", "-q", "-o", dir));
    stub_stop(&stubs[0]);
    stub_stop(&stubs[1]);
    if (!strstr(r.out, "ABORTED errors > 40%"))
        fail_msg("%d: %s %s", r.status, r.out, r.err);
    json_decref(load_summary(dir));
    mpi_expect_none();
}

/* Those who watch see the requests of all ranks. */
TEST_WITH(the_requests_of_all_ranks_are_watched, tmpdir_setup, tmpdir_teardown)
{
    char *dir = tmpdir_path("run");
    char *metrics = tmpdir_path("metrics");
    struct err err = {0};
    struct proc_result r;
    char *text;

    set_up();
    r = proc_run(ARGS("run", "null://", "-R", "100", "-n", "60", "--launch",
                      "mpi:3", "-q", "--metrics-file", metrics, "-o", dir));
    run_expect(&r, dir, 0);
    assert_int_equal(file_read_text(metrics, 1 << 20, &text, &err), 0);
    if (!strstr(text, "tailgate_requests_issued_total{run=\"run\",name="
                      "\"run\",scenario=\"server\",variant=\"\"} 60\n"))
        fail_msg("%s", strstr(text, "tailgate_requests_issued_total{"));
    free(text);
    mpi_expect_none();
}

/* A run that would take ten minutes ends when it is as precise as asked for. */
TEST_WITH(a_judge_sees_the_requests_of_all_ranks, tmpdir_setup, tmpdir_teardown)
{
    char *dir = tmpdir_path("run");
    struct proc_result r;
    json_t *manifest;

    set_up();
    r = proc_run(ARGS("run", "null://", "-R", "100", "-d", "600s", "--until",
                      "e2e p50 +- 90%", "--launch", "mpi:3", "-q", "-o", dir));
    run_expect(&r, dir, 0);
    manifest = load_manifest(dir);
    assert_true(json_is_true(
        json_object_get(json_object_get(manifest, "end"), "was_enough")));
    json_decref(manifest);
    mpi_expect_none();
}

/* The load of all ranks ends once the verdict is known, as from the recording,
 * which has every request that was due by then. */
TEST_WITH(the_verdict_of_all_ranks_ends_the_load, tmpdir_setup, tmpdir_teardown)
{
    char *dir = tmpdir_path("run");
    struct proc_result r;
    json_t *manifest;
    json_t *summary;
    const json_t *list;
    const json_t *shard;
    int64_t first_ns = INT64_MAX;
    size_t i;

    set_up();
    r = proc_run(ARGS("run", "null://", "-R", "100", "-d", "600s", "--slo",
                      "errors < 30%", "--stop", "decided", "--launch", "mpi:3",
                      "-q", "-o", dir));
    run_expect(&r, dir, 0);
    assert_non_null(strstr(r.out, "decided early"));
    summary = load_summary(dir);
    assert_true(number_at(summary, "requests.failed") == 0);
    json_decref(summary);
    manifest = load_manifest(dir);
    list = json_object_get(json_object_get(manifest, "shards"), "list");
    assert_int_equal(json_array_size(list), 3);
    json_array_foreach(list, i, shard)
    {
        int64_t end_ns = (int64_t)number_at(shard, "end.due_end_ns");

        first_ns = end_ns < first_ns ? end_ns : first_ns;
    }
    assert_true(number_at(manifest, "end.due_end_ns") == (double)first_ns);
    /* The common start is the one that rank 0 gave, not the planned one. */
    assert_int_equal(
        json_get_int(json_object_get(manifest, "shards"), "start_at_ns", 0),
        json_get_int(json_object_get(manifest, "clock"), "realtime_ns", -1));
    json_decref(manifest);
    mpi_expect_none();
}

/* ---- clocks ---- */

/* What mpirun calls to start something on another host; the clock of the second
 * one is 50 ms ahead. */
static const char play_rsh[] =
    "#!/bin/sh\n"
    "h=$1; shift\n"
    "case $h in *2) export TAILGATE_TEST_CLOCK_OFFSET_NS=50000000 ;; esac\n"
    "exec ip netns exec $h unshare --uts sh -c \"hostname $h; $*\"\n";

static char *make_script(const char *name, const char *text)
{
    char *path = tmpdir_write(name, text, strlen(text));

    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

static int64_t at_of(const json_t *manifest, size_t shard, const char *key)
{
    const json_t *list =
        json_object_get(json_object_get(manifest, "shards"), "list");

    return json_integer_value(json_object_get(
        json_object_get(json_array_get(list, shard), "clock"), key));
}

/* One rank on each of two hosts. */
static void set_up_hosts(struct farhosts *hosts, int64_t delay_ns)
{
    char *rsh = make_script("rsh", play_rsh);

    if (!farhosts_start(hosts, delay_ns))
        skip();
    setenv(
        "TAILGATE_MPIRUN",
        make_script("far",
                    keepf("#!/bin/sh\n"
                          "exec %s %s %s -H %s,%s --mca "
                          "plm_rsh_agent %s --mca btl self,tcp --mca "
                          "btl_tcp_if_include " FARHOSTS_NET
                          " --mca oob_tcp_if_include " FARHOSTS_NET " \"$@\"\n",
                          rsh, hosts->name[0], getenv("TAILGATE_MPIRUN"),
                          hosts->name[0], hosts->name[1], rsh)),
        1);
}

/* 5 ms to the other host, whose clock is wrong: the offset is found within the
 * stated bound, and both start at the same time, within that bound, too.  That
 * they are one machine, with one monotonic clock, shows it. */
TEST_WITH(clocks_are_compared_and_corrected, tmpdir_setup, tmpdir_teardown)
{
    char *dir = tmpdir_path("run");
    struct farhosts hosts;
    struct proc_result r;
    json_t *manifest;
    int64_t error_ns;
    int64_t apart_ns;

    set_up();
    set_up_hosts(&hosts, 5 * NS_PER_MS);
    r = proc_run(ARGS("run", "null://", "-R", "100", "-d", "1s", "--launch",
                      "mpi:2", "--launch-lead", "2s", "-o", dir));
    farhosts_stop(&hosts);
    run_expect(&r, dir, 0);
    r = proc_run(ARGS("report", dir, "-v"));
    assert_non_null(strstr(r.out, "all started by one clock"));
    assert_non_null(strstr(r.out, hosts.name[1]));
    manifest = load_manifest(dir);
    error_ns = at_of(manifest, 1, "offset_error_ns");
    assert_true(error_ns >= 5 * NS_PER_MS);
    assert_true(llabs(at_of(manifest, 1, "offset_ns") - 50 * NS_PER_MS) <=
                error_ns);
    apart_ns =
        at_of(manifest, 1, "monotonic_ns") - at_of(manifest, 0, "monotonic_ns");
    assert_true(llabs(apart_ns) <= error_ns);
    json_decref(manifest);
    mpi_expect_none();
}

/* The relay between the hosts stops, and with it the link. */
TEST_WITH(a_dropped_link_ends_the_run, tmpdir_setup, tmpdir_teardown)
{
    char *dir = tmpdir_path("run");
    struct farhosts hosts;
    struct proc run;
    struct proc_result r;

    set_up();
    set_up_hosts(&hosts, 0);
    run = proc_start(ARGS("run", "null://", "-R", "100", "-d", "600s",
                          "--launch", "mpi:2", "-q", "-o", dir));
    wait_for_ranks(dir, 2);
    kill(hosts.relay, SIGSTOP);
    r = proc_wait(&run);
    farhosts_stop(&hosts);
    proc_expect(&r, 4);
    if (!strstr(r.err, keepf("rank 1 on %s was lost", hosts.name[1])))
        fail_msg("%s", r.err);
    json_decref(load_summary(dir));
    assert_int_equal(access(keepf("%s.shards", dir), F_OK), -1);
    mpi_expect_none();
}

/* ---- ranks that stay ---- */

/* The second probe is made by the same processes. */
TEST_WITH(a_search_starts_its_ranks_once, tmpdir_setup, tmpdir_teardown)
{
    static const char text[] =
        "load: {arrival: constant}\n"
        "slo: [errors < 50%]\n"
        "search: {start: 100, max: 120, probe: 300ms, confirm: 300ms}\n"
        "study: {settle: 0s}\n"
        "target: {url: 'null://'}\n";
    char *file = tmpdir_write("s.yaml", text, strlen(text));
    char *dir = tmpdir_path("search");
    char *log = tmpdir_path("starts");
    char *starts;
    char *count;
    struct err err = {0};
    struct proc_result r;
    json_t *summary;

    set_up();
    count = keepf("#!/bin/sh\necho start >>%s\nexec %s \"$@\"\n", log,
                  getenv("TAILGATE_MPIRUN"));
    setenv("TAILGATE_MPIRUN", make_script("mpirun", count), 1);
    r = proc_run(ARGS("search", file, "--launch", "mpi:2", "--launch-lead",
                      "2s", "-o", dir));
    expect_status_as_reported(&r, dir);
    assert_non_null(strstr(r.err, "launch     mpi, 2 shards: start "));
    summary = searched_json(dir, "summary.json");
    assert_true(json_array_size(json_object_get(summary, "probes")) > 1);
    json_decref(summary);
    assert_int_equal(file_read_text(log, 1 << 10, &starts, &err), 0);
    assert_string_equal(starts, "start\n");
    free(starts);
    mpi_expect_none();
}
