/* A server that is started for a run by a command: waited for, watched, and
 * ended with all that it has started. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define PATIENCE_NS (20 * NS_PER_S)
#define MAX_TEXT    65536

/* `start` with $me for the executable, $dir for that of the recording and $pids
 * for a file that whatever is started notes its pid in. */
static char *write_settings(const char *name, const char *url,
                            const char *start, const char *rest)
{
    char *text =
        keepf("target: {url: '%s', timeout: 2s}\n"
              "load: {rate: 100/s, duration: 300ms}\n"
              "server:\n"
              "  start: |\n"
              "    me=%s; dir=%s/%s; pids=$dir.pids\n"
              "    %s\n%s",
              url, getenv("TAILGATE"), tmpdir_root(), name, start, rest);
    char *file_name = keepf("%s.yaml", name);
    char *path = tmpdir_write(file_name, text, strlen(text));

    return path;
}

static char *text_of(const char *name)
{
    struct err err = {0};
    struct buf text;
    char *copy;

    buf_init(&text, MAX_TEXT);
    file_read(tmpdir_path(name), &text, &err);
    copy = xstrdup(buf_text(&text));
    buf_fini(&text);
    return copy;
}

/* All that were noted are gone; at least `least` of them were. */
static void expect_gone(const char *name, int least)
{
    char *file = keepf("%s.pids", name);
    char *text = text_of(file);
    int n = 0;

    for (char *p = text; *p; n++) {
        int64_t until = clk_now(&clk_monotonic) + PATIENCE_NS;
        pid_t pid = (pid_t)strtol(p, &p, 10);

        while (kill(pid, 0) == 0 && clk_now(&clk_monotonic) < until)
            clk_sleep_ns(NS_PER_MS);
        assert_int_equal(kill(pid, 0), -1);
        assert_int_equal(errno, ESRCH);
        p += strspn(p, "\n");
    }
    assert_true(n >= least);
    free(text);
}

/* Did it come to noting its pid? */
static bool is_noted(const char *name)
{
    char *file = keepf("%s.pids", name);
    bool is = access(tmpdir_path(file), F_OK) == 0;

    return is;
}

#define FREE_URL "http://127.0.0.1:{port}/"
#define STUB     "echo $$ >>$pids; exec $me stub --port {port}"

/* One that serves from a child, next to another that has left the group. */
#define TREE                                                                   \
    "echo $$ >>$pids; setsid sh -c 'echo $$ >>'$pids'; exec sleep 1000' & "    \
    "sh -c \"echo \\$\\$ >>$pids; exec $me stub --port $TAILGATE_PORT\" & "

TEST(it_serves_the_run)
{
    static const struct {
        const char *name;
        const char *start;
        const char *rest;
        int processes;
    } rows[] = {
        {"plain", STUB, "", 1},
        {"tree", TREE "wait", "", 3},
        {"asked", STUB, "  ready: 'http://127.0.0.1:{port}/healthz'\n", 1},
        {"command", STUB, "  ready: 'grep -q http:// %s/command/server.log'\n",
         1},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char *rest = keepf(rows[i].rest, tmpdir_root());
        char *file =
            write_settings(rows[i].name, FREE_URL, rows[i].start, rest);
        char *dir = tmpdir_path(rows[i].name);
        char *log_name = keepf("%s/server.log", rows[i].name);
        struct proc_result r = proc_run(
            ARGS("run", file, "-q", "--slo", "errors < 30%", "-o", dir));
        char *log = text_of(log_name);

        run_expect(&r, dir, 0);
        assert_non_null(strstr(log, "listening on http://127.0.0.1:"));
        expect_gone(rows[i].name, rows[i].processes);
        free(log);
    }
}

static void run_again(const char *from, const char *dir)
{
    struct proc_result r =
        proc_run(ARGS("rerun", from, "-q", "--slo", "errors < 30%", "-o", dir,
                      "--allow-commands"));

    run_expect(&r, dir, 0);
    assert_non_null(strstr(r.err, "from the recording: server.start: "));
}

