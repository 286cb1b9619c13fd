/* The scenarios of MLPerf and clients that think, by the executable against the
 * stub: who waits for whom, that everything is accounted for, and LoadGen's
 * schedule in the CSV. */
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"
#include "tests/support/keep.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/table.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static char *fast_url; /* of stubs that serve all tests here */
static char *slow_url;
static struct proc fast_stub;
static struct proc slow_stub;

static int start_stubs(void **state)
{
    if (tmpdir_setup(state))
        return -1;
    fast_stub = stub_start(ARGS("stub", "--service", "fixed 1ms"), &fast_url);
    slow_stub = stub_start(ARGS("stub", "--service", "fixed 10m"), &slow_url);
    return 0;
}

static int end_stubs(void **state)
{
    stub_stop(&fast_stub);
    stub_stop(&slow_stub);
    return tmpdir_teardown(state);
}

/* By place; the caller owns them. */
static struct facts *rows_of(const char *dir, size_t want)
{
    char *path = keepf("%s/requests.tgr", dir);
    size_t n;
    struct facts *read = table_read(path, &schema_requests, &n);
    struct facts *rows = xcalloc(n + 1, sizeof(*rows));

    assert_int_equal(n, want);
    for (size_t i = 0; i < n; i++) {
        assert_in_range(read[i].seq, 0, n - 1);
        rows[read[i].seq] = read[i];
    }
    return rows;
}

static const char *text_at(const json_t *json, const char *block,
                           const char *key)
{
    const char *text =
        json_string_value(json_object_get(json_object_get(json, block), key));

    return text ? text : "(none)";
}

/* ---- one stream ---- */

TEST(single_stream_has_one_in_flight)
{
    char *dir = tmpdir_path("single");
    json_t *summary;
    struct facts *rows;
    size_t n;

    run_for(ARGS("run", fast_url, "--scenario", "single-stream",
                 "--min-requests", "70", "--min-duration", "100ms", "-t", "3",
                 "-q", "-o", dir),
            dir, 0);
    summary = load_summary(dir);
    n = (size_t)number_at(summary, "requests.ok");
    assert_true(n >= 70);
    assert_true(number_at(summary, "window.length_s") >= 0.1);
    assert_string_equal(text_at(summary, "mlperf", "metric"), "p90 latency");
    assert_string_equal(text_at(summary, "mlperf", "division"), "open");
    assert_true(number_at(summary, "mlperf.result_ms") >= 1);
    rows = rows_of(dir, n);
    for (size_t i = 1; i < n; i++)
        assert_int_equal(rows[i].due, rows[i - 1].end);
    assert_true(rows[n - 1].due >= 100 * NS_PER_MS);
    free(rows);
}

/* Ten queries of four, though 37 requests were asked for. */
TEST(multi_stream_waits_for_the_whole_query)
{
    char *dir = tmpdir_path("multi");
    json_t *summary;
    struct facts *rows;
    int64_t last_ns = 0;

    run_for(ARGS("run", fast_url, "--scenario", "multi-stream",
                 "--samples-per-query", "4", "-n", "37", "-t", "3", "--slo",
                 "query p50 < 1h", "-q", "-o", dir),
            dir, 0);
    summary = load_summary(dir);
    assert_true(number_at(summary, "requests.ok") == 40);
    assert_true(number_at(summary, "measures.query.n") == 10);
    assert_true(number_at(summary, "measures.e2e.n") == 40);
    assert_string_equal(text_at(summary, "mlperf", "result_note"),
                        "n too small");
    rows = rows_of(dir, 40);
    for (size_t i = 0; i < 40; i++) {
        assert_int_equal(rows[i].due, i % 4 ? rows[i - 1].due : last_ns);
        if (i % 4 == 3) {
            for (size_t k = i - 3; k <= i; k++)
                last_ns = rows[k].end > last_ns ? rows[k].end : last_ns;
        }
    }
    free(rows);
}

