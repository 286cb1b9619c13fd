/* Studies with variants: a recording of each in turns, one directory per
 * variant, reports, what fails, and going on. */
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/text/json.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define PATIENCE_NS (20 * NS_PER_S)
#define MAX_TEXT    65536

static const char load[] = "target: {url: http://stub/, timeout: 2s}\n"
                           "load: {rate: 100/s, duration: 100ms, seed: 3}\n"
                           "slo: [e2e p50 < 1s]\n"
                           "study: {settle: 0s, max_discarded: 0}\n";

static const char two[] = "variants:\n"
                          "  - {name: fast, stub: {service: fixed 1ms}}\n"
                          "  - {name: slow, stub: {service: fixed 5ms}}\n";

static char *write_study(const char *name, const char *variants)
{
    char *text = keepf("name: %s\n%s%s", name, load, variants);
    char *file_name = keepf("%s.yaml", name);
    char *path = tmpdir_write(file_name, text, strlen(text));

    return path;
}

static json_t *load_json(const char *dir, const char *name)
{
    char *path = keepf("%s/%s", dir, name);
    struct err err = {0};
    json_t *json = NULL;

    assert_int_equal(json_read_file(path, &json, &err), 0);
    return json;
}

static bool is_there(const char *dir, const char *name)
{
    char *path = keepf("%s/%s", dir, name);
    bool is = access(path, F_OK) == 0;

    return is;
}

/* "fast slow slow fast ...", by when recordings began. */
static int64_t began(const char *dir, const char *name)
{
    char *path = keepf("%s/%s", dir, name);
    json_t *manifest = load_manifest(path);
    int64_t at = (int64_t)number_at(manifest, "clock.monotonic_ns");

    return at;
}

/* Was a run of either variant not trusted, as on a busy machine? */
static bool has_discarded(const char *dir)
{
    static const char *const names[] = {"fast/study.json", "slow/study.json"};
    bool has = false;

    for (size_t i = 0; i < COUNT(names); i++) {
        json_t *set = load_json(dir, names[i]);
        const json_t *point;
        size_t k;

        json_array_foreach(json_object_get(set, "points"), k, point) has =
            has || json_object_get(point, "discarded");
        json_decref(set);
    }
    return has;
}

TEST(trials_take_turns)
{
    static const char *const order[] = {"fast/trial-1", "slow/trial-1",
                                        "slow/trial-2", "fast/trial-2"};
    char *file = write_study("turns", two);
    char *dir = tmpdir_path("turns");
    struct proc_result r =
        proc_run(ARGS("run", "-v", file, "--trials", "2", "-q", "-o", dir));
    json_t *a;
    json_t *b;

    expect_as_reported(&r, dir);
    /* A variant whose run was discarded has its next turn at once. */
    for (size_t i = 1; i < (has_discarded(dir) ? 2 : COUNT(order)); i++)
        assert_true(began(dir, order[i]) > began(dir, order[i - 1]));
    assert_non_null(strstr(r.out, "turns: 2 variants, runs"));
    assert_non_null(strstr(r.out, "stub.service fixed 5ms"));

    /* the same load for both, and what differs is said */
    a = load_json(dir, "fast/trial-2/manifest.json");
    b = load_json(dir, "slow/trial-2/manifest.json");
    assert_string_equal(
        json_string_value(json_object_get(
            json_object_get(json_object_get(a, "settings"), "load"), "seed")),
        json_string_value(json_object_get(
            json_object_get(json_object_get(b, "settings"), "load"), "seed")));
    assert_string_equal(
        json_string_value(json_object_get(
            json_object_get(json_object_get(b, "settings"), "conditions"),
            "variant")),
        "slow");
    json_decref(a);
    json_decref(b);
}

/* What they say is the one variable, whatever it consists of: the recordings
 * are those of trials_take_turns. */
TEST(variants_may_be_compared)
{
    char *fast = tmpdir_path("turns/fast/trial-1");
    char *slow = tmpdir_path("turns/slow/trial-1");
    struct proc_result r = proc_run(ARGS("compare", "-v", fast, slow));

    assert_int_equal(r.status, 4);
    assert_non_null(strstr(r.out, "stub.service"));
    r = proc_run(ARGS("compare", fast, slow, "--vary", "variant", "--json"));
    assert_non_null(strstr(r.out, "\"conditions.variant\""));
    assert_null(strstr(r.out, "\"answer\": \"refused\""));
}

