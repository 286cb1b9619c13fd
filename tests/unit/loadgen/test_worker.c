/* A worker whose event loop breaks says so, and accounts for its requests. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/settings/settings.h"
#include "loadgen/engine/worker.h"
#include "loadgen/payload/workload.h"
#include "loadgen/record/recorder.h"
#include "loadgen/transport/transport.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* The worker's epoll, the only one in this process; -1: there is none. */
static int find_epoll(void)
{
    for (int fd = 0; fd < 256; fd++) {
        char path[40];
        char link[64] = "";

        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (readlink(path, link, sizeof(link) - 1) > 0 &&
            strcmp(link, "anon_inode:[eventpoll]") == 0)
            return fd;
    }
    return -1;
}

/* Its place is kept, so that no other file gets the number. */
static void break_epoll(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int epoll = find_epoll();

    assert_true(null >= 0 && epoll >= 0);
    assert_int_equal(dup2(null, epoll), epoll);
    close(null);
}

#define NEVER (INT64_MAX / 4) /* nothing is late, whenever it gets to run */

static const struct settings settings = {.load = {.scenario = SCENARIO_SERVER,
                                                  .rate_rps = 1e5,
                                                  .requests = 50,
                                                  .drain_ns = OPT_AUTO},
                                         .client = {.max_burst = 50},
                                         .target = {.timeout_ns = NEVER}};

/* Of requests that go nowhere. */
static const struct class nowhere = {.settings = &settings.target};
static const struct workload workload = {.classes = &nowhere, .len = 1};

static int run_worker(const char *name, bool breaks, struct engine_counts *c,
                      struct err *err)
{
    struct engine_env env = {.settings = &settings,
                             .workload = &workload,
                             .transport = &transport_null,
                             .clk = &clk_monotonic,
                             .lane = {.worker = 0, .workers = 1},
                             .max_connections = 1,
                             .max_in_flight = 1};
    const char *dir = tmpdir_path(name);
    struct recorder *recorder;
    struct worker *worker;
    int rc;

    assert_int_equal(mkdir(dir, 0777), 0);
    assert_int_equal(recorder_new(&recorder, dir, 1, false, err), 0);
    assert_int_equal(worker_new(&worker, &env, err), 0);
    if (breaks)
        break_epoll();
    assert_int_equal(worker_start(worker, recorder_shard(recorder, 0),
                                  clk_now(&clk_monotonic) - 100 * NS_PER_MS,
                                  WORKER_ANY_CPU, err),
                     0);
    rc = worker_join(worker, err);
    assert_true(worker_is_done(worker));
    assert_true(worker_late_ns(worker) >= 100 * NS_PER_MS);
    *c = engine_counts(worker_engine(worker));
    worker_free(worker);
    assert_int_equal(recorder_finish(recorder, &(struct err){0}), 0);
    return rc;
}

TEST(a_run_comes_to_its_end)
{
    struct engine_counts c;
    struct err err = {0};

    assert_int_equal(run_worker("whole", false, &c, &err), 0);
    assert_int_equal(c.done, 50);
    assert_int_equal(c.unsent, 0);
}

TEST(a_broken_event_loop_is_an_error)
{
    struct engine_counts c;
    struct err err = {0};

    assert_int_equal(run_worker("broken", true, &c, &err), -1);
    assert_int_equal(err.code, ERR_IO);
    assert_string_equal(err.msg, "the event loop failed");
    assert_int_equal(c.issued, c.done);
    assert_int_equal(c.issued + c.unsent, 50); /* all were due by then */
}

/* ---- what it needs before it can run ---- */

static int fail_preconnect(void *self, int64_t n, struct err *err)
{
    (void)self;
    return err_set(err, ERR_IO, "none of %lld", (long long)n);
}

/* Nothing was asked ahead, nothing is tried. */
TEST(connections_ahead_are_opened_first)
{
    struct transport_ops transport = transport_null;
    struct engine_env env = {.settings = &settings,
                             .workload = &workload,
                             .transport = &transport,
                             .clk = &clk_monotonic,
                             .lane = {.worker = 0, .workers = 1}};
    struct worker *worker;
    struct err err = {0};

    transport.preconnect = fail_preconnect;
    assert_int_equal(worker_new(&worker, &env, &err), 0);
    worker_free(worker);
    env.preconnect = 7;
    assert_int_equal(worker_new(&worker, &env, &err), -1);
    assert_int_equal(err.code, ERR_IO);
    assert_string_equal(err.msg, "none of 7");
}

TEST(a_cpu_that_is_not_there_is_an_error)
{
    struct engine_env env = {.settings = &settings,
                             .workload = &workload,
                             .transport = &transport_null,
                             .clk = &clk_monotonic,
                             .lane = {.worker = 0, .workers = 1}};
    struct worker *worker;
    struct err err = {0};

    if (sysconf(_SC_NPROCESSORS_CONF) > 1023) {
        print_message("this machine has a CPU 1023\n");
        skip();
    }
    assert_int_equal(worker_new(&worker, &env, &err), 0);
    assert_int_equal(worker_start(worker, NULL, 0, 1023, &err), -1);
    assert_int_equal(err.code, ERR_IO);
    assert_string_equal(
        err.msg, "client.cpus: cannot run on CPU 1023: Invalid argument");
    assert_int_equal(worker_join(worker, &err), 0); /* it has no thread */
    worker_free(worker);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
