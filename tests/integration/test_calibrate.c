/* `calibrate` as a user sees it, and what `run` makes of its file.  One short
 * calibration serves several tests; the others are written by hand. */
#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/calibration.h"
#include "common/clk.h"
#include "common/err.h"
#include "common/json.h"
#include "common/xalloc.h"
#include "tests/support/proc.h"
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
    state_home = xstrdup(tmpdir_path("state"));
    scratch = xstrdup(tmpdir_path("scratch"));
    stub = stub_start(ARGS("stub"), &stub_url);
    setenv("XDG_STATE_HOME", state_home, 1); /* for what we write ourselves */
    return mkdir(scratch, 0777);
}

static int tear_down(void **state)
{
    stub_stop(&stub);
    free(stub_url);
    free(scratch);
    free(state_home);
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

/* Nothing else can be removed like this. */
static bool is_empty(const char *dir)
{
    return rmdir(dir) == 0 && mkdir(dir, 0777) == 0;
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
        run_with_state(ARGS("run", stub_url, "--rate", "200", "--duration",
                            "300ms", "-q", "-o", dir));

    run_expect(&r, dir, 0);
    return r;
}

/* ---- measuring ---- */

/* Do others use this machine?  By the tool's own word, or the kernel's. */
static bool is_busy(const char *name, const char *said)
{
    char *line = xasprintf("%-6s the client was late though only", name);
    bool is_said = strstr(said, line) != NULL;
    double load = 0;

    free(line);
    return is_said || (getloadavg(&load, 1) == 1 &&
                       load > (double)sysconf(_SC_NPROCESSORS_ONLN));
}

/* 4 says that a transport was not trusted at any rate, and so must the file: on
 * a machine that was not quiet, or it is wrong. */
static void check_transport(const json_t *all, const char *name,
                            const char *said, bool *is_bad)
{
    static const char *const times[] = {"floor_ns", "floor_sent_ns",
                                        "lag_p50_ns", "lag_p99_ns"};
    const json_t *t = json_object_get(all, name);
    const json_t *rate = json_object_get(t, "max_rate_rps");

    assert_true(json_is_object(t));
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        assert_true(json_integer_value(json_object_get(t, times[i])) > 0 ||
                    is_busy(name, said));
    assert_true(json_is_integer(json_object_get(t, "spin_lag_p50_ns")) ||
                is_busy(name, said));
    assert_true(json_is_boolean(json_object_get(t, "is_at_least")));
    assert_true(json_is_true(json_object_get(t, "quick")));
    if (json_is_null(rate)) {
        assert_true(is_busy(name, said));
        *is_bad = true;
    } else {
        assert_true(json_number_value(rate) >= 1000);
    }
}

static void a_quick_one(void **state)
{
    int64_t begun_ns = clk_now(&clk_monotonic);
    struct proc_result r =
        run_with_state(ARGS("calibrate", "--quick", "--json"));
    int64_t took_ns = clk_now(&clk_monotonic) - begun_ns;
    json_t *printed = json_loads(r.out, 0, NULL);
    json_t *saved = read_json(calibration_file());
    const json_t *transports = json_object_get(saved, "transports");
    struct calibration c;
    struct err err = {0};
    bool is_bad = false;

    (void)state;
    assert_true(json_equal(printed, saved));
    check_transport(transports, "native", r.err, &is_bad);
    check_transport(transports, "curl", r.err, &is_bad);
    proc_expect(&r, is_bad ? 4 : 0);
    assert_true(took_ns < 20 * NS_PER_S || is_busy("native", r.err));
    assert_int_equal(calibration_from_json(&c, saved, &err), 0);
    assert_non_null(strstr(r.err, "native latency floor"));
    assert_true(is_empty(scratch));
    json_decref(printed);
    json_decref(saved);
    proc_result_fini(&r);
}

static void what_was_measured_is_quoted(void **state)
{
    char *dir = xstrdup(tmpdir_path("quoted"));
    struct proc_result r = short_run(dir);
    json_t *summary = load_summary(dir);
    const json_t *c = json_object_get(summary, "calibration");

    (void)state;
    assert_non_null(strstr(r.out, " here (native, calibrated "));
    assert_string_equal(json_string_value(json_object_get(c, "transport")),
                        "native");
    if (json_is_null(json_object_get(c, "max_rate_rps")))
        assert_true(json_is_null(json_object_get(c, "used")));
    else
        assert_true(number_at(c, "used") > 0 && number_at(c, "used") < 0.5);
    json_decref(summary);
    proc_result_fini(&r);
    free(dir);
}

static void one_transport_leaves_the_other(void **state)
{
    struct calibration c = made_up();
    struct proc_result r;
    json_t *saved;
    const json_t *all;

    (void)state;
    keep(&c);
    r = run_with_state(
        ARGS("calibrate", "--quick", "--transport", "curl", "-q"));
    assert_true(r.status == 0 || r.status == 4);
    assert_string_equal(r.err, "");
    assert_non_null(strstr(r.out, "native     good for at least 12.3k/s"));
    saved = read_json(calibration_file());
    all = json_object_get(saved, "transports");
    assert_true(number_at(all, "native.max_rate_rps") == 12345);
    assert_true(json_is_object(json_object_get(all, "curl")));
    json_decref(saved);
    proc_result_fini(&r);
}

/* Nothing is written, and nothing is left. */
static void an_interrupted_one(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct proc p;
        struct proc_result r;

        unlink(calibration_file());
        p = proc_start_with(ARGS("calibrate"), use_state);
        clk_sleep_ns(700 * NS_PER_MS);
        assert_int_equal(kill(p.pid, signals[i]), 0);
        r = proc_wait(&p);
        proc_expect(&r, 128 + signals[i]);
        assert_string_equal(r.out, "");
        assert_int_equal(access(calibration_file(), F_OK), -1);
        assert_true(is_empty(scratch));
        proc_result_fini(&r);
    }
}