TEST(sweeps_are_reported)
{
    char *file = write_study("sweep", two);
    char *dir = tmpdir_path("sweep");
    struct proc_result r = proc_run(
        ARGS("sweep", file, "--rates", "50,100", "-q", "--json", "-o", dir));
    struct proc_result again;
    json_t *saved;
    json_t *printed;

    saved = load_json(dir, "summary.json");
    printed = json_loads(r.out, 0, NULL);
    assert_true(json_equal(saved, printed));
    assert_int_equal(json_array_size(json_object_get(saved, "rankings")), 2);
    assert_true(is_there(dir, "fast/point-2/manifest.json"));
    assert_true(is_there(dir, "slow/summary.json"));
    json_decref(printed);

    again = proc_run(ARGS("report", dir, "--json"));
    printed = json_loads(again.out, 0, NULL);
    assert_true(json_equal(saved, printed));
    proc_expect(&again, r.status);
    json_decref(printed);
    json_decref(saved);
}

/* The study is that of sweeps_are_reported. */
TEST(the_smallest_difference_may_be_another)
{
    char *dir = tmpdir_path("sweep");
    char *one = tmpdir_path("sweep/fast/point-1");
    struct proc_result r =
        proc_run(ARGS("report", dir, "--smallest-difference", "70%", "--json"));
    json_t *json = json_loads(r.out, 0, NULL);

    assert_true(json_real_value(json_object_get(json, "smallest_difference")) ==
                0.7);
    json_decref(json);
    r = proc_run(ARGS("report", one, "--smallest-difference", "70%"));
    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "requires a study with variants"));
    r = proc_run(ARGS("report", dir, "--smallest-difference", "much"));
    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "--smallest-difference"));
}

/* Until this is there. */
static void wait_for(const char *dir, const char *name)
{
    int64_t until = clk_now(&clk_monotonic) + PATIENCE_NS;

    while (!is_there(dir, name) && clk_now(&clk_monotonic) < until)
        clk_sleep_ns(NS_PER_MS);
    assert_true(is_there(dir, name));
}

/* How far it gets is tested elsewhere: it ends when both have had a second
 * probe. */
TEST(searches_take_turns_probe_by_probe)
{
    static const char *const order[] = {"fast/probe-1", "slow/probe-1",
                                        "slow/probe-2", "fast/probe-2"};
    char *file = write_study("search", two);
    char *dir = tmpdir_path("search");
    struct proc p = proc_start(
        ARGS("search", "-v", file, "--slo", "e2e p50 < 50ms", "--start", "100",
             "--probe", "100ms", "--no-confirm", "-q", "-o", dir));
    struct proc_result r;
    json_t *study;
    json_t *summary;

    wait_for(dir, "fast/probe-2/manifest.json");
    assert_int_equal(kill(p.pid, SIGINT), 0);
    r = proc_wait(&p);
    proc_expect(&r, 130);
    expect_as_reported(&r, dir);
    for (size_t i = 1; i < COUNT(order); i++)
        assert_true(began(dir, order[i]) > began(dir, order[i - 1]));
    study = load_json(dir, "study.json");
    summary = load_json(dir, "summary.json");
    assert_string_equal(json_string_value(json_object_get(study, "of")),
                        "search");
    assert_int_equal(
        json_array_size(json_object_get(summary, "capacity_ranking")), 2);
    assert_non_null(strstr(r.out, "the highest load that meets the SLO"));
    r = proc_run(ARGS("report", dir, "--format", "csv"));
    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "/fast/probe-1"));
    json_decref(summary);
    json_decref(study);
}

/* ---- what fails ---- */

/* All that were noted are gone; `least` of them were. */
static void expect_gone(const char *path, int least)
{
    struct err err = {0};
    struct buf text;
    int n = 0;
    const char *p;

    buf_init(&text, MAX_TEXT);
    assert_int_equal(file_read(path, &text, &err), 0);
    for (p = buf_text(&text); *p; n++) {
        int64_t until = clk_now(&clk_monotonic) + PATIENCE_NS;
        char *end;
        pid_t pid = (pid_t)strtol(p, &end, 10);

        while (kill(pid, 0) == 0 && clk_now(&clk_monotonic) < until)
            clk_sleep_ns(NS_PER_MS);
        assert_int_equal(kill(pid, 0), -1);
        assert_int_equal(errno, ESRCH);
        p = end + strspn(end, "\n");
    }
    assert_true(n >= least);
    buf_fini(&text);
}

/* One variant that is fine, and one each that does not start, is never ready,
 * and dies while it is asked. */
