/* Two machines, as processes, against one stub: one run. */
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "common/recording/manifest.h"
#include "common/recording/schema.h"
#include "common/text/json.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/table.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define REQUESTS 120

/* Requests by place in the schedule; the caller frees them. */
static struct facts *read_rows(const char *dir)
{
    char *path = keepf("%s/requests.tgr", dir);
    struct facts *out = xcalloc(REQUESTS, sizeof(*out));
    struct facts *rows;
    size_t n;

    rows = table_read(path, &schema_requests, &n);
    assert_int_equal(n, REQUESTS);
    for (size_t i = 0; i < n; i++) {
        assert_in_range(rows[i].seq, 0, REQUESTS - 1);
        assert_int_equal(out[rows[i].seq].end, 0); /* each once */
        out[rows[i].seq] = rows[i];
    }
    return out;
}

/* When it was to start, and when it did. */
static void expect_start(const char *dir, int64_t at_ns)
{
    struct manifest m = {0};
    const json_t *clock;

    assert_int_equal(manifest_load(&m, dir, &(struct err){0}), 0);
    clock = json_object_get(m.json, "clock");
    assert_int_equal(json_get_int(clock, "realtime_ns", 0), at_ns);
    assert_true(json_is_integer(json_object_get(clock, "started_ns")));
    manifest_fini(&m);
}

#define LOAD                                                                   \
    "--model", "m", "-R", "100", "-n", "120", "--seed", "7", "--nonce", "5",   \
        "--input-len", "uniform 5 50", "--output-len", "uniform 3 9"

TEST_WITH(shards_are_one_run, tmpdir_setup, tmpdir_teardown)
{
    char *one = tmpdir_path("one");
    char *all = tmpdir_path("all");
    char *base;
    struct proc stub =
        stub_start(ARGS("stub", "--prefill", "1us", "--decode", "1ms"), &base);
    char *url = keepf("%s/v1/chat/completions", base);
    struct proc_result r =
        proc_run(ARGS("run", "-v", url, LOAD, "-q", "-o", one, "-t", "1"));
    int64_t at_s = clk_realtime_ns() / NS_PER_S + 5;
    char *at = keepf("@%lld", (long long)at_s);
    char *dirs[2];
    struct proc run[2];
    struct facts *want;
    struct facts *got;
    json_t *summary;

    run_expect(&r, one, 0);
    for (int i = 0; i < 2; i++) {
        dirs[i] = tmpdir_path(i == 0 ? "a" : "b");
        run[i] = proc_start(ARGS("run", "-v", url, LOAD, "-q", "-o", dirs[i],
                                 "--shard", i == 0 ? "0/2" : "1/2",
                                 "--start-at", at, "-t", i == 0 ? "1" : "2"));
    }
    for (int i = 0; i < 2; i++) {
        r = proc_wait(&run[i]);
        run_expect(&r, dirs[i], 0);
        expect_start(dirs[i], at_s * NS_PER_S);
    }
    stub_stop(&stub);
    r = proc_run(ARGS("merge", dirs[1], dirs[0], "-o", all));
    proc_expect(&r, 0);
    r = proc_run(ARGS("report", all, "--json"));
    assert_non_null(strstr(r.out, "\"shards\""));
    summary = json_loads(r.out, 0, NULL);
    assert_non_null(summary);
    assert_true(number_at(summary, "requests.ok") == REQUESTS);
    assert_true(number_at(summary, "recording.lost_events") == 0);
    json_decref(summary);

    want = read_rows(one);
    got = read_rows(all);
    for (size_t i = 0; i < REQUESTS; i++) {
        assert_int_equal(got[i].due, want[i].due);
        assert_int_equal(got[i].prompt_asked, want[i].prompt_asked);
        assert_int_equal(got[i].output_asked, want[i].output_asked);
        assert_int_equal(got[i].bytes_out, want[i].bytes_out);
    }
    free(want);
    free(got);
    r = proc_run(ARGS("merge", dirs[1], "-o", tmpdir_path("half")));
    proc_expect(&r, 4);
    assert_non_null(strstr(r.err, "shard 0 of 2 is missing"));
}

TEST_WITH(a_late_shard_does_not_start, tmpdir_setup, tmpdir_teardown)
{
    char *dir = tmpdir_path("late");
    struct proc_result r =
        proc_run(ARGS("run", "null://", "-R", "10", "-n", "5", "--shard", "0/2",
                      "--start-at", "2020-01-01T00:00:00Z", "-q", "-o", dir));

    proc_expect(&r, 3);
    assert_non_null(strstr(r.err, "too late for the common start"));
    assert_int_equal(access(dir, F_OK), -1);
}

TEST_WITH(a_shard_needs_what_is_common, tmpdir_setup, tmpdir_teardown)
{
    char *dir = tmpdir_path("run");
    struct proc_result r = proc_run(ARGS("run", "null://", "-R", "10", "-n",
                                         "5", "--shard", "0/2", "-o", dir));

    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "requires a common start"));
    r = proc_run(ARGS("run", "null://", "-R", "10", "-n", "5", "--shard", "0/2",
                      "--start-at", "+1s", "-o", dir));
    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "is another time on each machine"));
    r = proc_run(ARGS("merge", "-o", dir));
    proc_expect(&r, 2);
}

/* The page of a merged run has a row for each shard. */
static void expect_drawn(const char *dir)
{
    char *path = tmpdir_path("run.html");
    struct proc_result r = proc_run(ARGS("report", dir, "--html", path));
    struct err err = {0};
    char *page;

    expect_status_as_reported(&r, dir);
    if (file_read_text(path, 1 << 20, &page, &err))
        fail_msg("%s", err.msg);
    assert_non_null(strstr(page, "start off by"));
    assert_non_null(strstr(page, "</html>"));
    free(page);
}

/* The stub is started once, and knows of every request. */
TEST_WITH(processes_make_one_recording, tmpdir_setup, tmpdir_teardown)
{
    static const char text[] = "stub: {service: fixed 1ms}\n"
                               "load: {rate: 100, requests: 60}\n";
    char *file = tmpdir_write("s.yaml", text, strlen(text));
    char *dir = tmpdir_path("run");
    struct proc_result r =
        proc_run(ARGS("run", file, "--launch", "local:3", "-o", dir));
    struct truth *seen;
    json_t *summary;
    size_t n;

    run_expect(&r, dir, 0);
    assert_non_null(strstr(r.err, "launch     local, 3 shards"));
    summary = load_summary(dir);
    assert_true(number_at(summary, "requests.ok") == 60);
    assert_int_equal(json_array_size(json_object_get(summary, "shards")), 3);
    json_decref(summary);
    seen = table_read(keepf("%s/truth.tgr", dir), &schema_truth, &n);
    assert_int_equal(n, 60);
    free(seen);
    assert_int_equal(access(keepf("%s.shards", dir), F_OK), -1);
    expect_drawn(dir);
}
