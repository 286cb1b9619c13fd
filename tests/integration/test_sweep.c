/* A sweep, as a user has it: recordings, the curve, resume, exit codes. */
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/searched.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MOST_MS 60000 /* until a recording begins */

static char *settings_file(void)
{
    static const char settings[] = "stub: {service: fixed 20ms}\n"
                                   "load: {duration: 400ms}\n"
                                   "slo: [errors < 50%]\n"
                                   "study: {max_discarded: 0}\n";

    return tmpdir_write("s.yaml", settings, strlen(settings));
}

/* 4 if a value has no run to be trusted, which its summary says as well; 0
 * otherwise. */
static void expect_done(const struct proc_result *r, const char *dir)
{
    json_t *json = searched_json(dir, "summary.json");
    json_t *value;
    size_t i;
    int status = 0;

    json_array_foreach(json_object_get(json, "values"), i, value)
    {
        if (json_is_null(json_object_get(value, "verdict")))
            status = 4;
    }
    proc_expect(r, status);
    json_decref(json);
}

static bool is_there(const char *dir, const char *name)
{
    char *path = keepf("%s/%s", dir, name);
    bool is = access(path, F_OK) == 0;

    return is;
}

/* The rate that a point's manifest says it was made at. */
static double rate_of(const char *dir, const char *point)
{
    char *path = keepf("%s/%s", dir, point);
    json_t *manifest = load_manifest(path);
    const char *rate = json_string_value(json_object_get(
        json_object_get(json_object_get(manifest, "settings"), "load"),
        "rate"));
    double value = strtod(rate ? rate : "0", NULL);

    return value;
}

TEST(each_value_is_run_as_often)
{
    char *file = settings_file();
    char *dir = tmpdir_path("sweep");
    struct proc_result r =
        proc_run(ARGS("sweep", "-v", file, "--rates", "20,30..40", "--repeats",
                      "2", "-q", "-o", dir));
    json_t *json;
    json_t *values;
    double sum = 0;

    expect_done(&r, dir);
    json = searched_json(dir, "summary.json");
    assert_string_equal(json_string_value(json_object_get(json, "kind")),
                        "sweep");
    assert_int_equal(number_at(json, "recorded"), 6);
    values = json_object_get(json, "values");
    assert_int_equal(json_array_size(values), 3);
    for (size_t i = 0; i < 3; i++) {
        json_t *v = json_array_get(values, i);

        assert_true(number_at(v, "value") == 20 + 10 * (double)i);
        assert_int_equal(json_array_size(json_object_get(v, "runs")), 2);
    }
    for (int i = 1; i <= 6; i++) {
        char name[32];

        snprintf(name, sizeof(name), "point-%d", i);
        sum += rate_of(dir, name);
    }
    assert_true(sum == 180);

    /* Everything once more from the recordings, and by another SLO. */
    r = proc_run(ARGS("report", "-v", dir));
    expect_done(&r, dir);
    assert_non_null(strstr(r.out, "values 3, runs recorded "));
    r = proc_run(ARGS("report", "-v", dir, "--slo", "e2e p50 < 1us"));
    expect_done(&r, dir);
    assert_non_null(strstr(r.out, "e2e p50 < 1us"));
    r = proc_run(ARGS("report", dir, "--format", "csv"));
    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "point-1"));
    json_decref(json);
}

/* It is interrupted in the second run; what it has is kept, and not made
 * again. */
TEST(it_goes_on_where_it_stopped)
{
    char *file = settings_file();
    char *dir = tmpdir_path("resumed");
    char *second = keepf("%s/point-2", dir);
    const char *const *argv = ARGS("sweep", "-v", file, "--rates", "20,21..22",
                                   "--duration", "1s", "-q", "-o", dir);
    struct proc p = proc_start(argv);
    struct proc_result r;
    json_t *before;
    json_t *after;

    for (int ms = 0; !is_there(second, "requests.tgr"); ms++) {
        assert_true(ms < MOST_MS);
        clk_sleep_ns(NS_PER_MS);
    }
    wait_for_rows(second);
    kill(p.pid, SIGINT);
    r = proc_wait(&p);
    proc_expect(&r, 130);
    assert_non_null(strstr(r.out, "runs recorded 1 of 3"));
    assert_non_null(strstr(r.out, "--resume"));
    before = searched_json(dir, "point-1/manifest.json");

    r = proc_run(ARGS("sweep", "-v", file, "--rates", "20,21..22", "-q", "-o",
                      dir, "--resume"));
    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "started with other settings"));
    r = proc_run(ARGS("sweep", "-v", file, "--rates", "20,21..22", "--duration",
                      "1s", "-q", "-o", dir, "--resume"));
    expect_done(&r, dir);
    assert_non_null(strstr(r.out, "values 3, runs recorded "));
    after = searched_json(dir, "point-1/manifest.json");
    assert_true(json_equal(before, after));
    json_decref(before);
    json_decref(after);

    r = proc_run(ARGS("sweep", "-v", file, "--rates", "20", "-q", "-o", dir));
    proc_expect(&r, 2);
    r = proc_run(
        ARGS("sweep", "-v", file, "--rates", "20", "-q", "-o", dir, "--force"));
    expect_done(&r, dir);
    assert_false(is_there(dir, "point-2"));
}

