/* What clients do wrong, or have done to them: the run says that it is not to
 * be believed.
 *
 * load_summary() checks the identity of the counts each time. */
#include <dirent.h>
#include <jansson.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "tests/support/keep.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* Stopped for a while, and ended once it has gone on. */
static void stop_for(struct proc *run, int64_t ms)
{
    kill(run->pid, SIGSTOP);
    clk_sleep_ns(ms * NS_PER_MS);
    kill(run->pid, SIGCONT);
    clk_sleep_ns(300 * NS_PER_MS);
    kill(run->pid, SIGINT);
    must_end(run, 128 + SIGINT);
}

/* It says so, and does not throw its backlog at the server. */
TEST(a_client_that_was_stopped)
{
    char *dir = tmpdir_path("stopped");
    char *url;
    struct proc stub = stub_start(ARGS("stub"), &url);
    struct proc run =
        proc_start(ARGS("run", url, "--rate", "400", "--duration", "60s",
                        "--max-burst", "10", "-q", "-o", dir));
    json_t *summary;

    wait_for_rows(dir);
    stop_for(&run, 800);
    stub_stop(&stub);
    summary = load_summary(dir);
    assert_true(check_failed(summary, "suspended"));
    assert_true(check_failed(summary, "unsent"));
    assert_true(number_at(summary, "requests.unsent") > 100);
    assert_true(number_at(summary, "requests.ok") > 100);
}

/* Until the workers are about to begin. */
static void wait_for_start(const char *dir)
{
    char *manifest = keepf("%s/manifest.json", dir);
    int tries = 0;

    while (access(manifest, F_OK) != 0 && tries++ < 2000)
        clk_sleep_ns(10 * NS_PER_MS);
    assert_int_equal(access(manifest, F_OK), 0);
}

/* Nor does a closed loop pass its own absence off as the server's: stopped in
 * its first second, or between two observations. */
TEST(a_closed_loop_that_was_stopped)
{
    static const int64_t after_ms[] = {300, 1200};
    char *url;
    struct proc stub = stub_start(ARGS("stub", "--delay", "1ms"), &url);

    for (size_t i = 0; i < 2; i++) {
        char *dir = tmpdir_path(i ? "stopped-later" : "stopped-early");
        struct proc run = proc_start(
            ARGS("run", url, "-c", "2", "--duration", "60s", "-q", "-o", dir));
        json_t *summary;

        wait_for_start(dir);
        clk_sleep_ns(after_ms[i] * NS_PER_MS);
        stop_for(&run, 600);
        summary = load_summary(dir);
        assert_true(check_failed(summary, "suspended"));
    }
    stub_stop(&stub);
}

/* Ten times what any client can do is not a latency. */
TEST(a_client_asked_for_too_much)
{
    json_t *summary =
        run_on_stub(ARGS("stub"),
                    ARGS("run", "--rate", "2M", "--duration", "1s", "--timeout",
                         "500ms", "--max-in-flight", "256"),
                    tmpdir_path("much"), 4);

    assert_true(check_failed(summary, "unsent"));
    assert_true(check_failed(summary, "lag p50"));
}

/* These share a CPU with the client for a while: it gets next to nothing. */
#define HOGS 30

static cpu_set_t first_cpu(void)
{
    cpu_set_t allowed;
    cpu_set_t first;
    size_t cpu = 0;

    CPU_ZERO(&first);
    sched_getaffinity(0, sizeof(allowed), &allowed);
    while (!CPU_ISSET(cpu, &allowed))
        cpu++;
    CPU_SET(cpu, &first);
    return first;
}

static void hogs_start(pid_t *hogs)
{
    cpu_set_t cpu = first_cpu();

    for (int i = 0; i < HOGS; i++) {
        hogs[i] = fork();
        assert_true(hogs[i] >= 0);
        if (hogs[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            alarm(60);
            sched_setaffinity(0, sizeof(cpu), &cpu);
            for (;;)
                continue;
        }
    }
}

static void hogs_end(const pid_t *hogs)
{
    for (int i = 0; i < HOGS; i++) {
        kill(hogs[i], SIGKILL);
        waitpid(hogs[i], NULL, 0);
    }
}

/* Every thread of it. */
static void pin(pid_t pid, const cpu_set_t *cpus)
{
    char *path = keepf("/proc/%d/task", (int)pid);
    struct dirent **threads;
    int n = scandir(path, &threads, NULL, alphasort);

    assert_true(n > 2);
    for (int i = 0; i < n; i++) {
        if (threads[i]->d_name[0] != '.')
            sched_setaffinity((pid_t)strtol(threads[i]->d_name, NULL, 10),
                              sizeof(*cpus), cpus);
        free(threads[i]);
    }
    free(threads);
}

/* A run with these flags, of which it shares a CPU with the hogs for two
 * seconds, is not believed; what it says of it is the caller's.  Neither its
 * start nor its report are starved: they would take for ever. */
static struct proc_result run_starved(const char *name,
                                      const char *const *flags)
{
    const char *dir = tmpdir_path(name);
    char *url;
    struct proc stub = stub_start(ARGS("stub"), &url);
    const char *argv[16] = {"tailgate", "run", url,  "--duration", "60s",
                            "-q",       "-v",  "-o", dir};
    cpu_set_t cpu = first_cpu();
    struct proc_result r;
    struct proc run;
    cpu_set_t all;
    pid_t hogs[HOGS];

    for (size_t i = 0; flags[i]; i++)
        argv[9 + i] = flags[i];
    run = proc_start(argv);
    wait_for_rows(dir);
    sched_getaffinity(run.pid, sizeof(all), &all);
    hogs_start(hogs);
    pin(run.pid, &cpu);
    clk_sleep_ns(2 * NS_PER_S);
    hogs_end(hogs);
    pin(run.pid, &all);
    kill(run.pid, SIGINT);
    r = proc_wait(&run);
    stub_stop(&stub);
    proc_expect(&r, 128 + SIGINT);
    json_decref(load_summary(dir));
    return r;
}

TEST(a_client_without_cpu)
{
    static const char *const flags[] = {"--rate", "5000", "--timeout", "1s",
                                        NULL};
    struct proc_result r = run_starved("starved", flags);

    assert_non_null(strstr(r.out, "INVALID"));
}

/* In a closed loop nothing is late, and libcurl's answers have no timestamps:
 * what is left is how long the client waited for a CPU. */
TEST(a_closed_loop_without_cpu)
{
    static const char *const flags[] = {"-c", "4", "--transport", "curl", NULL};
    struct proc_result r = run_starved("starved-loop", flags);

    assert_non_null(strstr(r.out, "\n  cpu wait "));
    assert_non_null(strstr(r.out, " BAD "));
    assert_null(strstr(r.out, "harmless"));
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
