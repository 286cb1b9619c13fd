/* `calibrate` as a user sees it, and what `run` makes of its file.  One short
 * calibration is real; the others are written by hand.  How a ceiling is found
 * is tested in unit.ceiling. */
#include <dirent.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/spec/calibration.h"
#include "common/text/json.h"
#include "tests/support/proc.h"
#include "tests/support/schema.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static char *state_home;
static char *scratch; /* TMPDIR of the processes */
static char *stub_url;
static struct proc stub;

static void use_state(void)
{
    setenv("XDG_STATE_HOME", state_home, 1);
    setenv("TMPDIR", scratch, 1);
}

static int set_up(void **state)
{
    if (tmpdir_setup(state))
        return -1;
    state_home = tmpdir_path("state");
    scratch = tmpdir_path("scratch");
    stub = stub_start(ARGS("stub"), &stub_url);
    setenv("XDG_STATE_HOME", state_home, 1); /* for what we write ourselves */
    return mkdir(scratch, 0777);
}

static int tear_down(void **state)
{
    stub_stop(&stub);
    return tmpdir_teardown(state);
}

static struct proc_result run_with_state(const char *const *argv)
{
    struct proc p = proc_start_with(argv, use_state);

    return proc_wait(&p);
}

static const char *calibration_file(void)
{
    return tmpdir_path("state/tailgate/calibration.json");
}

static bool is_empty(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    int n = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)))
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n == 0;
}

static json_t *read_json(const char *path)
{
    struct err err = {0};
    json_t *json = NULL;

    if (json_read_file(path, &json, &err))
        print_error("%s\n", err.msg);
    assert_non_null(json);
    return json;
}

/* One for this very place, from which a test may depart. */
static struct calibration made_up(void)
{
    return (struct calibration){
        .place = calibration_here(),
        .transports[CALIBRATED_NATIVE] = {.date = "2026-11-16T10:00:00Z",
                                          .max_rate_rps = 12345,
                                          .limit = LIMIT_STUB},
    };
}

static void keep(const struct calibration *c)
{
    struct err err = {0};

    assert_int_equal(calibration_save(c, &err), 0);
}

static struct proc_result short_run(const char *dir)
{
    struct proc_result r =
        run_with_state(ARGS("run", "-v", stub_url, "--rate", "200",
                            "--duration", "300ms", "-q", "-o", dir));

    run_expect(&r, dir, 0);
    return r;
}

/* ---- measuring ---- */

/* One transport is measured, the other is left as it was.  4 says that no rate
 * was trusted, and then the file has none. */
TEST(one_transport_leaves_the_other)
{
    struct calibration c = made_up();
    struct proc_result r;
    struct err err = {0};
    json_t *printed;
    json_t *saved;
    const json_t *all;
    const json_t *http2;

    keep(&c);
    r = run_with_state(
        ARGS("calibrate", "--quick", "--transport", "http2", "--json"));
    printed = json_loads(r.out, 0, NULL);
    saved = read_json(calibration_file());
    assert_true(json_equal(printed, saved));
    assert_schema("calibrate", printed);
    assert_int_equal(calibration_from_json(&c, saved, &err), 0);
    all = json_object_get(saved, "transports");
    http2 = json_object_get(all, "http2");
    assert_true(number_at(all, "native.max_rate_rps") == 12345);
    assert_true(json_is_boolean(json_object_get(http2, "is_at_least")));
    assert_true(json_is_true(json_object_get(http2, "quick")));
    proc_expect(&r,
                json_is_null(json_object_get(http2, "max_rate_rps")) ? 4 : 0);
    assert_non_null(strstr(r.err, "http2  latency floor"));
    assert_true(is_empty(scratch));
    json_decref(printed);
    json_decref(saved);
}

TEST(what_was_measured_is_quoted)
{
    char *dir = tmpdir_path("quoted");
    struct calibration c = made_up();
    struct proc_result r;
    json_t *summary;
    const json_t *at;

    keep(&c);
    r = short_run(dir);
    summary = load_summary(dir);
    at = json_object_get(summary, "calibration");
    assert_non_null(strstr(r.out, "transport native,"));
    assert_string_equal(json_string_value(json_object_get(at, "transport")),
                        "native");
    assert_true(number_at(at, "used") > 0 && number_at(at, "used") < 0.5);
}

