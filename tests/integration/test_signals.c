/* Signals, and a process that is started in unusual surroundings. */
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define NAP_NS      (2 * NS_PER_MS)
#define PATIENCE_NS (20 * NS_PER_S)

/* The number that a file holds, once it is there. */
static pid_t wait_for_pid(const char *path)
{
    int64_t until_ns = clk_now(&clk_monotonic) + PATIENCE_NS;
    pid_t pid = 0;

    while (pid == 0) {
        FILE *file = fopen(path, "r");
        char line[32];

        assert_true(clk_now(&clk_monotonic) < until_ns);
        if (file && fgets(line, sizeof(line), file))
            pid = (pid_t)strtol(line, NULL, 10);
        if (file)
            fclose(file);
        clk_sleep_ns(NAP_NS);
    }
    return pid;
}

/* A zombie has ended, too: its parent, such as a container's init, may never
 * wait for it. */
static bool is_gone(pid_t pid)
{
    char *path = keepf("/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    char line[256] = "";
    const char *name_end;
    bool is_gone = true;

    if (file && fgets(line, sizeof(line), file)) {
        name_end = strrchr(line, ')'); /* "PID (NAME) STATE ..." */
        assert_non_null(name_end);
        is_gone = strncmp(name_end, ") Z", 3) == 0;
    }
    if (file)
        fclose(file);
    return is_gone;
}

static void wait_until_gone(pid_t pid)
{
    int64_t until_ns = clk_now(&clk_monotonic) + PATIENCE_NS;

    while (!is_gone(pid)) {
        assert_true(clk_now(&clk_monotonic) < until_ns);
        clk_sleep_ns(NAP_NS);
    }
}

/* ---- a command that does not end when it is asked to ---- */

TEST(a_second_interrupt_leaves_nothing)
{
    char *pids = tmpdir_path("deaf.pid");
    char *command =
        keepf("trap '' TERM; sleep 1000 & echo $! >%s.new; mv %s.new %s; wait",
              pids, pids, pids);
    struct proc p = proc_start(ARGS(
        "run", "http://127.0.0.1:1/", "-R", "1", "--duration", "1s", "--trials",
        "2", "--restart", command, "-q", "-o", tmpdir_path("deaf")));
    pid_t pid = wait_for_pid(pids);
    struct proc_result r;

    assert_int_equal(kill(p.pid, SIGINT), 0);
    wait_for_no_handler(&p, SIGINT);
    assert_int_equal(kill(p.pid, SIGINT), 0);
    r = proc_wait(&p);
    proc_expect(&r, 128 + SIGINT);
    wait_until_gone(pid);
}

/* ---- standard descriptors that are closed ---- */

static void close_input_and_messages(void)
{
    close(STDIN_FILENO);
    close(STDERR_FILENO);
}

static void close_output(void)
{
    close(STDOUT_FILENO);
}

static void expect_null(const struct proc *p, int fd)
{
    char *path = keepf("/proc/%d/fd/%d", (int)p->pid, fd);
    char target[64] = "";

    assert_true(readlink(path, target, sizeof(target) - 1) > 0);
    assert_string_equal(target, "/dev/null");
}

/* They would be taken by sockets, files and what libraries open. */
TEST(closed_descriptors_are_not_used_for_others)
{
    const char *text = "target: {url: 'http://127.0.0.1:1/'}\n"
                       "load: {rate: 20/s, duration: 60s}\n"
                       "stub: {service: fixed 1ms}\n";
    char *file = tmpdir_write("closed.yaml", text, strlen(text));
    char *dir = tmpdir_path("closed");
    struct proc p = proc_start_with(ARGS("run", "-v", file, "-o", dir),
                                    close_input_and_messages);
    struct proc_result r;

    wait_for_rows(dir);
    expect_null(&p, STDIN_FILENO);
    expect_null(&p, STDERR_FILENO);
    assert_int_equal(kill(p.pid, SIGINT), 0);
    r = proc_wait(&p);
    proc_expect(&r, 128 + SIGINT);
    assert_non_null(strstr(r.out, "interrupted"));
}

/* It is not lost without a word. */
TEST(a_report_that_cannot_be_written)
{
    struct proc p = proc_start_with(ARGS("help"), close_output);
    struct proc_result r = proc_wait(&p);

    proc_expect(&r, 3);
    assert_string_equal(r.err, "tailgate: cannot write to standard output\n");
}

static void write_to_closed_pipe(void)
{
    int ends[2];

    if (pipe(ends) || dup2(ends[1], STDOUT_FILENO) < 0)
        _exit(127);
    close(ends[0]);
    close(ends[1]);
}

/* `tailgate report | head` says nothing, and its status is that of the report.
 */
TEST(a_reader_that_has_seen_enough)
{
    char *dir = tmpdir_path("read");
    struct proc_result r =
        proc_run(ARGS("run", "null://", "-q", "-c", "1", "-n", "5", "-o", dir));
    const char *const *const commands[] = {
        ARGS("help", "run", "--all"),
        ARGS("version"),
        ARGS("report", dir),
        ARGS("report", dir, "--format", "csv"),
        ARGS("report", dir, "--slo", "e2e p50 < 1ns"),
    };

    assert_int_not_equal(r.status, 3);
    for (size_t i = 0; i < COUNT(commands); i++) {
        struct proc_result whole = proc_run(commands[i]);
        struct proc p = proc_start_with(commands[i], write_to_closed_pipe);

        r = proc_wait(&p);
        proc_expect(&r, whole.status);
        assert_string_equal(r.err, whole.err);
    }
}

/* ---- a terminal that takes nothing ---- */

static int slave = -1;

static void use_terminal(void)
{
    dup2(slave, STDERR_FILENO);
    setenv("TERM", "xterm", 1);
}

/* Stopped by Ctrl-S, and never read: load.abort_on is looked at all the same,
 * and ends a run of a minute after a second. */
TEST(a_stopped_terminal_does_not_stop_the_run)
{
    char *dir = tmpdir_path("stopped");
    struct proc_result r;
    struct proc stub;
    struct proc p;
    int master;
    char *url;

    assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
    assert_int_equal(tcflow(slave, TCOOFF), 0);
    stub = stub_start(ARGS("stub", "--fault", "status=503"), &url);
    p = proc_start_with(ARGS("run", "-v", url, "--rate", "200", "--duration",
                             "60s", "--abort-on", "errors > 50% over 1s", "-o",
                             dir),
                        use_terminal);
    r = proc_wait(&p);
    run_expect(&r, dir, 1);
    assert_non_null(strstr(r.out, "ABORTED errors > 50%: "));
    stub_stop(&stub);
    close(master);
    close(slave);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