static char *write_faulty(const char *pids)
{
    char *variants =
        keepf("variants:\n"
              "  - name: broken\n"
              "    target: {url: 'http://127.0.0.1:{port}/'}\n"
              "    server: {start: 'echo $$ >>%s; echo no GPU; exit 1'}\n"
              "  - name: fine\n"
              "    target: {url: 'http://127.0.0.1:{port}/'}\n"
              "    server:\n"
              "      start: 'echo $$ >>%s; exec %s stub --port {port}'\n"
              "  - name: stuck\n"
              "    target: {url: 'http://127.0.0.1:{port}/'}\n"
              "    server:\n"
              "      start: 'echo $$ >>%s; sleep 1000 & echo $! >>%s; wait'\n"
              "      ready_within: 2s\n"
              "  - name: dying\n"
              "    target: {url: 'http://127.0.0.1:{port}/'}\n"
              "    server:\n"
              "      start: >-\n"
              "        echo $$ >>%s; %s stub --port {port} & pid=$!;\n"
              "        echo $pid >>%s;\n"
              "        until test -s %s/faulty/dying/trial-1/manifest.json;\n"
              "        do sleep 0.05; done; kill -9 $pid; exit 9\n",
              pids, pids, getenv("TAILGATE"), pids, pids, pids,
              getenv("TAILGATE"), pids, tmpdir_root());
    char *path = write_study("faulty", variants);

    return path;
}

static const char *failure_of(const json_t *study, size_t i)
{
    const char *text = json_string_value(json_object_get(
        json_array_get(json_object_get(study, "variants"), i), "failed"));

    return text ? text : "";
}

TEST(one_that_fails_is_marked)
{
    static const char *const says[] = {
        "ended before it was ready: exit code 1; its last output: no GPU",
        "",
        "not ready within 2s",
        "ended during the run: exit code 9",
    };
    char *pids = tmpdir_path("faulty.pids");
    char *file = write_faulty(pids);
    char *dir = tmpdir_path("faulty");
    struct proc_result r = proc_run(ARGS("run", "-v", file, "--duration", "1s",
                                         "--trials", "2", "-q", "-o", dir));
    json_t *study = load_json(dir, "study.json");

    proc_expect(&r, 3);
    for (size_t i = 0; i < COUNT(says); i++) {
        if (!strstr(failure_of(study, i), says[i]))
            fail_msg("%s: not '%s'", failure_of(study, i), says[i]);
        if (says[i][0])
            assert_non_null(strstr(r.out, says[i]));
    }
    assert_string_equal(failure_of(study, 1), "");
    assert_true(is_there(dir, "fine/trial-2/summary.json"));
    assert_false(is_there(dir, "dying/trial-2"));
    assert_true(is_there(dir, "broken/trial-1/server.log"));
    expect_gone(pids, 6);
    json_decref(study);
}

/* ---- going on ---- */

TEST(what_was_interrupted_goes_on)
{
    char *file = write_study("resume", two);
    char *dir = tmpdir_path("resume");
    struct proc p = proc_start(ARGS("sweep", "-v", file, "--rates", "50,100",
                                    "--duration", "500ms", "-q", "-o", dir));
    struct proc_result r;
    int64_t before;

    wait_for(dir, "slow/point-1/manifest.json");
    assert_int_equal(kill(p.pid, SIGTERM), 0);
    r = proc_wait(&p);
    assert_int_equal(r.status, 143);
    assert_non_null(strstr(r.out, "interrupted"));
    before = began(dir, "fast/point-1");

    r = proc_run(ARGS("sweep", "-v", file, "--rates", "50,100", "--duration",
                      "2s", "-q", "--resume", "-o", dir));
    proc_expect(&r, 2); /* other settings */
    assert_non_null(strstr(r.err, "was started with other settings"));

    r = proc_run(ARGS("sweep", "-v", file, "--rates", "50,100", "--duration",
                      "500ms", "-q", "--resume", "-o", dir));
    expect_as_reported(&r, dir);
    assert_true(began(dir, "fast/point-1") == before); /* not made again */
    assert_true(is_there(dir, "fast/point-2/summary.json"));
    assert_true(is_there(dir, "slow/point-2/summary.json"));
    assert_null(strstr(r.out, "interrupted"));
}

TEST(usage_is_checked_first)
{
    static const struct {
        const char *variants;
        const char *says;
    } rows[] = {
        {"variants:\n  - {name: a, server: {start: 'serve {port}'}}\n",
         "usage.yaml:7: variants: a: server.start contains {port}"},
        {"variants:\n  - {name: a, target: {url: 'http://h:1/'}, server: "
         "{ready: x}}\n",
         "variants: a: server.ready requires server.start"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char *file = write_study("usage", rows[i].variants);
        char *dir = tmpdir_path("usage");
        struct proc_result r = proc_run(ARGS("run", file, "-o", dir));

        proc_expect(&r, 2);
        if (!strstr(r.err, rows[i].says))
            fail_msg("%s: not '%s'", r.err, rows[i].says);
        assert_int_equal(access(dir, F_OK), -1);
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