TEST(a_client_thinks)
{
    char *dir = tmpdir_path("think");
    struct facts *rows;

    run_for(ARGS("run", fast_url, "-c", "1", "--think", "fixed 5ms", "-n", "20",
                 "-q", "-o", dir),
            dir, 0);
    rows = rows_of(dir, 20);
    for (size_t i = 1; i < 20; i++)
        assert_int_equal(rows[i].due, rows[i - 1].end + 5 * NS_PER_MS);
    free(rows);
}

/* ---- offline ---- */

TEST(offline_sends_all_there_is)
{
    char *dir = tmpdir_path("offline");
    json_t *summary;
    struct facts *rows;
    int64_t last_ns = 0;

    run_for(ARGS("run", fast_url, "--scenario", "offline", "-n", "300", "-c",
                 "5", "-t", "2", "-q", "-o", dir),
            dir, 0);
    summary = load_summary(dir);
    assert_true(number_at(summary, "requests.ok") == 300);
    assert_false(check_failed(summary, "lag p50"));
    assert_false(check_failed(summary, "lag p99"));
    assert_string_equal(text_at(summary, "mlperf", "metric"), "samples/s");
    rows = rows_of(dir, 300);
    for (size_t i = 0; i < 300; i++) {
        assert_int_equal(rows[i].due, 0);
        last_ns = rows[i].end > last_ns ? rows[i].end : last_ns;
    }
    /* All of them by the last answer, whichever was slow. */
    assert_true(number_at(summary, "mlperf.result_per_s") <=
                300 * 1e9 / (double)last_ns);
    assert_true(number_at(summary, "mlperf.result_per_s") >=
                299.99 * 1e9 / (double)last_ns);
    free(rows);
}

/* No server answers: the end comes all the same, and says so. */
TEST(max_duration_holds_in_every_scenario)
{
    static const struct {
        const char *scenario;
        const char *least; /* what it would have to reach */
        double scheduled;
        double unsent;
    } cases[] = {
        {"offline", "-n", 20, 17},
        {"multi-stream", "--min-requests", 8, 5},
        {"single-stream", "--min-requests", 1, 0},
        {"closed", "--min-requests", 3, 0},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *dir = keepf("%s-cut", tmpdir_path(cases[i].scenario));
        struct proc_result r;
        json_t *summary;

        run_for(ARGS("run", "-v", slow_url, "--scenario", cases[i].scenario,
                     cases[i].least, "20", "-c", "3", "-t", "1",
                     "--no-preflight", "--max-duration", "200ms", "--drain",
                     i == 0 ? "auto" : "0s", "-q", "-o", dir),
                dir, i == 1 ? 4 : 1);
        summary = load_summary(dir);
        assert_true(number_at(summary, "requests.scheduled") ==
                    cases[i].scheduled);
        assert_true(number_at(summary, "requests.unsent") == cases[i].unsent);
        assert_true(failures_of(summary, "unfinished") ==
                    cases[i].scheduled - cases[i].unsent);
        assert_true(json_is_true(json_object_get(
            json_object_get(summary, "window"), "cut_by_max_duration")));
        r = proc_run(ARGS("report", "-v", dir));
        assert_non_null(strstr(r.out, "max_duration ended the run before"));
    }
}

static json_t *report_of(const char *dir)
{
    struct proc_result r = proc_run(ARGS("report", dir, "--format", "json"));
    json_t *summary = json_loads(r.out, 0, NULL);

    proc_expect(&r, 4); /* it was killed */
    assert_non_null(summary);
    return summary;
}

static json_t *kill_one(const char *dir, const char *scenario, const char *n)
{
    struct proc run = proc_start(ARGS("run", fast_url, "--scenario", scenario,
                                      "-n", n, "-c", "4", "-q", "-o", dir));

    wait_for_rows(dir);
    assert_int_equal(kill(run.pid, SIGKILL), 0);
    must_end(&run, 128 + SIGKILL);
    return report_of(dir);
}