/* ---- a file that is there ---- */

static void no_state_directory(void **state)
{
    struct proc_result r = proc_run(ARGS("calibrate", "--quick"));

    (void)state;
    proc_expect(&r, 3);
    assert_non_null(strstr(r.err, "tailgate: " PROC_NO_STATE));
    proc_result_fini(&r);
}

static void wrong_usage(void **state)
{
    struct proc_result r = proc_run(ARGS("calibrate", "now"));

    (void)state;
    proc_expect(&r, 2);
    proc_result_fini(&r);
    r = proc_run(ARGS("calibrate", "--transport", "pigeon"));
    proc_expect(&r, 2);
    proc_result_fini(&r);
}

static void expect_show(int status, const char *want)
{
    struct proc_result r = run_with_state(ARGS("calibrate", "--show"));

    proc_expect(&r, status);
    if (!strstr(status == 0 ? r.out : r.out[0] ? r.out : r.err, want))
        print_error("%s%s", r.out, r.err);
    assert_true(strstr(r.out, want) || strstr(r.err, want));
    proc_result_fini(&r);
}

static void it_is_shown(void **state)
{
    struct calibration c = made_up();
    struct proc_result r;
    json_t *json;

    (void)state;
    unlink(calibration_file());
    expect_show(1, "no calibration yet");
    keep(&c);
    expect_show(0, "good for at least 12.3k/s (the stub was the limit)");
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
    proc_result_fini(&r);
}

static void one_of_another_host_is_stale(void **state)
{
    char *dir = xstrdup(tmpdir_path("stale"));
    struct calibration c = made_up();
    struct proc_result r;
    json_t *json;
    const json_t *at;

    (void)state;
    snprintf(c.place.host, sizeof(c.place.host), "elsewhere.example");
    keep(&c);
    r = short_run(dir);
    assert_non_null(strstr(r.out, "; its calibration is stale: another host"));
    assert_null(strstr(r.out, "good for"));
    json = load_manifest(dir);
    at = json_object_get(json, "calibration");
    assert_string_equal(json_string_value(json_object_get(at, "stale")),
                        "another host");
    json_decref(json);
    json = load_summary(dir);
    at = json_object_get(json, "calibration");
    assert_string_equal(json_string_value(json_object_get(at, "note")),
                        "stale: another host");
    json_decref(json);
    proc_result_fini(&r);
    free(dir);
}

static void a_damaged_one_is_said_and_passed_over(void **state)
{
    static const char junk[] = "{\"schema\": 1, \"ho";
    char *dir = xstrdup(tmpdir_path("damaged"));
    struct proc_result r;
    json_t *summary;

    (void)state;
    tmpdir_write("state/tailgate/calibration.json", junk, strlen(junk));
    r = short_run(dir);
    assert_memory_equal(r.err, "tailgate: the calibration is not used: ", 39);
    assert_ptr_equal(strchr(r.err, '\n'), r.err + strlen(r.err) - 1);
    summary = load_summary(dir);
    assert_true(json_is_null(json_object_get(summary, "calibration")));
    json_decref(summary);
    proc_result_fini(&r);
    expect_show(3, "calibration.json:1: ");
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quick_one),
        cmocka_unit_test(what_was_measured_is_quoted),
        cmocka_unit_test(one_transport_leaves_the_other),
        cmocka_unit_test(an_interrupted_one),
        cmocka_unit_test(no_state_directory),
        cmocka_unit_test(wrong_usage),
        cmocka_unit_test(it_is_shown),
        cmocka_unit_test(one_of_another_host_is_stale),
        cmocka_unit_test(a_damaged_one_is_said_and_passed_over),
    };

    return cmocka_run_group_tests_name("calibrate", tests, set_up, tear_down);
}