TEST(nonsense_is_refused_before_anything_runs)
{
    static const char *const bad[][3] = {
        {"--rates", "10..20", "two values"},
        {"--rates", "0,10", "load.rate"},
        {"--vary", "nonsense=1,2", "is not a setting with values"},
        {"--vary", "stub.max_bach=1,2", "did you mean"},
        {"--vary", "load.rate=10,x", "expected numbers"},
        {"--rates", "0x10", "expected numbers"},
        {"--trials", "2", "--trials cannot be used with sweep; use --repeats"},
        {"--repeats", "2", "nothing to vary"},
    };
    char *file = settings_file();
    char *dir = tmpdir_path("none");

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct proc_result r = proc_run(
            ARGS("sweep", file, bad[i][0], bad[i][1], "-q", "-o", dir));

        proc_expect(&r, 2);
        if (!strstr(r.err, bad[i][2]))
            fail_msg("%s %s: %s", bad[i][0], bad[i][1], r.err);
        assert_int_equal(access(dir, F_OK), -1);
    }
}

/* The curve would be flat, for a reason that the report does not show. */
TEST(a_key_without_effect_is_refused)
{
    static const struct {
        const char *settings;
        const char *vary;
        const char *says;
    } rows[] = {
        {"target: {url: 'http://h:1/'}\nload: {rate: 50}\n",
         "stub.max_batch=1,2",
         "stub.max_batch: cannot be varied without the block 'stub'"},
        {"target: {url: 'http://h:1/v1/completions'}\nload: {rate: 50}\n"
         "classes:\n  - {name: a, data: {input_tokens: 8}}\n"
         "  - {name: b, data: {input_tokens: 9}}\n",
         "data.input_tokens=10,20",
         "data.input_tokens: cannot be varied, because every class sets it"},
        {"stub: {service: fixed 1ms}\nload: {rate: 50}\n"
         "variants:\n  - {name: a, stub: {max_batch: 2}}\n",
         "stub.max_batch=1,2",
         "idle.yaml:4: variants: a: stub.max_batch: cannot be varied, because "
         "the variant sets it"},
    };
    char *dir = tmpdir_path("idle");

    for (size_t i = 0; i < COUNT(rows); i++) {
        char *file = tmpdir_write("idle.yaml", rows[i].settings,
                                  strlen(rows[i].settings));
        struct proc_result r = proc_run(
            ARGS("sweep", file, "--vary", rows[i].vary, "-q", "-o", dir));

        proc_expect(&r, 2);
        if (!strstr(r.err, rows[i].says))
            fail_msg("%s: %s", rows[i].says, r.err);
        assert_int_equal(access(dir, F_OK), -1);
    }
}

/* It does not count as a point, but what it recorded is there. */
TEST(a_first_point_that_was_cut_is_kept)
{
    char *file = settings_file();
    char *dir = tmpdir_path("cut");
    char *first = keepf("%s/point-1", dir);
    char *says = keepf("tailgate report %s\n", first);
    struct proc p = proc_start(ARGS("sweep", file, "--rates", "20,21",
                                    "--duration", "1h", "-q", "-o", dir));
    struct proc_result r;
    json_t *study;

    for (int ms = 0; !is_there(first, "requests.tgr"); ms++) {
        assert_true(ms < MOST_MS);
        clk_sleep_ns(NS_PER_MS);
    }
    wait_for_rows(first);
    kill(p.pid, SIGINT);
    r = proc_wait(&p);
    proc_expect(&r, 130);
    assert_non_null(strstr(r.err, says));
    study = searched_json(dir, "study.json");
    assert_true(number_at(study, "stopped_by") == SIGINT);
    json_decref(study);
    r = proc_run(ARGS("report", dir));
    proc_expect(&r, 4);
    assert_non_null(strstr(r.err, says));
    r = proc_run(ARGS("report", first));
    assert_non_null(strstr(r.out, "interrupted"));
    r = proc_run(
        ARGS("sweep", file, "--rates", "20", "-q", "-o", dir, "--force"));
    expect_done(&r, dir);
}

/* The server that is to be measured is not there, or does not start. */
TEST(a_study_is_replaced_only_by_another)
{
    char *target = keepf("target: {url: 'http://127.0.0.1:%d/'}\n"
                         "load: {duration: 400ms}\n",
                         refusing_port());
    static const char server[] = "target: {url: 'http://127.0.0.1:{port}/'}\n"
                                 "server: {start: 'exit 7'}\n";
    const char *const texts[] = {target, server};
    char *file = settings_file();
    char *dir = tmpdir_path("replaced");
    struct proc_result r =
        proc_run(ARGS("sweep", file, "--rates", "20", "-q", "-o", dir));

    expect_done(&r, dir);
    for (size_t i = 0; i < COUNT(texts); i++) {
        char *other = tmpdir_write("other.yaml", texts[i], strlen(texts[i]));
        char *fresh = tmpdir_path(i == 0 ? "fresh-0" : "fresh-1");

        r = proc_run(
            ARGS("sweep", other, "--rates", "20", "-q", "-o", dir, "--force"));
        proc_expect(&r, 3);
        assert_true(rate_of(dir, "point-1") == 20);
        assert_true(is_there(dir, "summary.json"));
        assert_false(is_there(dir, ".replaced"));
        r = proc_run(ARGS("sweep", other, "--rates", "20", "-q", "-o", fresh));
        proc_expect(&r, 3);
        assert_int_equal(is_there(fresh, "point-1/server.log"), i == 1);
        assert_int_equal(access(fresh, F_OK), i == 1 ? 0 : -1);
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