/* What was due is accounted for: offline all of it was. */
TEST(a_killed_run_is_reported)
{
    char *offline = tmpdir_path("killed-offline");
    char *multi = tmpdir_path("killed-multi");
    json_t *summary = kill_one(offline, "offline", "1000000");

    assert_true(number_at(summary, "requests.scheduled") == 1000000);
    assert_true(number_at(summary, "requests.ok") > 0);
    assert_true(number_at(summary, "window.length_s") > 0.001);
    json_decref(summary);
    summary = kill_one(multi, "multi-stream", "1000000");
    assert_true(number_at(summary, "measures.query.n") >= 1);
    assert_true(number_at(summary, "measures.query.n") * 8 <=
                number_at(summary, "requests.scheduled") + 7);
    json_decref(summary);
}

/* ---- LoadGen's schedule ---- */

#define SEED "16159082839903944936"

/* At 1000/s. */
static const int64_t golden_gaps[] = {1843654, 457923, 1285862,
                                      712994,  386406, 2248341};

/* Times by place, from the CSV; returns how many. */
static size_t read_due(char *csv, int64_t *due, size_t cap)
{
    char *rest;
    char *line = strtok_r(csv, "\n", &rest);
    size_t n = 0;

    assert_int_equal(strncmp(line, "seq,due_ns,", 11), 0);
    for (; (line = strtok_r(NULL, "\n", &rest)); n++) {
        char *end;
        unsigned long seq = strtoul(line, &end, 10);

        assert_true(seq < cap && *end == ',');
        due[seq] = strtoll(end + 1, NULL, 10);
    }
    return n;
}

TEST(the_csv_has_loadgens_schedule)
{
    static const struct {
        const char *threads;
        const char *warmup;
        int64_t warmup_ns;
    } cases[] = {{"1", "0s", 0}, {"3", "0s", 0}, {"2", "50ms", 50000000}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *dir = tmpdir_path(cases[i].threads);
        int64_t *due = xcalloc(1000, sizeof(*due));
        struct proc_result run = proc_run(
            ARGS("run", "null://", "--rate", "1000", "-n", "300", "--seeds",
                 "mlperf", "--schedule-rng-seed", SEED, "-t", cases[i].threads,
                 "--warmup", cases[i].warmup, "-q", "-o", dir));
        struct proc_result csv =
            proc_run(ARGS("report", dir, "--format", "csv"));
        size_t n = read_due(csv.out, due, 1000);
        size_t first = 0;

        run_expect(&run, dir, 0);
        assert_int_equal(csv.status, run.status);
        while (due[first] < cases[i].warmup_ns)
            first++;
        assert_int_equal(n - first, 300);
        assert_int_equal(due[first], cases[i].warmup_ns);
        for (size_t k = 0; k < COUNT(golden_gaps); k++)
            assert_int_equal(due[first + k + 1] - due[first + k],
                             golden_gaps[k]);
        free(due);
    }
}

/* ---- what is refused, and what is planned ---- */

TEST(contradictions_end_before_the_start)
{
    static const char *const wrong[][5] = {
        {"--scenario", "single-stream", "--rate", "5", "--rate"},
        {"--scenario", "offline", "--max-duration", "5s", "--scenario offline"},
        {"--rate", "5", "--think", "fixed 1s", "--think"},
        {"--rate", "5", "--samples-per-query", "3", "--samples-per-query"},
        {"--rate", "5", "--schedule-rng-seed", "3", "--schedule-rng-seed"},
    };

    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct proc_result r =
            proc_run(ARGS("run", "null://", wrong[i][0], wrong[i][1],
                          wrong[i][2], wrong[i][3], "-q"));

        proc_expect(&r, 2);
        assert_non_null(strstr(r.err, wrong[i][4]));
    }
}

TEST(plans_name_the_scenario)
{
    struct proc_result r =
        proc_run(ARGS("validate", "http://h/", "--scenario", "multi-stream",
                      "-n", "100", "--slo", "query p99 < 1s"));

    proc_expect(&r, 0);
    assert_non_null(strstr(r.out, "one query of 8 requests at a time, 104 "));
    assert_non_null(strstr(r.out, "299 queries; this run is TOO"));
}

GROUP_FIXTURE(start_stubs, end_stubs)