/* Nothing is written, and nothing is left. */
TEST(an_interrupted_one)
{
    static const int signals[] = {SIGINT, SIGTERM};

    for (size_t i = 0; i < 2; i++) {
        struct proc p;
        struct proc_result r;

        unlink(calibration_file());
        p = proc_start_with(ARGS("calibrate"), use_state);
        wait_for_handler(&p, signals[i]);
        while (is_empty(scratch)) /* it has begun to measure */
            clk_sleep_ns(10 * NS_PER_MS);
        assert_int_equal(kill(p.pid, signals[i]), 0);
        r = proc_wait(&p);
        proc_expect(&r, 128 + signals[i]);
        assert_string_equal(r.out, "");
        assert_int_equal(access(calibration_file(), F_OK), -1);
        assert_true(is_empty(scratch));
    }
}

/* In its second transport: the first is saved. */
TEST(what_was_finished_is_kept)
{
    struct proc p;
    struct proc_result r;
    json_t *saved;
    const json_t *all;
    char *line;

    unlink(calibration_file());
    p = proc_start_with(ARGS("calibrate", "--quick"), use_state);
    do
        line = proc_read_error(&p);
    while (!strstr(line, "tls "));
    assert_int_equal(kill(p.pid, SIGINT), 0);
    r = proc_wait(&p);
    proc_expect(&r, 130);
    saved = read_json(calibration_file());
    all = json_object_get(saved, "transports");
    assert_non_null(json_object_get(all, "native"));
    assert_null(json_object_get(all, "tls"));
    assert_non_null(strstr(r.out, "native "));
    assert_null(strstr(r.out, "tls "));
    json_decref(saved);
}

/* ---- a file that is there ---- */

TEST(no_state_directory)
{
    struct proc_result r = proc_run(ARGS("calibrate", "--quick"));

    proc_expect(&r, 3);
    assert_non_null(strstr(r.err, "tailgate: " PROC_NO_STATE));
}

TEST(wrong_usage)
{
    struct proc_result r = proc_run(ARGS("calibrate", "now"));

    proc_expect(&r, 2);
    r = proc_run(ARGS("calibrate", "--transport", "pigeon"));
    proc_expect(&r, 2);
}

static void expect_show(int status, const char *want)
{
    struct proc_result r = run_with_state(ARGS("calibrate", "--show"));

    proc_expect(&r, status);
    if (!strstr(status == 0 ? r.out : r.out[0] ? r.out : r.err, want))
        print_error("%s%s", r.out, r.err);
    assert_true(strstr(r.out, want) || strstr(r.err, want));
}

TEST(it_is_shown)
{
    struct calibration c = made_up();
    struct proc_result r;
    json_t *json;

    unlink(calibration_file());
    expect_show(1, "there is no calibration");
    keep(&c);
    expect_show(0, "reliable up to at least 12.3k/s (the stub was the limit)");
    expect_show(0, "applies    yes");
    c.place.cpus++;
    keep(&c);
    expect_show(1, "stale: another number of CPUs");
    r = run_with_state(ARGS("calibrate", "--show", "--json"));
    json = json_loads(r.out, 0, NULL);
    assert_true(json_is_false(json_object_get(json, "applies")));
    assert_string_equal(json_string_value(json_object_get(json, "stale")),
                        "another number of CPUs");
    json_decref(json);
}

TEST(one_of_another_host_is_stale)
{
    char *dir = tmpdir_path("stale");
    struct calibration c = made_up();
    struct proc_result r;
    json_t *json;
    const json_t *at;

    snprintf(c.place.host, sizeof(c.place.host), "elsewhere.example");
    keep(&c);
    r = short_run(dir);
    assert_non_null(strstr(r.out, "calibration: stale: another host"));
    assert_null(strstr(r.out, "reliable up to"));
    json = load_manifest(dir);
    at = json_object_get(json, "calibration");
    assert_string_equal(json_string_value(json_object_get(at, "stale")),
                        "another host");
    json = load_summary(dir);
    at = json_object_get(json, "calibration");
    assert_string_equal(json_string_value(json_object_get(at, "note")),
                        "stale: another host");
}

TEST(a_damaged_one_is_said_and_passed_over)
{
    static const char junk[] = "{\"schema\": 1, \"ho";
    char *dir = tmpdir_path("damaged");
    struct proc_result r;
    json_t *summary;

    tmpdir_write("state/tailgate/calibration.json", junk, strlen(junk));
    r = short_run(dir);
    assert_memory_equal(r.err, "tailgate: the calibration is not used: ", 39);
    assert_ptr_equal(strchr(r.err, '\n'), r.err + strlen(r.err) - 1);
    summary = load_summary(dir);
    assert_true(json_is_null(json_object_get(summary, "calibration")));
    expect_show(3, "calibration.json:1: ");
}

GROUP_FIXTURE(set_up, tear_down)
