/* A stub alongside the run: started for it, aimed at, ended with it. */
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define PATIENCE_NS (20 * NS_PER_S)

/* The one child of a process, once it has one. */
static pid_t child_of(pid_t parent)
{
    char *path = keepf("/proc/%d/task/%d/children", parent, parent);
    int64_t until = clk_now(&clk_monotonic) + PATIENCE_NS;
    pid_t child = 0;

    while (child == 0 && clk_now(&clk_monotonic) < until) {
        struct err ignored = {0};
        struct buf text;

        buf_init(&text, 4096);
        if (file_read(path, &text, &ignored) == 0)
            child = (pid_t)strtol(buf_text(&text), NULL, 10);
        buf_fini(&text);
        clk_sleep_ns(NS_PER_MS);
    }
    assert_true(child > 0);
    return child;
}

static void must_vanish(pid_t pid)
{
    int64_t until = clk_now(&clk_monotonic) + PATIENCE_NS;

    while (kill(pid, 0) == 0 && clk_now(&clk_monotonic) < until)
        clk_sleep_ns(NS_PER_MS);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);
}

TEST(the_stub_ends_with_its_run)
{
    static const int signals[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP};
    static const char text[] = "stub: {service: fixed 2ms}\n";
    char *file = tmpdir_write("s.yaml", text, strlen(text));

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        char *dir = keepf("%s/%zu", tmpdir_root(), i);
        struct proc run = proc_start(ARGS(
            "run", file, "--rate", "50", "--duration", "60s", "-q", "-o", dir));
        pid_t stub = child_of(run.pid);
        struct proc_result r;

        clk_sleep_ns(300 * NS_PER_MS); /* well into it, or still starting */
        assert_int_equal(kill(run.pid, signals[i]), 0);
        r = proc_wait(&run);
        assert_true(r.status == 128 + signals[i] || r.status == 3);
        must_vanish(stub);
    }
}

/* Said before anything is touched. */
TEST(what_cannot_be_served_is_refused_first)
{
    static const char bad[] = "stub: {replicas: 0}\nload: {rate: 5}\n";
    char *file = tmpdir_write("bad.yaml", bad, strlen(bad));
    char *dir = tmpdir_path("kept");
    char *manifest = keepf("%s/manifest.json", dir);
    struct proc_result r =
        proc_run(ARGS("run", "null://", "-c", "1", "-n", "5", "-q", "-o", dir));
    struct stat st;

    run_expect(&r, dir, 0);
    r = proc_run(ARGS("run", file, "--force", "-q", "-o", dir));
    proc_expect(&r, 2);
    assert_non_null(
        strstr(r.err, "bad.yaml:1: stub.replicas: must be from 1 to 64\n"));
    assert_int_equal(stat(manifest, &st), 0);
    r = proc_run(ARGS("validate", file));
    proc_expect(&r, 2);
}

/* An instrument that is not there ends the run before it begins: nothing is
 * left, so that the next one may have the same place. */
TEST(what_does_not_begin_leaves_nothing)
{
    static const char text[] = "load: {rate: 100, duration: 100ms}\n"
                               "stub: {service: fixed 1ms}\n";
    char *dir = tmpdir_path("none");
    struct proc_result r =
        proc_run(ARGS("run", tmpdir_write("n.yaml", text, sizeof(text) - 1),
                      "-q", "-o", dir, "--energy", "nvml /nowhere/none.so"));

    proc_expect(&r, 3);
    assert_non_null(
        strstr(r.err, "cost.energy: NVML is not available on this host"));
    assert_int_not_equal(access(dir, F_OK), 0);
}

static void close_stdout(void)
{
    close(STDOUT_FILENO);
}

/* The stub's own output must not end up where its settings are. */
TEST(a_closed_stdout_hangs_nobody)
{
    static const char text[] = "stub: {service: none}\n";
    char *file = tmpdir_write("c.yaml", text, strlen(text));
    const char *dir = tmpdir_path("closed");
    struct proc run = proc_start_with(
        ARGS("run", file, "--rate", "50", "-n", "5", "-q", "-o", dir),
        close_stdout);
    struct proc_result r = proc_wait(&run);

    assert_int_equal(r.status, 3); /* the report cannot be printed */
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