/* Of a recording, too: on a port of its own, whose memory is read. */
TEST(it_is_started_again)
{
    static const char *const dirs[] = {"first", "second", "third"};
    char *file = write_settings("again", FREE_URL, TREE "wait",
                                "  ready: 'http://127.0.0.1:{port}/healthz'\n"
                                "cost: {memory_of: server}\n");
    char *from = xstrdup(tmpdir_path(dirs[0]));
    struct proc_result r =
        proc_run(ARGS("run", file, "-q", "--slo", "errors < 30%", "-o", from));

    run_expect(&r, from, 0);
    for (size_t i = 1; i < COUNT(dirs); i++) {
        char *to = xstrdup(tmpdir_path(dirs[i]));
        char *name = keepf("%s/summary.json", dirs[i]);
        char *summary;

        run_again(from, to);
        summary = text_of(name);
        assert_non_null(strstr(summary, "peak_memory"));
        free(summary);
        free(from);
        from = to;
    }
    expect_gone("again", 9);
    free(from);
}

TEST(what_fails_is_said_and_ended)
{
    static const struct {
        const char *name;
        const char *start;
        const char *rest;
        const char *says;
    } rows[] = {
        {"exits", "echo $$ >>$pids; echo no such model; exit 7", "",
         "server.start: the server ended before it was ready: exit code 7; its "
         "last output: no such model"},
        {"silent", "echo $$ >>$pids; exit 0", "",
         "server.start: the server ended before it was ready: exit code 0; it "
         "printed nothing"},
        /* They may be ended before they have said anything. */
        {"slow", "echo $$ >>$pids; echo loading; sleep 1000; :",
         "  ready_within: 300ms\n", "server.ready: not ready within 300ms; it"},
        {"hangs", STUB, "  ready: sleep 1000\n  ready_within: 300ms\n",
         "server.ready: not ready within 300ms; it"},
        {"dies",
         TREE "until test -s $dir/requests.tgr; do sleep 0.05; done; "
              "echo out of memory; kill -9 $$",
         "",
         "server.start: the server ended during the run: signal 9; its last "
         "output: out of memory"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char *file =
            write_settings(rows[i].name, FREE_URL, rows[i].start, rows[i].rest);
        char *dir = tmpdir_path(rows[i].name);
        struct proc_result r =
            proc_run(ARGS("run", file, "--duration", "20s", "-q", "-o", dir));

        proc_expect(&r, 3);
        if (!strstr(r.err, rows[i].says))
            fail_msg("%s: not '%s'", r.err, rows[i].says);
        if (!rows[i].rest[0])
            expect_gone(rows[i].name, 1);
        else if (is_noted(rows[i].name))
            expect_gone(rows[i].name, 0);
    }
}

/* The one that answers is not the one that was started. */
TEST(another_server_is_not_taken_for_it)
{
    char *url;
    struct proc other = stub_start(ARGS("stub", "--port", "0"), &url);
    char *file =
        write_settings("taken", url, "echo $$ >>$pids; sleep 1000", "");
    char *dir = tmpdir_path("taken");
    struct proc_result r = proc_run(ARGS("run", file, "-q", "-o", dir));

    proc_expect(&r, 3);
    assert_non_null(strstr(r.err, "another server listens on 127.0.0.1:"));
    stub_stop(&other);
}

TEST(it_ends_with_us)
{
    static const int signals[] = {SIGKILL, SIGTERM, SIGINT};

    for (size_t i = 0; i < COUNT(signals); i++) {
        char *name = keepf("signal-%d", signals[i]);
        char *file = write_settings(name, FREE_URL, TREE "wait", "");
        char *dir = tmpdir_path(name);
        struct proc p =
            proc_start(ARGS("run", file, "--duration", "60s", "-q", "-o", dir));
        struct proc_result r;

        wait_for_rows(dir);
        assert_int_equal(kill(p.pid, signals[i]), 0);
        r = proc_wait(&p);
        assert_int_equal(r.status, 128 + signals[i]);
        expect_gone(name, 3);
    }
}

/* As when a whole service is stopped: its end is no fault of the server. */
TEST(a_signal_for_both_is_an_interruption)
{
    char *file = write_settings("both", FREE_URL, STUB, "");
    char *dir = tmpdir_path("both");
    struct proc p =
        proc_start(ARGS("run", file, "--duration", "60s", "-q", "-o", dir));
    struct proc_result r;
    char *pids;

    wait_for_rows(dir);
    pids = text_of("both.pids");
    assert_int_equal(kill(p.pid, SIGTERM), 0);
    kill((pid_t)strtol(pids, NULL, 10), SIGTERM);
    r = proc_wait(&p);
    proc_expect(&r, 143);
    assert_string_equal(r.err, "");
    assert_non_null(strstr(r.out, "interrupted"));
    free(pids);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
